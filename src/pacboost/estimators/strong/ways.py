"""How StrongClassifier learns: trees, lists of words, or the rules of a learner of the user."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any

from pacboost.boosters.promised_margin import PromisedMargin
from pacboost.errors import ParameterError
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
from pacboost.learners.choose import as_learner
from pacboost.models.schema import ColumnOptions
from pacboost.numerics.checks import probability

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
    is_own: bool = False
    """Whether the learner is one that was given."""

    def ask(self, seed: int, asked: Values) -> Ask:
        """Return what a fit is asked for, with some parameters changed."""
        chooser = WordsChooser(asked) if self.of_texts else TreesChooser(asked)
        return ask_of(asked, chooser, self.columns, seed)


def choose(strong: Values, texts: str | None, named: list[str], rows: int, *, several: bool) -> Way:
    """Choose a way to learn by the kind of rows and labels.

    ``texts`` says which of the rows' cells are texts, if any, and ``named`` names their columns.

    >>> choose(Values.of({"learner": None}), None, [], 999, several=False).words
    'trees by LogitBoost'
    """
    called = "AdaBoost.MH" if several else "LogitBoost"
    if strong.learner is not None:
        return _own(strong, rows, several=several)
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


def own_columns(asked: Values) -> ColumnOptions | None:
    """Return how the rows of a learner of the user are read; None if there is no such learner."""
    if asked.learner is None:
        if asked.edge is not None:
            raise ParameterError(
                f"edge is {asked.edge!r}, what a learner promises, and no learner is given; set "
                "learner, or leave edge at None",
                parameter="edge",
            )
        return None
    given = as_learner(asked.learner, "learner").reads_given
    return ColumnOptions(OWNER, asked.categorical_features, keeps_sparse=True, as_they_came=given)


def _own(strong: Values, rows: int, *, several: bool) -> Way:
    """Boost a learner of the user: by AdaBoost, or for the edge that it promises."""
    columns = own_columns(strong)
    assert columns is not None
    given = {name: getattr(strong, name) for name in SHARED}
    booster: Any = "adaboost"
    if strong.edge is not None:
        if several:
            raise ParameterError(
                "edge is promised for two classes; leave it at None, or fit y == k for a class k",
                parameter="edge",
            )
        edge = probability("edge", strong.edge)
        booster = PromisedMargin(edge=edge, tolerance=edge / 2)
        if strong.n_estimators is None:
            given["n_estimators"] = math.ceil(booster.most_rounds(math.log(max(2, rows))))
    asked = Values.defaults(BoostClassifier, **given, booster=booster, learner=strong.learner)
    name = getattr(strong.learner, "__name__", type(strong.learner).__name__)
    how = "AdaBoost" if strong.edge is None else f"TotalBoost for a promised edge of {edge:g}"
    named = strong.learner if isinstance(strong.learner, str) else name
    words, why = f"rules of {named} by {how}", "it is the learner that was given"
    return Way(words, why, asked, columns, of_texts=False, is_own=True)
