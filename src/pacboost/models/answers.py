"""Answers with their confidence, abstention where it is too low, and measures of ranked labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import DataError, DataTypeError
from pacboost.numerics.markup import paragraph, table
from pacboost.numerics.memory import in_host_memory
from pacboost.numerics.ranks import max_ranks
from pacboost.numerics.same_bits import mean, row_totals
from pacboost.sources.odd_cells import shown

MAX_ANSWERS_SHOWN = 20
"""A notebook shows at most this many answers: half of them the first, and half the last."""

Doubles = NDArray[np.float64]


class Answer(NamedTuple):
    """The answer for one row: ``label`` is None if the confidence is too low.

    >>> print(Answer("lost card", 0.93, "lost card"))
    lost card (confidence 0.93)
    >>> print(Answer(None, 0.31, "top-up"))
    no answer (confidence 0.31; a guess: top-up)
    """

    label: Any
    confidence: float
    guess: Any
    """The prediction, whether it is answered or not."""

    def __str__(self) -> str:
        if self.label is None:
            return f"no answer (confidence {self.confidence:.2f}; a guess: {self.guess})"
        return f"{self.label} (confidence {self.confidence:.2f})"


class AnswerList(list[Answer]):
    """The answers for some rows: a list of ``Answer`` that can become a data frame.

    >>> answers = AnswerList([Answer("yes", 0.9, "yes"), Answer(None, 0.6, "no")])
    >>> answers.to_frame("polars").columns
    ['label', 'confidence', 'guess']
    >>> answers.columns()["guess"]
    ['yes', 'no']
    """

    def columns(self) -> dict[str, list[Any]]:
        """Return labels (None if unanswered), confidences and guesses as columns."""
        return {name: [getattr(entry, name) for entry in self] for name in Answer._fields}

    def to_frame(self, backend: str = "pandas") -> Any:
        """Return the answers as a data frame of pandas, polars or pyarrow, one row for each."""
        from pacboost.sources.dataframe import to_frame

        return to_frame(self.columns(), backend)

    def _repr_html_(self) -> str:
        half = MAX_ANSWERS_SHOWN // 2
        numbers = list(range(len(self)))
        if len(self) > MAX_ANSWERS_SHOWN:
            numbers = [*numbers[:half], *numbers[-half:]]
        rows = []
        for k in numbers:
            label, sure, guess = self[k]
            rows.append([k, "no answer" if label is None else label, f"{sure:.4f}", guess])
        n_answered = sum(entry.label is entry.guess for entry in self)
        shown = f"; the first and the last {half} are shown" if len(self) > len(numbers) else ""
        words = f"{n_answered:,} of {len(self):,} rows are answered{shown}."
        return paragraph(words) + table(["row", "label", "confidence", "guess"], rows)


def asked(model: object, X: object, method: str = "predict") -> NDArray[Any]:
    """Return the predictions of a model for rows, in host memory."""
    if isinstance(model, type) or not hasattr(model, "predict"):
        raise DataTypeError(
            f"{shown(model)} has no predict method; give a fitted classifier or regressor, or "
            "pacboost.answers(said) for given answers"
        )
    return np.asarray(in_host_memory(getattr(model, method)(X)))


def confidence(decided: NDArray[Any], probabilities: Doubles, classes: NDArray[Any]) -> Doubles:
    """Return the probability of each decision.

    For one label per row that is the probability of the predicted class. For several labels it is
    the product, over all labels, of the probability of the prediction for the label: the
    probability that all are right, if labels were independent given the row.
    """
    if decided.ndim == 2:
        chances = np.where(decided > 0, probabilities, 1 - probabilities)
        return np.asarray(chances.prod(axis=1))
    if probabilities.shape != (decided.size, classes.size):
        raise DataError(
            f"predict_proba gave shape {probabilities.shape} for {decided.size} rows and "
            f"{classes.size} classes"
        )
    absent = np.zeros(decided.size, dtype=np.bool_)
    if decided.dtype == object:  # a row without an answer has confidence 0
        absent = np.array([label is None for label in decided.tolist()])
        decided = np.where(absent, classes[0], decided)
    order = np.argsort(classes)
    named = order[np.searchsorted(classes, decided, sorter=order)]
    return np.where(absent, 0.0, np.minimum(probabilities[np.arange(decided.size), named], 1.0))


def answers(
    decided: NDArray[Any], sure: Doubles, threshold: float, otherwise: object
) -> AnswerList:
    """Answer rows whose confidence reaches the threshold; others get ``otherwise``."""
    return AnswerList(
        Answer(guess if confidence >= threshold else otherwise, confidence, guess)
        for guess, confidence in zip(decided.tolist(), sure.tolist(), strict=True)
    )


@dataclass(frozen=True)
class Ranking:
    """Five measures of ranked labels; smaller is better, except for the average precision.

    The definitions are those of Schapire and Singer (2000, section 5), with labels numbered 1, 2, …
    by falling score in every row. If a right and a wrong label have the same score, the wrong one
    comes first. A row that has no label, or all of them, costs nothing.

    >>> print(Ranking(0.1, 0.2, 1.5, 0.05, 0.85, rows=100, labels=8))
    100 rows, 8 labels
      Hamming loss        0.1000  share of pairs (row, label) that predict gets wrong
      one-error           0.2000  share of rows whose first label is wrong
      coverage            1.5000  how far down the list the last right label stands
      ranking loss        0.0500  share of pairs (right, wrong label) in the wrong order
      average precision   0.8500  share of right labels among those down to a right one
    """

    hamming_loss: float
    one_error: float
    coverage: float
    ranking_loss: float
    average_precision: float
    rows: int
    labels: int

    def __str__(self) -> str:
        words = {
            "Hamming loss": "share of pairs (row, label) that predict gets wrong",
            "one-error": "share of rows whose first label is wrong",
            "coverage": "how far down the list the last right label stands",
            "ranking loss": "share of pairs (right, wrong label) in the wrong order",
            "average precision": "share of right labels among those down to a right one",
        }  # in the order of the fields
        measures = zip(words.items(), vars(self).values(), strict=False)
        lines = [f"  {name:<17} {value:>8.4f}  {text}" for (name, text), value in measures]
        return "\n".join([f"{self.rows:,} rows, {self.labels} labels", *lines])


def ranking(
    scores: NDArray[np.float64], right: NDArray[np.bool_], predicted: NDArray[np.bool_]
) -> Ranking:
    """Measure scores and predictions of labels, both (rows, labels), against the right labels.

    >>> right = np.array([[True, False, True], [False, True, False]])
    >>> one = ranking(np.array([[0.9, 0.5, 0.1], [0.2, 0.4, 0.6]]), right, right)
    >>> one.one_error, one.coverage, one.ranking_loss, round(one.average_precision, 4)
    (0.5, 1.5, 0.5, 0.6667)
    """
    if not scores.shape == right.shape == predicted.shape or scores.ndim != 2 or not scores.size:
        raise DataError(
            f"scores have shape {scores.shape}, labels {right.shape}, predictions "
            f"{predicted.shape}; all must be (rows, labels), with at least one row and one label"
        )
    rows, labels = scores.shape
    of_all = max_ranks(-scores)
    among_right = max_ranks(np.where(right, -scores, np.inf))
    n_right = right.sum(axis=1)
    ahead = np.where(right, of_all - among_right, 0).sum(axis=1)
    pairs = n_right * (labels - n_right)
    precision = row_totals(np.where(right, among_right / of_all, 0))
    first = np.where(right, of_all - among_right, labels).min(axis=1)
    return Ranking(
        hamming_loss=float(np.mean(right != predicted)),
        one_error=float(np.mean((n_right > 0) & (first > 0))),
        coverage=float(np.mean(np.where(right, of_all - 1, 0).max(axis=1))),
        ranking_loss=mean(ahead / np.maximum(pairs, 1)),
        average_precision=mean(np.where(n_right > 0, precision / np.maximum(n_right, 1), 1.0)),
        rows=rows, labels=labels,
    )  # fmt: skip
