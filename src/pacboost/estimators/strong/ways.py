"""How StrongClassifier learns: trees or lists of words, by the kind of rows and labels."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from pacboost.estimators.boosting.boost import BoostClassifier
from pacboost.estimators.boosting.boosting import ask_of
from pacboost.estimators.boosting.choosing import TreesChooser
from pacboost.estimators.boosting.choosing_words import WordsChooser
from pacboost.estimators.boosting.text import TextBoostClassifier
from pacboost.estimators.boosting.text_columns import text_columns
from pacboost.estimators.parameters.trials import TrialParameters
from pacboost.estimators.parameters.values import Values
from pacboost.fit.ask import Ask
from pacboost.fit.settings import ROWS_PER_LEAF
from pacboost.models.schema import ColumnOptions

OWNER = "StrongClassifier"
SHARED_BY_TEXTS = ("n_jobs", "device", "verbose", "n_estimators")
SHARED = (*SHARED_BY_TEXTS, *(each.name for each in fields(TrialParameters)))
"""What BoostClassifier goes by as well."""


@dataclass(frozen=True)
class Way:
    """A way to learn: its description, the reason for it, and its parameters as values."""

    words: str
    why: str
    asked: Values
    columns: ColumnOptions
    of_texts: bool

    def ask(self, seed: int, asked: Values) -> Ask:
        """Return what a fit is asked for, with some parameters changed."""
        chooser = WordsChooser(asked) if self.of_texts else TreesChooser(asked)
        return ask_of(asked, chooser, self.columns, seed)


def choose(strong: Values, texts: str | None, named: list[str], rows: int, *, several: bool) -> Way:
    """Choose a way to learn by the kind of rows and labels.

    ``texts`` says which of the rows' cells are texts, if any, and ``named`` names their columns.

    >>> choose(Values.of({}), None, [], 999, several=False).words
    'trees by LogitBoost'
    """
    called = "AdaBoost.MH" if several else "LogitBoost"
    if texts:
        given: dict[str, Any] = {name: getattr(strong, name) for name in SHARED_BY_TEXTS}
        asked = Values.defaults(TextBoostClassifier, **given, text_columns=named or None)
        return Way(f"lists of words by {called}", texts, asked, text_columns(asked, OWNER), True)
    given = {name: getattr(strong, name) for name in SHARED}
    if several:  # few rows could never be told apart
        given["min_leaf_rows"] = max(1, min(20, rows // ROWS_PER_LEAF))
    asked = Values.defaults(BoostClassifier, **given)
    columns = ColumnOptions(OWNER, asked.categorical_features, keeps_sparse=True)
    why = "rows have several labels" if several else "the rows are a table"
    return Way(f"trees by {called}", why, asked, columns, False)
