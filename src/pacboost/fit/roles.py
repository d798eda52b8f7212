"""Which rows learn, validate, calibrate and certify (fit/role_sizes.py says how many).

Certifying rows are drawn first, and nothing but the count of mistakes ever looks at them. Which
rows they are follows from the number of rows (or of groups, or from their order in time), from
which of them are one example, and from the seed: never from labels. The other rows are divided
class by class.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from pacboost.bounds import holdout
from pacboost.errors import DataError, ParameterError
from pacboost.fit.role_sizes import LARGEST_SHARE, certifying_rows, validation_rows
from pacboost.fit.rows import LabelledRows
from pacboost.samples.same_example import REPEATS, Examples, warn_uncounted

Rows = NDArray[np.intp]

# Added to the seed of a fit to draw the rows that certify, and those that calibrate. Validation
# rows are drawn by the seed itself, so that each role gets rows independent of the others.
CERTIFY, CALIBRATE = 1, 2


@dataclass(frozen=True, eq=False)
class Roles:
    """Row numbers in order: for learning, for validating the rounds, and for certifying."""

    learn: Rows
    validate: Rows
    certify: Rows
    examples: Examples | None = None
    """Which rows are one example, where rows are independent draws of examples."""
    groups: Rows | None = None
    """The number of each row's group, where rows of one group depend on each other."""
    in_time: bool = False
    """Whether rows come one after the other, and the latest certify."""

    @property
    def known(self) -> Rows:
        """All rows that the final model may learn from."""
        return np.sort(np.concatenate([self.learn, self.validate]))


@dataclass(frozen=True, eq=False)
class RolesAsk:
    """The request: a share of the examples, or as many as epsilon and delta need."""

    seed: int
    share: float | None = None
    share_name: str = "holdout"
    """The parameter that holds the share, for messages."""
    epsilon: float | None = None
    delta: float = 0.05
    chooses_threshold: bool = False
    """Whether certifying rows also choose a threshold, which takes the largest share of them."""
    groups: Rows | None = None
    times: Rows | None = None


def divide(examples: Examples, ask: RolesAsk) -> Roles:
    """Choose the rows that certify; the others learn, and some of them validate.

    Copies of an example have the same role, and one row of each that certifies is counted.

    >>> roles = divide(Examples(4, None), RolesAsk(seed=0, share=0.25))
    >>> roles.learn.tolist(), roles.certify.tolist()
    ([0, 1, 3], [2])
    """
    if ask.groups is not None:
        return _by_groups(ask.groups, ask)
    if ask.times is not None:
        return _by_time(ask.times, ask)
    if ask.share is None:
        roles = _by_chance(examples.count, ask)
    else:
        learn, certify = draw(examples.count, ask.share_name, ask.share, ask.seed)
        roles = Roles(learn, certify[:0], certify)
    learn, validate, certify = map(examples.rows_of, (roles.learn, roles.validate, roles.certify))
    # theorems count independent draws: copies of one example are one draw, and one mistake
    counted = examples.once(certify)
    warn_uncounted(certify.size - counted.size, certify.size, REPEATS)
    return Roles(learn, validate, counted, examples)


def _by_chance(rows: int, ask: RolesAsk) -> Roles:
    """Draw certifying rows at random; a fifth of all if they are to choose a threshold.

    Some rows validate if an error is requested; otherwise the estimator draws its own for a time.
    """
    certify = certifying_rows(rows, ask.epsilon, ask.delta)
    if ask.chooses_threshold and certify:
        certify = round(LARGEST_SHARE * rows)
    order = np.random.default_rng(ask.seed).permutation(rows)
    return _roles(order[certify:], order[:certify], validated=ask.epsilon is not None)


