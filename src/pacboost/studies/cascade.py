"""A cascade: a cheap student answers the rows it is sure of, an expensive teacher the others.

Rows of a pool are drawn and shown to the teacher. Half of them teach the student, which then scores
the pool; the other half says down to which score it may answer. Cutoffs c_1 > c_2 > … are fixed by
scores and counts, and tested in this order at one level, so nothing is paid for their number: the
last before the first that fails is taken, and the first wrong one passes with a chance of at most
delta (docs/proofs/cascade.md). Of A rows at or above a cutoff, n were drawn, k answered otherwise:

    this pool   passes if (HypInv(k, n, delta, A) - 1)/A ≤ target
    new rows    passes if BinInv(k, n, delta) ≤ target, for pools of independent draws
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.bounds import holdout, pool
from pacboost.bounds.rounding import confidence as confidence_of
from pacboost.errors import DataError
from pacboost.estimators.boosting.boost import BoostClassifier
from pacboost.models.answers import asked, confidence
from pacboost.numerics.checks import probability
from pacboost.numerics.percent import percent
from pacboost.sources.rows import Rows
from pacboost.studies.draw import Draw
from pacboost.studies.texts import column, columns_of, text_of

CUTOFFS = 50
"""Planned cutoffs: each answers a fiftieth of the rows more than the one before."""


@dataclass(frozen=True)
class Cutoff:
    """A score, with the rows of the pool at or above it, and those of them that certify."""

    score: float
    pool_rows: int
    rows: int
    differ: int
    """Certifying rows that the student answers otherwise than the teacher."""


@dataclass(frozen=True)
class Cascade:
    """Who answers which row of a pool, and how often the student may differ from the teacher."""

    student: Any
    answers: NDArray[Any]
    """The teacher's answer of rows that were asked, the student's where it is sure, else None."""
    who: NDArray[Any]
    """"asked", "student" or "teacher", of each row of the pool."""
    of_pool: Cutoff | None
    """Down to where the promise about this pool holds; None if no cutoff passed."""
    of_new: Cutoff | None
    """The same for new rows, if those of the pool are independent draws."""
    target_error: float
    delta: float

    @property
    def share(self) -> float:
        """The share of the pool that needs no further call of the teacher."""
        return float((self.who != "teacher").mean())

    @property
    def sentence(self) -> str:
        """What is promised, and what it saves."""
        target, sure = percent(self.target_error), confidence_of(self.delta)
        if self.of_pool is None:
            return (
                f"No answers of the student are certified to differ from the teacher's on at most "
                f"{target} of the rows ({sure} confidence). Ask about more rows, or allow more."
            )
        left = int((self.who == "teacher").sum())
        new = "No cutoff keeps this on new rows, too."
        if self.of_new is not None:
            new = f"On new rows the same holds for answers with a score of {self.of_new.score:.4g}."
        point = self.of_pool
        return (
            f"The student answers {percent((self.who == 'student').mean())} of this pool. It "
            f"differs from the teacher on at most {target} of the {point.pool_rows:,} rows of "
            f"which it is so sure ({sure} confidence; on {point.differ:,} of {point.rows:,} "
            f"certifying ones). {left:,} rows are left to the teacher. {new}"
        )

    def __str__(self) -> str:
        return self.sentence

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the student and the answers as plain values for JSON."""
        points = {"of_pool": self.of_pool, "of_new": self.of_new}
        return {
            "sentence": self.sentence, "target_error": self.target_error, "delta": self.delta,
            "share": self.share,
            **{name: None if point is None else vars(point) for name, point in points.items()},
        }  # fmt: skip


