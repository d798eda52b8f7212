"""Explanations of a vote: of one row, of the share of each feature, and as plots."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn import get_config
from sklearn.utils import estimator_html_repr
from sklearn.utils.validation import check_is_fitted

from pacboost.errors import DataError, ParameterError
from pacboost.estimators.fitting.parameters import feature_number
from pacboost.estimators.inputs.parameters import draw_seed
from pacboost.fit.examples import label_rows, mistaken
from pacboost.fit.targets import read_labels, read_targets
from pacboost.hypotheses.tree import TreeRule
from pacboost.hypotheses.vote import Scores
from pacboost.kernels.runtime.threads import using
from pacboost.models.explain import attribution
from pacboost.models.explain.importances import Importances, permutation_importances
from pacboost.models.model import Model
from pacboost.numerics import markup
from pacboost.numerics.checks import meant, positive_whole
from pacboost.numerics.exact import wrong_answers
from pacboost.samples.sample import Sample
from pacboost.sources.arrays import CategorisedArray
from pacboost.sources.dataframe import is_frame
from pacboost.sources.frame_table import FrameTable
from pacboost.sources.table import Table
from pacboost.training import metrics
from pacboost.training.run.margins import NAMING, largest, margins_of, normalised

# Which rows a vote gets wrong, and how well it ranks labels.
#
# Ties count as mistakes, and so do labels that are no class.


def judging(estimator: Any, X: Any, y: Any) -> tuple[Table, Callable[[Scores], NDArray[np.bool_]]]:
    """Read rows with labels; give them, and a function of their scores that marks mistakes."""
    table = estimator._open(X)
    several = estimator.several_labels_
    labels = read_labels(y, table.n_rows, several=several)
    if several:
        known = label_rows(table, labels, estimator.classes_, "y", several=True)
        return table, lambda scores: mistaken(scores, known)
    return table, lambda scores: wrong_answers(estimator._decide(scores), labels, scores)


def staged_errors(estimator: Any, X: Any, y: Any) -> list[float]:
    """Return the share of rows that the vote gets wrong after each round."""
    refuse_half(X, y)
    table, wrong = judging(estimator, X, y)
    with using(estimator.n_jobs):
        return [float(wrong(scores).mean()) for scores in estimator.model_.vote.staged(table)]


def vote_of(model: Any, X: Any) -> tuple[Any, Any]:
    """Return the estimator that holds the vote, and the rows as it reads them."""
    check_is_fitted(model)
    while "estimator_" in vars(model):
        X = model._open(X) if X is not None and hasattr(model, "_open") else X
        model = model.estimator_
    return model, X


def refuse_half(X: Any, y: Any) -> None:
    """Raise if only one of rows and labels was given."""
    if (X is None) != (y is None):
        given, absent = ("X", "y") if y is None else ("y", "X")
        raise DataError(
            f"{given} was given without {absent}; give both, rows and their labels, or neither"
        )


# How clearly a vote decides: margins of rows whose labels are known, round by round.
#
# A margin is y·F/S, where S adds up the largest vote that each round could give; with more than two
# classes, (own score - best other)/2S, or /S where every rule names one class. It is positive where
# the vote is right, and 1 where all its rules are.

Doubles = NDArray[np.float64]
CURVES = 4
"""How many rounds pictures show if none are named."""


def staged_margins(model: Model, sample: Sample) -> Iterator[Doubles]:
    """Return the margins after each round, by the votes of the rounds until then."""
    vote, total, naming = model.vote, 0.0, model.ledger.multiclass in NAMING
    for rule, cast, scores in zip(
        vote.hypotheses, vote.votes, vote.staged(sample.table), strict=True
    ):
        total += largest(rule, cast)
        yield normalised(margins_of(sample, scores, naming=naming), total)


def margins_after(model: Model, sample: Sample, rounds: Sequence[int] | None) -> dict[int, Doubles]:
    """Return the margins after some rounds; without any, after some ever further apart."""
    last = len(model.vote.votes)
    if last == 0:
        raise DataError("the vote is empty; there are no margins to draw")
    if rounds is None:
        rounds = np.geomspace(1, last, CURVES).round().astype(int).tolist()
    wanted = {positive_whole("a round", number) for number in rounds}
    if max(wanted, default=0) > last:
        raise ParameterError(
            f"rounds holds {max(wanted)}, but the vote has {last}; give 1 to {last}",
            parameter="rounds",
        )
    stages = enumerate(staged_margins(model, sample), start=1)
    return {number: own.ravel() for number, own in stages if number in wanted}


def shap_values(model: Model, table: Table) -> tuple[Doubles, Any]:
    """Share every row's score among the features, for votes of trees (kernels/tree_shap.py)."""
    refuse_other_than_trees(model)
    vote = model.vote
    shares, expected = np.zeros((table.n_rows, table.n_columns, 1)), np.zeros(vote.outputs)
    if vote.trees:
        trees = [tree for tree, _ in vote.trees]
        codes = trees[0].bins.encode(table).astype(np.uint8, copy=False)
        shares, expected = attribution.shap_values(trees, vote.votes, codes)
    if vote.outputs == 1:
        return shares[:, :, 0], float(expected[0])
    return np.broadcast_to(shares, (*shares.shape[:2], vote.outputs)).copy(), expected


