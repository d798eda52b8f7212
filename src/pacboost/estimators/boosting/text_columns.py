"""Options for reading texts, before there is a vocabulary."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pacboost.errors import DataError
from pacboost.estimators.parameters.values import Values
from pacboost.models.schema import ColumnOptions
from pacboost.sources.columns import Columns
from pacboost.sources.mixed import MixedFeatures
from pacboost.sources.rows import Rows
from pacboost.sources.sparse import WordTable
from pacboost.sources.text import TextFeatures

Features = TextFeatures | MixedFeatures
OPTIONS = (
    "ngrams", "skips", "characters", "min_count", "max_features", "lowercase", "times", "beginning",
    "prefixes",
)  # fmt: skip
"""Parameters that say how texts are read."""


@dataclass(frozen=True, eq=False)
class TextColumns:
    """Options for reading texts, alone or beside other columns, before there is a vocabulary.

    Rows of a mixed table are read as texts are: their numbers and categories become words, too.
    """

    features: TextFeatures
    columns: Sequence[str] | None
    """The columns that hold texts; None for those that read like sentences."""

    def divisible(self, X: object) -> Any:
        """Return texts, or a table with columns of texts, in a form that can be indexed by row."""
        rows = Rows.of(X)
        if self.columns is None and rows.named is not None:
            return rows.columns()
        return self._reader(self.columns).read(X)

    def learn(self, X: object) -> tuple[Features, WordTable]:
        """Learn the vocabulary; return the reader that has it, and the table of the rows."""
        columns = self.columns
        if columns is None and isinstance(X, Columns):
            columns = X.sentences()
            if not columns:
                raise DataError(
                    "none of the columns reads like sentences; name those that hold texts in "
                    f"text_columns, of {', '.join(map(repr, X.cells))}"
                )
        return self._reader(columns).learn(X)

    def _reader(self, columns: Sequence[str] | None) -> Features:
        return self.features if columns is None else MixedFeatures.checked(self.features, columns)


def text_columns(asked: Values, owner: str) -> ColumnOptions:
    """Return how texts are read, by the parameters of an estimator."""
    options = {name: getattr(asked, name) for name in OPTIONS}
    return ColumnOptions(
        owner, text=TextColumns(TextFeatures.checked(**options), asked.text_columns)
    )
