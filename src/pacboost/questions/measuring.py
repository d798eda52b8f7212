"""What certify_all counts: every measure, class, group and end of one simultaneous family."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pacboost.bounds import measured
from pacboost.bounds.certificate import Certificate
from pacboost.bounds.counting import Count, Counting, TooFewRows, rows_for_a_half
from pacboost.bounds.family import Family
from pacboost.bounds.known_measures import MEASURES
from pacboost.bounds.measure import ORDERED, OfClass, RateOfAll, mean_count, weakened
from pacboost.bounds.quantity import Measure
from pacboost.bounds.scored_rows import Mask, ScoredRows, class_place
from pacboost.errors import NotCertified, ParameterError, TooFewRowsWarning, invalid, warn
from pacboost.numerics.checks import meant

Of = str | Measure | Sequence[str | Measure]
UNBOUNDED = ("rmse", "mse", "mean_squared_error", "root_mean_squared_error", "r2", "r2_score")
ENDS = ("lower", "upper", "both")


@dataclass(frozen=True)
class Claim:
    """One claim of a family: a measure, its class and group if it has any, and an end."""

    measure: Measure
    label: object = None
    group: str | None = None
    end: str = "upper"

    def words(self) -> str:
        """Name the measure, its class and its group for messages."""
        of_class = f" of class {self.label!r}" if self.measure.of_class else ""
        return f"{self.measure.name}{of_class}" + (
            f" in group {self.group!r}" if self.group else ""
        )


def read_measures(of: Of) -> list[Measure]:
    """Return the measures that ``of`` names; raise for names of measures that need options."""
    parts = of if isinstance(of, list | tuple) else [of]
    return list(dict.fromkeys(map(_measure, parts)))


@cache
def _by_name(name: str) -> Measure:
    return MEASURES[name]()


def _call(name: str) -> str:
    """Return how a measure with options is asked for."""
    options = ", ".join(f"{option}=" for option in MEASURES[name].needed_options())
    return f"measures.{name}({options})" if options else repr(name)


def _measure(part: object) -> Measure:
    if isinstance(part, Measure):
        return part
    if isinstance(part, type) and issubclass(part, Measure):
        raise ParameterError(f"of is a class; give {_call(part.name)}", parameter="of")
    by_name = [name for name in MEASURES if not MEASURES[name].needed_options()]
    others = {alias: name for name in MEASURES for alias in MEASURES[name].aliases}
    if isinstance(part, str) and part in by_name:
        return _by_name(part)
    if isinstance(part, str) and part in MEASURES:
        raise ParameterError(
            f"{part} needs {MEASURES[part].needs}: of=pacboost.{MEASURES[part].call}",
            parameter="of",
        )
    if isinstance(part, str) and part in UNBOUNDED:
        raise ParameterError(
            f"of is {part!r}, which cannot be bounded, since a single error may be arbitrarily "
            "large; certify measures.absolute_error(clip=) or measures.large_errors("
            "larger_than=) instead",
            parameter="of",
        )
    if isinstance(part, str) and part in others:
        call = _call(others[part])
        raise ParameterError(f"of is {part!r}; give {call}, which is certified", parameter="of")
    raise ParameterError(
        f"of is {part!r}{meant(part, MEASURES) if isinstance(part, str) else ''}; it may be "
        f"{', '.join(map(repr, by_name))}, a measure of pacboost.measures, or a list of these",
        parameter="of",
    )


def claims_of(
    rows: ScoredRows, of: Sequence[Measure], groups: Sequence[str], end: str | None
) -> list[Claim]:
    """List all claims, in the order of measures, classes, groups and ends."""
    if end is not None and end not in ENDS:
        raise invalid("end", end, f"may be {', '.join(map(repr, ENDS))}, or None")
    claims = []
    for measure in of:
        default_end = "lower" if measure.higher_is_better else "upper"
        ends = ["lower", "upper"] if end == "both" else [end or default_end]
        labels = _labels(rows, measure.positive) if isinstance(measure, OfClass) else [None]
        for label in labels:
            places: list[str | None] = [*groups] or [None]
            claims += [Claim(measure, label, group, side) for group in places for side in ends]
    return claims


def _labels(rows: ScoredRows, positive: object) -> list[Any]:
    """Return the positive classes: the named ones, the second of two, or all of several."""
    classes: list[Any] = rows.classes.tolist()
    if positive is None:
        return classes[1:] if len(classes) == 2 else classes
    labels = positive if isinstance(positive, list | tuple) else [positive]
    for label in labels:
        class_place(rows.classes, label)
    return list(labels)


MAX_CLAIMS_NAMED = 5


class Pool(NamedTuple):
    """Groups that are certified as one, and the name of the pool."""

    name: str
    groups: list[str]


NO_POOL = Pool("", [])


def pool_of(groups: NDArray[Any], claims: Sequence[Claim], delta: float, models: int) -> Pool:
    """Return the groups with too few rows for a claim, if there are several that may be pooled.

    A pool has the rate of its groups mixed as in these rows: given the group of each row, the
    mistakes are independent, and the tails of their number are no larger than binomial ones
    (Hoeffding 1956, theorem 4). Only names of groups are looked at.
    """
    names, sizes = np.unique(groups, return_counts=True)
    needed = rows_for_a_half(delta, len(claims) * models)
    small: list[str] = names[sizes < needed].tolist()
    if len(small) < 2 or any(claim.measure.pooled is None for claim in claims):
        return NO_POOL
    name = "other" if "other" not in names else f"{len(small)} small groups"
    warn(
        f"{len(small)} groups have fewer than {needed} rows and are certified as one, {name!r}: "
        f"{', '.join(map(repr, small[:MAX_CLAIMS_NAMED]))}"
        f"{' and others' * (len(small) > MAX_CLAIMS_NAMED)}",
        TooFewRowsWarning,
    )
    return Pool(name, small)


@dataclass(frozen=True, eq=False)
class Measuring:
    """Certifies claims by rows."""

    rows: ScoredRows
    kept: NDArray[np.intp]
    delta: float
    models: int
    sample: Mapping[str, Any]
    pool: Pool = NO_POOL

    def family(self, claims: Sequence[Claim], groups: NDArray[Any] | None) -> Family:
        """Certify all claims, which share delta."""
        shared = len(claims) * self.models
        certificates, left_out = [], []
        for claim in claims:
            try:
                certificates.append(self._one(claim, groups, shared))
            except TooFewRows as problem:
                # Claims that are left out keep their share of delta, so others do not depend on it.
                if claim.group is None:
                    raise
                left_out.append((claim.words(), problem))
        if not certificates:
            raise left_out[0][1]
        if left_out:
            names = "; ".join(words for words, _ in left_out[:MAX_CLAIMS_NAMED])
            warn(
                f"{len(left_out)} of {len(claims)} claims have too few rows and are left out: "
                f"{names}{' and others' * (len(left_out) > MAX_CLAIMS_NAMED)}",
                TooFewRowsWarning,
            )
        return Family(tuple(certificates), self.delta)

    def _one(self, claim: Claim, groups: NDArray[Any] | None, shared: int) -> Certificate:
        chosen = self._chosen
        if claim.group is not None and groups is not None:
            chosen &= groups == claim.group
        count = claim.measure.count(self._counting(claim, chosen, shared))
        return self._made(claim, count, shared)

    @property
    def _chosen(self) -> Mask:
        chosen = np.zeros(self.rows.size, dtype=np.bool_)
        chosen[self.kept] = True
        return chosen

    def _made(self, claim: Claim, count: Count, shared: int, **unit: str) -> Certificate:
        details: dict[str, Any] = {"class": str(claim.label)} if claim.measure.of_class else {}
        if claim.group is not None:
            details["group"] = claim.group
            if claim.group == self.pool.name:
                details["pooled"] = self.pool.groups
        # options are part of the claim: a top-k error without its k would be another number's
        details |= {**count.details, **claim.measure.options()}
        inputs = {**count.inputs, "delta": self.delta, "claims": shared}
        return measured.certificate(
            claim.measure.name, count.bound, inputs, size=count.size, sample=self.sample,
            **details, seen=count.seen, **unit,
        )  # fmt: skip

    def _counting(self, claim: Claim, chosen: Mask, shared: int) -> Counting:
        pooled = claim.group is not None and claim.group == self.pool.name
        return Counting(
            self.rows, chosen, claim.label, claim.end, claim.words(), self.delta, shared, pooled
        )

    def by_dependent_groups(self, claims: Sequence[Claim], place: NDArray[np.intp]) -> Family:
        """Certify means of independent groups, by the mean loss of each group."""
        shared, certificates = len(claims) * self.models, []
        place = np.unique(place[self.kept], return_inverse=True)[1]
        for claim in claims:
            if not claim.measure.every_row:
                raise NotCertified(_no_dependent(claim.measure.name, "groups"))
            values, scale = claim.measure.losses(self.rows)
            losses = weakened(values, self.rows, claim.end)[self.kept]
            means = np.bincount(place, weights=losses) / np.bincount(place)
            self._counting(claim, self._chosen, shared).need(means.size, "groups")
            count = mean_count(np.clip(means, 0, 1), scale, claim.end)
            certificates.append(self._made(claim, count, shared, unit="groups"))
        return Family(tuple(certificates), self.delta)

    def over_time(self, claims: Sequence[Claim]) -> Family:
        """Certify rates over time."""
        shared, certificates = len(claims) * self.models, []
        for claim in claims:
            measure = claim.measure
            if not isinstance(measure, RateOfAll) or claim.end == "lower":
                raise NotCertified(_no_dependent(f"{claim.end} end of {measure.name}", "ordered"))
            counting = self._counting(claim, self._chosen, shared)
            k, n = counting.counts(*measure.event(self.rows, claim.label))
            count = Count(ORDERED["upper"], {"k": k, "n": n}, n, k / n)
            certificates.append(self._made(claim, count, shared, unit="period"))
        return Family(tuple(certificates), self.delta)


def _no_dependent(what: str, how: str) -> str:
    kinds = [kind for kind in MEASURES.values() if kind.every_row]
    if how == "ordered":
        kinds = [kind for kind in kinds if issubclass(kind, RateOfAll)]
    averages = ", ".join(kind.name for kind in kinds)
    return (
        f"{what} cannot be certified with {how}: no theorem here bounds it where rows depend on "
        f"each other. Allowed are the upper ends of {averages}; or use rows that are independent"
    )