def refuse_other_than_trees(model: Model) -> None:
    """Raise if a vote holds other rules than trees."""
    rules = model.vote.hypotheses
    strange = next((rule for rule in rules if not isinstance(rule, TreeRule)), None)
    if strange is not None:
        raise DataError(
            f"the vote holds {type(strange).__name__} rules, which keep no record of how many "
            "training rows went which way, so there is no mean score to compare a row with. "
            "For stumps shapes() says exactly what each feature adds; for black boxes there is "
            "permutation_importances(X, y)"
        )


def numbers_of(features: Any, model: Model, top: int) -> list[int]:
    """Return the numbers of features that are named or numbered, else the most important ones."""
    if features is None:
        order = np.argsort(-model.importances(), kind="stable")
        return order[: positive_whole("top", top)].tolist()  # type: ignore[no-any-return]
    given = (
        list(features) if np.iterable(features) and not isinstance(features, str) else [features]
    )
    return [feature_number("features", own, model.names, model.n_features) for own in given]


def labelled(estimator: Any, X: Any, y: Any) -> Sample:
    """Read rows with labels."""
    table = estimator._open(X)
    known = label_rows(table, y, estimator.classes_, "y", several=estimator.several_labels_)
    return Sample(table, known.signs, labels=known.labels)


def with_targets(estimator: Any, X: Any, y: Any) -> Sample:
    """Read rows with numbers."""
    table = estimator._open(X)
    signs = np.ones((table.n_rows, 1), dtype=np.int8)  # not looked at
    return Sample(table, signs, targets=read_targets(y, table.n_rows))


def shuffled(
    estimator: Any, sample: Sample, measure: metrics.Metric, repeats: int, random_state: Any
) -> Importances:
    """Measure by how much predictions get worse when a column is shuffled."""
    repeats, seed = positive_whole("repeats", repeats), draw_seed(random_state)
    with using(estimator.n_jobs):
        return permutation_importances(estimator.model_, sample, measure, repeats, seed)


def as_one_row(model: Model, x: Any, estimator: str) -> Any:
    """Turn a sequence of values, or a mapping from names, into rows that can be opened."""
    if isinstance(x, Table) or is_frame(x) or sparse.issparse(x):
        return x
    if hasattr(x, "keys") and model.names is not None:
        row = _by_name(x, model.levels.sources(model.names))
        cells = {name: np.array([cell], dtype=object) for name, cell in row.items()}
        return FrameTable.like(cells, model.names, model.levels)
    if hasattr(x, "keys"):
        x = [x[key] for key in x.keys()]  # noqa: SIM118 - of a series, too
    values = np.asarray(x, dtype=None if hasattr(x, "dtype") else object)  # 1 is not "1"
    if values.ndim == 2:
        return x
    if values.ndim != 1:
        raise DataError(f"x has {values.ndim} dimensions; explain takes the values of one row")
    if values.size != model.n_features:
        raise DataError(
            f"x holds {values.size} values, but {estimator} was fitted with "
            f"{model.n_features} features; give one value for each"
        )
    return CategorisedArray(values.astype(object)[None, :], model.levels, model.names)


def _by_name(row: Any, names: Sequence[str]) -> dict[str, Any]:
    """Read the values of a mapping (or of a row of a frame) by the names of the columns."""
    wrong = {*row.keys()} ^ {*names}
    if wrong:
        column = min(map(str, wrong), key=lambda name: (name in names, name))
        raise DataError(
            f"x {'lacks' if column in names else 'has'} the column {column!r}"
            f"{'' if column in names else meant(column, names)}; it must have those of fit: "
            f"{', '.join(dict.fromkeys(names))}"
        )
    return {name: row[name] for name in names}


# What a notebook shows of an estimator: what scikit-learn shows, and what is certified.
#
# scikit-learn 1.6 does not ask an estimator for ``_html_repr``, so estimators answer both of the
# methods that notebooks call.


def html(estimator: Any, claim: str) -> str:
    """Return the claim, if there is one, and scikit-learn's diagram below it."""
    return (markup.bold(claim) if claim else "") + str(estimator_html_repr(estimator))


def bundle(estimator: Any, **_options: Any) -> dict[str, str]:
    """Return text, and HTML unless scikit-learn is set up to show text only."""
    found = {"text/plain": repr(estimator)}
    if get_config()["display"] == "diagram":
        found["text/html"] = estimator._repr_html_inner()
    return found
