"""Are these rows new to a model, and are equal rows among them independent draws?"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.bounds.certificate import Certificate
from pacboost.bounds.holdout import clopper_pearson
from pacboost.errors import NotCertified, ParameterError
from pacboost.questions.wrappers import Inner, answers_alone, inner_models, remembers
from pacboost.samples.copies import Repeats
from pacboost.samples.known_rows import MOST_EQUAL
from pacboost.samples.overlap import Overlap

COPIES = ("auto", "independent", "once")
UNCHECKED = (
    "the model has not seen these rows, which could not be checked: it does not remember the rows "
    "that it was trained on, or too few of them"
)
FEW_REPEAT = 0.01
"""If no more of the training rows equal others, a row that comes again is a training row."""
ENOUGH_COMPARED = 10
"""Of a large training set only a sample is remembered, and as large a share of new rows compared
with it. If so few are compared, a half of all rows may be training rows without any being found."""
RARE = 0.05
"""How likely it may be that more of the rows that were not compared are training rows."""
ENOUGH_KNOWN = 0.5
"""If so many of the rows that repeat also come in training, the domain explains the repeats."""


def refuse_training_rows(model: Any, X: Any) -> bool:
    """Raise if more rows are training rows than chance explains; also say if all was checked.

    It looks through pipelines, searches, calibration, voting and other wrappers. The answer is
    True if the model remembers all rows that it was trained on.
    """
    inner = inner_models(model, X)
    enough = 0
    for own in inner:
        seen = _overlap(own)
        if seen is None:
            continue
        whole = all(sketch.share == 1 for sketch in own.model._sketches)
        enough += whole or seen.compared >= ENOUGH_COMPARED
        if seen.suspicious_among(len(inner)):
            raise NotCertified(_why_refused(seen, len(inner)))
    alone = answers_alone(model)
    if alone is None or not inner or enough < len(inner):
        return False
    return all(sketch.complete for sketch in alone._sketches)


def _why_refused(seen: Overlap, models: int) -> str:
    if not replace(seen, copied=0).suspicious_among(models):
        return (
            f"more of these rows and the training rows come exactly {seen.copied} times altogether "
            "than independent draws explain: rows were copied before some were set aside, so the "
            "model was trained on copies of these. Drop the copies, divide the rows, and fit again"
        )
    return (
        f"{seen.shared} of {seen.compared} rows compared are rows the model was trained "
        "on, or copies of them, more than chance explains. A "
        "certificate needs rows that had no part in fitting: hold some back before you fit."
    )


def seen_check(found: Certificate, checked: bool) -> Certificate:
    """Mark a certificate whose rows could not be compared with those of the fit."""
    return found if checked else found.unchecked().assuming(UNCHECKED)


def known_rows(
    model: Any,
    X: Any,
    rows: int,
    counting: RowCounting | None = None,
    wrong: NDArray[np.bool_] | None = None,
) -> NDArray[np.bool_]:
    """Tell which rows are training rows, unless training rows repeat by themselves.

    Few such rows are no reason to refuse, but they count as mistakes. Training rows that hardly
    ever repeat do not repeat by themselves; others may do so if ``counting`` says that rows are
    separate draws, or if most rows are like that. Where only a sample of the training rows is
    remembered, further rows are marked, as many as may be training rows, too: those that are not
    ``wrong`` first.
    """
    found = np.zeros(rows, dtype=np.bool_)
    for own in inner_models(model, X):
        if not own.model._sketches or _overlap(own) is None:
            continue
        table = own.model._rows_to_compare(own.X)
        for sketch in own.model._sketches:
            chosen, seen = sketch.known(table)
            few = MOST_EQUAL * seen.size
            by_chance = counting is None or counting.discrete or seen.sum() > few
            if seen.any() and (sketch.exact.repeated <= FEW_REPEAT or not by_chance):
                found[chosen] |= seen
                found |= _not_compared(chosen, seen, rows, wrong)
    return found


def _not_compared(
    chosen: NDArray[np.intp], seen: NDArray[np.bool_], rows: int, wrong: NDArray[np.bool_] | None
) -> NDArray[np.bool_]:
    """Mark as many of the rows that were not compared as may be training rows, like the others.

    >>> chosen, seen = np.arange(50), np.arange(50) < 25
    >>> int(_not_compared(chosen, seen, 1050, None).sum())
    624
    """
    others = np.ones(rows, dtype=np.bool_)
    others[chosen] = False
    places = np.flatnonzero(others)
    share = clopper_pearson(int(seen.sum()), seen.size, RARE)
    places = np.random.default_rng(0).permutation(places)
    if wrong is not None:
        places = places[np.argsort(wrong[places], kind="stable")]
    others[places[math.ceil(share * places.size) :]] = False
    return others


def _overlap(own: Inner) -> Overlap | None:
    """Compare rows with those of a model; None where it remembers none, or reads others."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # wrappers hand frames on as arrays, or the reverse
        try:
            found: Overlap | None = own.model.overlap(own.X)
        except (TypeError, ValueError):
            return None
        return found


@dataclass(frozen=True, eq=False)
class RowCounting:
    """What is counted: all rows as draws of their own, or equal rows once, or the worse of both."""

    repeats: Repeats
    rule: str
    """ "all", "once" or "worse"."""
    discrete: bool = False
    """Whether equal rows are known to be separate draws."""

    @property
    def words(self) -> str:
        """Say how equal rows were counted, if there were any."""
        if not self.repeats.any:
            return ""
        sizes = f"{self.repeats.rows:,} rows, {self.repeats.distinct:,} of them distinct"
        if self.rule == "all":
            return f"equal rows are counted as separate draws ({sizes})"
        if self.rule == "once":
            return f"equal rows are counted once ({sizes})"
        return f"equal rows are counted once or as separate draws, whichever is worse ({sizes})"


def row_counting(model: Any, X: Any, labels: NDArray[Any], copies: str = "auto") -> RowCounting:
    """Find equal rows with equal labels, and decide how they are counted."""
    if copies not in COPIES:
        allowed = ", ".join(map(repr, COPIES))
        raise ParameterError(f"copies is {copies!r}; it may be {allowed}")
    repeats = _repeats(model, X, labels)
    if copies == "independent":
        return RowCounting(repeats, "all", discrete=True)
    if copies == "once" or not repeats.any:
        return RowCounting(repeats, "once" if repeats.any else "all")
    if not repeats.copied and _domain_repeats(model, X, repeats):
        return RowCounting(repeats, "all", discrete=True)
    return RowCounting(repeats, "worse")


def _repeats(model: Any, X: Any, labels: NDArray[Any]) -> Repeats:
    if remembers(model):
        return Repeats.of(model._rows_to_compare(X), labels)
    return Repeats.of_any(X, labels)


def _domain_repeats(model: Any, X: Any, repeats: Repeats) -> bool:
    """Tell whether rows that come several times also come among the training rows."""
    known = several = 0
    for own in inner_models(model, X):
        if not own.model._sketches or _overlap(own) is None:
            continue
        table = own.model._rows_to_compare(own.X)
        for sketch in own.model._sketches:
            chosen, seen = sketch.known(table)
            first = np.unique(repeats.place[chosen], return_index=True)[1]
            often = repeats.times[repeats.place[chosen[first]]] > 1
            several += int(often.sum())
            known += int((often & seen[first]).sum())
    return several > 0 and known >= ENOUGH_KNOWN * several
