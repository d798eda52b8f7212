"""Which rows a vote gets wrong: ties count as mistakes, and so do labels that are no class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.fit.examples import label_rows
from pacboost.fit.rows import LabelledRows
from pacboost.fit.targets import read_labels
from pacboost.hypotheses.vote import Scores
from pacboost.models.model import Model
from pacboost.numerics.exact import wrong_answers, wrong_margins
from pacboost.sources.table import Table


@dataclass(frozen=True, eq=False)
class JudgedRows:
    """Labelled rows; their labels need not be classes of the fit."""

    table: Table
    labels: NDArray[Any]
    signs: LabelledRows | None
    """The labels as signs, if a row may have several."""

    @classmethod
    def read(cls, model: Model, table: Table, y: object) -> JudgedRows:
        """Read the labels of rows."""
        several = model.ledger.several_labels
        labels = read_labels(y, table.n_rows, several=several)
        if not several:
            return cls(table, labels, None)
        return cls(table, labels, label_rows(table, labels, model.classes, "y", several=True))

    def wrong(self, model: Model, scores: Scores) -> NDArray[np.bool_]:
        """Return which rows the scores get wrong; of several labels, if any is."""
        if self.signs is not None:
            margins = scores.reshape(len(self.labels), -1) * self.signs.signs
            return np.asarray(wrong_margins(margins).any(axis=1))
        return wrong_answers(model.decide(scores), self.labels, scores)
