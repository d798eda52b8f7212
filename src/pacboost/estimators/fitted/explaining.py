"""Explanations of a fitted vote: of one row, and of the share of each feature."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from pacboost.errors import DataError, invalid
from pacboost.estimators.fitted.predicting import Predictor
from pacboost.estimators.fitting.constraints import feature_number
from pacboost.estimators.inputs.parameters import draw_seed
from pacboost.hypotheses.partial_dependence import forest_partial_dependence, partial_dependence
from pacboost.hypotheses.shapes import Shapes
from pacboost.hypotheses.tree import TreeRule
from pacboost.kernels.threads import using
from pacboost.models.explain import attribution, explanation
from pacboost.models.explain.importances import FeatureShares, Importances, permutation_importances
from pacboost.models.model import Model
from pacboost.numerics.checks import positive_whole
from pacboost.samples.sample import Sample
from pacboost.sources.arrays import CategorisedArray
from pacboost.sources.columns import are_records
from pacboost.sources.given import one_given
from pacboost.sources.rows import PlainRows, Rows
from pacboost.sources.table import Table
from pacboost.training import metrics

Doubles = NDArray[np.float64]


def shap_values(estimator: Predictor, X: object) -> Any:
    """Share every row's score among the features, for votes of trees (src/native/tree/shap.h)."""
    table, model = estimator._open(X), estimator.model_
    with using(estimator.n_jobs):
        shares, expected = _shares(model, table)
        return attribution.in_shap_form(model, table, shares, expected)


def _shares(model: Model, table: Table) -> tuple[Doubles, Any]:
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
    """Raise unless all rules of a vote are trees."""
    rules = model.vote.hypotheses
    strange = next((rule for rule in rules if not isinstance(rule, TreeRule)), None)
    if strange is not None:
        raise DataError(
            f"the vote holds {type(strange).__name__} rules, which keep no record of how many "
            "training rows went which way, so there is no mean score to compare a row with. "
            "For stumps shapes() says exactly what each feature adds; for black boxes there is "
            "permutation_importances(X, y)"
        )


def importances(model: Model, by: str) -> FeatureShares:
    """Return each feature's share of the gains, of the rows divided, or of the splits."""
    if by not in ("gain", "cover", "count"):
        raise invalid("by", by, "may be 'gain', 'cover' or 'count'")
    shares = model.importances() if by == "gain" else model.split_importances(by)
    return FeatureShares(model.column_names, by, shares)


def dependence(model: Model, features: object, top: int) -> Shapes:
    """Return how the mean score of a vote of trees changes with each feature."""
    refuse_other_than_trees(model)
    return partial_dependence(model.vote, model.say(), numbers_of(features, model, top))


def forest_dependence(estimator: Predictor, features: object, top: int, X: object) -> Shapes:
    """Return how the mean prediction of a forest changes with each feature."""
    check_is_fitted(estimator)
    table, model = None if X is None else estimator._open(X), estimator.model_
    if model.labels:
        raise DataError(
            "partial_dependence is for one label a row, and this forest gives several; fit "
            "one forest for each label"
        )
    numbers = numbers_of(features, model, top)
    with using(estimator.n_jobs):
        return forest_partial_dependence(model.vote, model.say(), numbers, table)


def numbers_of(features: Any, model: Model, top: int) -> list[int]:
    """Return the numbers of the named features, or of the most important ones."""
    if features is None:
        order = np.argsort(-model.importances(), kind="stable")
        return order[: positive_whole("top", top)].tolist()  # type: ignore[no-any-return]
    several = np.iterable(features) and not isinstance(features, str)
    return [
        feature_number(
            "features", feature, model.column_names if model.names else None, model.n_features
        )
        for feature in (features if several else [features])
    ]


def shuffled(
    estimator: Predictor,
    sample: Sample,
    measure: metrics.Metric,
    repeats: int,
    random_state: object,
) -> Importances:
    """Measure by how much predictions get worse when a column is shuffled."""
    repeats, seed = positive_whole("repeats", repeats), draw_seed(random_state)
    with using(estimator.n_jobs):
        return permutation_importances(estimator.model_, sample, measure, repeats, seed)


def explain_row(
    estimator: Predictor, rows: object, top: int, *, for_class: object = None, by: str
) -> explanation.Explanation:
    """Explain the score of one row."""
    top = positive_whole("top", top)
    table, model = estimator._open(rows), estimator.model_
    if table.n_rows != 1:
        raise DataError(
            f"x has {table.n_rows} rows; explain takes one row, such as X[:1] or X.iloc[[0]]"
        )
    with using(estimator.n_jobs):
        scores = model.vote.scores(table)
        answers = model.decide(scores) if model.classes.size else model.numbers(scores)
        answer = answers.tolist()[0]
        return explanation.explain(model, table, answer, top, for_class=for_class, by=by)


def as_one_row(estimator: Predictor, x: Any) -> Any:
    """Turn a sequence of values into rows that can be read; others are read by the schema."""
    check_is_fitted(estimator)
    model = estimator.model_
    if model.schema.row_shape is not None:
        return one_given(x, model.schema.row_shape)
    if not isinstance(Rows.of(x), PlainRows):
        return x
    if model.names is not None and are_records(x):
        return x
    if hasattr(x, "keys"):
        x = [x[key] for key in x.keys()]  # noqa: SIM118 - of a series, too
    values = np.asarray(x, dtype=None if hasattr(x, "dtype") else object)  # 1 is not "1"
    if values.ndim == 2:
        return x
    if values.ndim != 1:
        raise DataError(f"x has {values.ndim} dimensions; explain takes the values of one row")
    if values.size != model.schema.n_columns:
        raise DataError(
            f"x holds {values.size} values, but {type(estimator).__name__} was fitted with "
            f"{model.schema.n_columns} features; give one value for each"
        )
    return CategorisedArray(values.astype(object)[None, :], model.levels, model.names)
