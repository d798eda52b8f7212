"""Are these rows new to a model, and are equal rows among them independent draws?"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.bounds.certificate import Certificate
from pacboost.errors import NotCertified, ParameterError
from pacboost.questions.wrappers import Inner, answers_alone, inner_models, remembers
from pacboost.samples.copies import Repeats
from pacboost.samples.overlap import Overlap

COPIES = ("auto", "independent", "once")
UNCHECKED = (
    "the model has not seen these rows, which could not be checked: it does not remember the rows "
    "that it was trained on"
)
FEW_REPEAT = 0.01
"""If no more of the training rows equal others, a row that comes again is a training row."""
ENOUGH_KNOWN = 0.5
"""If so many of the rows that repeat also come in training, the domain explains the repeats."""


def refuse_training_rows(model: Any, X: Any) -> bool:
    """Raise if more rows are training rows than chance explains; also say if all was checked.

    It looks through pipelines, searches, calibration, voting and other wrappers. The answer is
    True if the model remembers all rows that it was trained on.
    """
    inner = inner_models(model, X)
    compared = 0
    for own in inner:
        seen = _overlap(own)
        compared += seen is not None
        if seen is not None and seen.suspicious_among(len(inner)):
            raise NotCertified(
                f"{seen.shared} of {seen.compared} rows compared are rows the model was trained "
                "on, or copies of them, more than chance explains. A "
                "certificate needs rows that had no part in fitting: hold some back before you fit."
            )
    alone = answers_alone(model)
    if alone is None or not inner or compared < len(inner):
        return False
    return all(sketch.complete for sketch in alone._sketches)


def seen_check(found: Certificate, checked: bool) -> Certificate:
    """Mark a certificate whose rows could not be compared with those of the fit."""
    return found if checked else found.unchecked().assuming(UNCHECKED)


def known_rows(model: Any, X: Any, rows: int) -> NDArray[np.bool_]:
    """Tell which rows are training rows, where training rows hardly ever repeat by themselves.

    Few such rows are no reason to refuse, but they count as mistakes.
    """
    found = np.zeros(rows, dtype=np.bool_)
    for own in inner_models(model, X):
        if not own.model._sketches or _overlap(own) is None:
            continue
        table = own.model._rows_to_compare(own.X)
        for sketch in own.model._sketches:
            if sketch.exact.repeated <= FEW_REPEAT:
                chosen, seen = sketch.known(table)
                found[chosen] |= seen
    return found


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
    if copies == "once" or not repeats.any:
        return RowCounting(repeats, "once" if repeats.any else "all")
    if copies == "independent" or (not repeats.copied and _domain_repeats(model, X, repeats)):
        return RowCounting(repeats, "all")
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