def cascade(
    rows: Any,
    labelled: Any,
    teacher: str,
    *,
    draw: Draw,
    target_error: float,
    student: Any = None,
    delta: float = 0.05,
    seed: int = 0,
) -> Cascade:
    """Let a student answer those rows of a pool on which it may be trusted to agree with a teacher.

    Parameters
    ----------
    rows : data frame, or list of mappings from column names to values
        The pool.
    labelled : the same rows that were drawn, with a column of the teacher's answers
    teacher : str
        This column.
    draw : Draw
        How the rows were drawn.
    target_error : float
        The share of the student's answers that may differ from the teacher's.
    student : fitted classifier with ``predict_proba``, default=None
        None: a ``BoostClassifier`` learns from half of the labelled rows. A student that knows none
        of them leaves all of them to certify.
    delta : float, default=0.05
        The probability with which each of the two promises may fail.
    seed : int, default=0
    """
    probability("target_error", target_error)
    probability("delta", delta)
    order = draw.order(labelled)
    column(columns_of(labelled), teacher, "teacher")
    drawn = np.array(draw.rows, dtype=np.intp)[: order.size]
    draw.take(rows)  # raises unless this is the pool
    shown = Rows.of(labelled).take(order).columns().cells[teacher]
    said = np.array(shown.tolist() if isinstance(shown, np.ndarray) else shown.to_list())
    if any(text_of(cell) == "" for cell in said.tolist()):
        raise DataError(
            f"column {teacher!r} has empty cells; give the teacher's answer to each row"
        )
    teaches = np.zeros(drawn.size, dtype=np.bool_)
    if student is None:
        teaches[::2] = True
        student = BoostClassifier(random_state=seed)
        student.fit(Rows.of(rows).take(drawn[teaches]).given, said[teaches])
    guess = asked(student, rows)
    sure = confidence(guess, asked(student, rows, "predict_proba"), np.asarray(student.classes_))
    certifying, known = drawn[~teaches], said[~teaches]
    pairs = zip(guess[certifying], known, strict=True)
    differs = np.array([text_of(one) != text_of(other) for one, other in pairs])
    taught = drawn[teaches]
    apart = np.ones(guess.size, dtype=np.bool_)
    apart[taught] = False
    points = cutoffs(np.asarray(sure), apart, certifying, differs, target_error, delta)
    of_pool = last_passed(
        points, lambda p: pool.mistaken_share(p.differ, p.rows, p.pool_rows, delta) <= target_error
    )
    of_new = last_passed(
        points, lambda p: holdout.clopper_pearson(p.differ, p.rows, delta) <= target_error
    )
    who = np.full(guess.size, "teacher", dtype=object)
    if of_pool is not None:
        who[np.asarray(sure) >= of_pool.score] = "student"
    who[drawn] = "asked"
    answers = np.full(guess.size, None, dtype=object)
    answers[who == "student"] = guess[who == "student"]
    answers[drawn] = said
    return Cascade(student, answers, who, of_pool, of_new, target_error, delta)


def cutoffs(
    sure: NDArray[Any],
    apart: NDArray[np.bool_],
    certifying: NDArray[np.intp],
    differs: NDArray[np.bool_],
    target: float,
    delta: float,
) -> list[Cutoff]:
    """Return the cutoffs to test, from the surest down; labels have no say in which they are."""
    scores = np.sort(sure[apart])[::-1]
    places = np.unique(np.ceil(np.arange(1, CUTOFFS + 1) * scores.size / CUTOFFS).astype(np.intp))
    points = []
    for score in dict.fromkeys(scores[places - 1].tolist()):
        inside = sure[certifying] >= score
        n = int(inside.sum())
        # fewer rows could not pass even if none of them differs
        if n >= math.log(1 / delta) / target:
            above = int((sure[apart] >= score).sum())
            points.append(Cutoff(float(score), above, n, int(differs[inside].sum())))
    return points


def last_passed(points: list[Cutoff], passes: Callable[[Cutoff], bool]) -> Cutoff | None:
    """Return the last cutoff before the first that does not pass."""
    last = None
    for point in points:
        if not passes(point):
            break
        last = point
    return last
