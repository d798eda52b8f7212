"""Answers with their confidence, and abstention where the confidence is too low."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import DataError
from pacboost.numerics.markup import paragraph, table

MOST_SHOWN = 20
"""A notebook shows so many answers; of more, the first half of that number and the last."""

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
    """The answers for some rows: a list of ``Answer``, which also gives a data frame.

    >>> found = AnswerList([Answer("yes", 0.9, "yes"), Answer(None, 0.6, "no")])
    >>> found.to_frame("polars").columns
    ['label', 'confidence', 'guess']
    >>> found.columns()["guess"]
    ['yes', 'no']
    """

    def columns(self) -> dict[str, list[Any]]:
        """Give labels, confidences and guesses as columns; a label is None where none is given."""
        return {name: [getattr(entry, name) for entry in self] for name in Answer._fields}

    def to_frame(self, backend: str = "pandas") -> Any:
        """Give the answers as a data frame of pandas, polars or pyarrow, one row for each."""
        import narwhals as nw

        return nw.from_dict(self.columns(), backend=backend).to_native()  # type: ignore[arg-type]

    def _repr_html_(self) -> str:
        half = MOST_SHOWN // 2
        numbers = list(range(len(self)))
        if len(self) > MOST_SHOWN:
            numbers = [*numbers[:half], *numbers[-half:]]
        rows = [
            [k, "no answer" if own.label is None else own.label, f"{own.confidence:.4f}", own.guess]
            for k, own in ((k, self[k]) for k in numbers)
        ]
        given = sum(entry.label is entry.guess for entry in self)
        said = f"{given:,} of {len(self):,} rows are answered"
        said += f"; the first and the last {half} are shown." if len(self) > MOST_SHOWN else "."
        return paragraph(said) + table(["row", "label", "confidence", "guess"], rows)


def confidence(decided: NDArray[Any], probabilities: Doubles, classes: NDArray[Any]) -> Doubles:
    """Give the probability of what was decided.

    For one label per row that is the probability of the predicted class. For several labels it is
    the product, over all labels, of the probability of the prediction for the label: the
    probability that all are right, if labels were independent given the row.

    >>> confidence(np.array(["b", "a"]), np.array([[0.2, 0.8], [0.6, 0.4]]), np.array(["a", "b"]))
    array([0.8, 0.6])
    """
    if decided.ndim == 2:
        said = np.where(decided > 0, probabilities, 1 - probabilities)
        return np.asarray(said.prod(axis=1))
    if probabilities.shape != (decided.size, classes.size):
        raise DataError(
            f"predict_proba gave shape {probabilities.shape} for {decided.size} rows and "
            f"{classes.size} classes"
        )
    order = np.argsort(classes)
    named = order[np.searchsorted(classes, decided, sorter=order)]
    return np.minimum(probabilities[np.arange(decided.size), named], 1.0)


def answers(decided: NDArray[Any], sure: Doubles, threshold: float, otherwise: Any) -> AnswerList:
    """Answer the rows whose confidence reaches the threshold, and the others with ``otherwise``."""
    return AnswerList(
        Answer(guess if own >= threshold else otherwise, own, guess)
        for guess, own in zip(decided.tolist(), sure.tolist(), strict=True)
    )