def _by_time(times: Rows, ask: RolesAsk) -> Roles:
    """Certify by the latest rows, and validate by the rows before them.

    Rows of one moment stay together, so that whatever is learned from is earlier.
    """
    # the latest rows are not drawn by chance: Hoeffding's bound holds for martingales, too
    # (docs/proofs/dependent.md), and one look spends all of delta
    certify = certifying_rows(times.size, ask.epsilon, ask.delta, holdout.hoeffding, 1)
    order = np.argsort(times, kind="stable")[::-1]
    if certify:
        first = times[order[certify - 1]]
        # a moment is not cut: all of it certifies, or if that doubles the number, none of it
        later, also = (int(np.count_nonzero(rows)) for rows in (times > first, times >= first))
        certify = also if also <= 2 * certify or not later else later
        if 2 * certify > times.size:
            raise DataError(
                f"{certify:,} of {times.size:,} rows have the latest time, too many to be set "
                "apart; give finer times, or none"
            )
    return replace(_roles(order[certify:], order[:certify]), in_time=True)


def _by_groups(groups: Rows, ask: RolesAsk) -> Roles:
    """Give all rows of a group one role; how many groups certify depends on their number."""
    number = int(groups.max()) + 1
    # rows of a group depend on each other, so that a group is one draw, whose share of mistakes
    # lies between 0 and 1: the binomial tail does not bound such means, kl does
    certify = certifying_rows(number, ask.epsilon, ask.delta, holdout.chernoff_kl, looks=1)
    order = np.random.default_rng(ask.seed).permutation(number)
    chosen = _roles(order[certify:], order[:certify])
    learn, validate, certifying = (
        np.flatnonzero(np.isin(groups, part))
        for part in (chosen.learn, chosen.validate, chosen.certify)
    )
    return Roles(learn, validate, certifying, groups=groups)


def _roles(others: Rows, certify: Rows, *, validated: bool = True) -> Roles:
    validate = validation_rows(others.size) if validated else 0
    return Roles(np.sort(others[validate:]), np.sort(others[:validate]), np.sort(certify))


def draw(rows: int, name: str, share: float, seed: int) -> tuple[Rows, Rows]:
    """Draw which rows are held back, by the number of rows alone; return the others first."""
    count = round(rows * share) if 0 < share < 1 else 0
    if not 0 < count < rows:
        raise ParameterError(
            f"{name} is {share} and there are {rows} rows; it must lie in (0, 1) and "
            "leave at least 1 sample on both sides",
            parameter=name,
        )
    order = np.random.default_rng(seed).permutation(rows)
    return np.sort(order[count:]), np.sort(order[:count])


def split_by_class(
    examples: LabelledRows, name: str, share: float, seed: int
) -> tuple[LabelledRows, LabelledRows]:
    """Hold a random share of each class back, if possible at least one row on either side.

    ``name`` is the parameter that says how many. Copies of an example stay together.

    Certificates need a share of all rows instead: they count on rows held back by chance alone.
    """
    if examples.copies is None:
        is_held = _held_back(examples.classes(), name, share, seed)
    else:
        # a copy among the rows boosted on would make validation rows look easier than new rows are
        _, first, place = np.unique(examples.copies, return_index=True, return_inverse=True)
        is_held = _held_back(examples.classes()[first], name, share, seed)[place]
    return examples.divided(is_held)


def _held_back(classes: NDArray[np.int64], name: str, share: float, seed: int) -> NDArray[np.bool_]:
    is_held = np.zeros(classes.size, dtype=np.bool_)
    counts = np.bincount(classes)
    # at least one row of each class on either side, where it has two
    quota = np.floor(counts * share + 0.5).astype(np.int64) if 0 < share < 1 else counts * 0
    quota = np.minimum(np.maximum(quota, counts > 1), np.maximum(counts - 1, 0))
    if not 0 < share < 1 or not quota.any():
        is_held[draw(classes.size, name, share, seed)[1]] = True
        return is_held
    order = np.random.default_rng(seed).permutation(classes.size)
    order = order[np.argsort(classes[order], kind="stable")]
    place = np.arange(order.size) - np.repeat(np.cumsum(counts) - counts, counts)
    is_held[order[place < quota[classes[order]]]] = True
    return is_held
