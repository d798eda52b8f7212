"""Why a vote says what it says: the shape of each feature, the grounds of one row, and pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import check_is_fitted, check_random_state

from pacboost.errors import DataError, ParameterError
from pacboost.estimators.inputs.examples import label_rows
from pacboost.estimators.inputs.parameters import positive_integer
from pacboost.hypotheses.shapes import Shapes, shapes
from pacboost.hypotheses.tree import TreeRule
from pacboost.hypotheses.vote import Scores
from pacboost.kernels.threads import using
from pacboost.models.explain import attribution, explanation, permutation
from pacboost.models.model import Model
from pacboost.reports import plots
from pacboost.samples.sample import Sample
from pacboost.sources.arrays import CategorisedArray
from pacboost.sources.dataframe import is_frame
from pacboost.sources.table import Table
from pacboost.training import metrics

Doubles = NDArray[np.float64]


class ExplainMixin:
    """What makes the vote of a fitted classifier readable."""

    model_: Model
    classes_: NDArray[Any]
    n_jobs: int | None

    if TYPE_CHECKING:  # what the classifier brings along

        def _open(self, X: Any) -> Table: ...

        def _decide(self, scores: Scores) -> NDArray[Any]: ...

        @property
        def several_labels_(self) -> bool:
            """Whether a row may have several labels."""

    def shapes(self) -> Shapes:
        """Give a vote of stumps as a constant plus one step function for each feature."""
        check_is_fitted(self)
        return shapes(self.model_.vote, self.model_.say())

    def explain(self, x: Any, top: int = 10, *, for_class: Any = None) -> explanation.Explanation:
        """Say which rules voted on one row, and how: the ``top`` contributions, and the rest.

        ``x`` is a sequence of values, a mapping from column names, or a table of one row. Rules
        that say the same of the row are put together. With more than two classes contributions
        are to the score of ``for_class``, or of the class with the largest; with two, to the score
        of the second class, or of the first if that is named.
        """
        top = positive_integer("top", top)
        table = self._one_row(x)
        with using(self.n_jobs):
            decided = self._decide(self.model_.vote.scores(table)).tolist()[0]
            return explanation.explain(self.model_, table, decided, top, for_class)

    def shap_values(self, X: Any) -> tuple[Doubles, Any]:
        """Share every row's score among the features, for votes of trees (kernels/shap.py).

        Gives the shares (rows, features) and the score of an unknown row, a number; with more than
        two classes (rows, features, classes) and (classes,). Together they add up to the scores.
        """
        table, vote = self._open(X), self.model_.vote
        strange = next((rule for rule in vote.hypotheses if not isinstance(rule, TreeRule)), None)
        if strange is not None:
            raise DataError(
                f"the vote holds {type(strange).__name__} rules, which keep no record of how many "
                "training rows went which way, so there is no mean score to compare a row with. "
                "For stumps shapes() says exactly what each feature adds; for black boxes there is "
                "permutation_importances(X, y)"
            )
        shares, expected = np.zeros((table.n_rows, table.n_columns, 1)), np.zeros(vote.outputs)
        if vote.trees:
            trees = [tree for tree, _ in vote.trees]
            with using(self.n_jobs):
                codes = trees[0].bins.encode(table).astype(np.uint8, copy=False)
                shares, expected = attribution.shap_values(trees, vote.votes, codes)
        if vote.outputs == 1:
            return shares[:, :, 0], float(expected[0])
        return np.broadcast_to(shares, (*shares.shape[:2], vote.outputs)).copy(), expected

    def permutation_importances(
        self, X: Any, y: Any, repeats: int = 5, random_state: Any = None, metric: Any = "error"
    ) -> permutation.Importances:
        """Measure by how much the vote gets worse, in ``metric``, when a column is shuffled.

        ``metric`` may be what ``eval_metric`` may be. A column that no rule asks for has exactly 0.
        """
        repeats = positive_integer("repeats", repeats)
        if isinstance(metric, str) and metric not in metrics.METRICS:
            raise ParameterError(
                f"metric is {metric!r}; it may be {', '.join(metrics.METRICS)}, or a function of "
                "(signs, scores) that gets smaller as the fit gets better"
            )
        sample, seed = self._labelled(X, y), check_random_state(random_state).randint(2**31)
        with using(self.n_jobs):
            return permutation.permutation_importances(
                self.model_.vote,
                sample,
                metrics.metric(metric, self.model_.ledger.potential),
                repeats,
                int(seed),
                self.model_.column_names,
            )

    def plot_rounds(self, ax: Any = None) -> Any:
        """Draw the error after each round, with its bound."""
        check_is_fitted(self)
        return plots.rounds(self.model_.ledger, ax)

    def plot_shapes(self, ax: Any = None, top: int = 12, *, for_class: Any = None) -> Any:
        """Draw what each feature adds to the score, for votes of stumps.

        With more than two classes all are drawn, unless ``for_class`` names one.
        """
        found = self.shapes()
        number = explanation.class_number(self.classes_.tolist(), for_class)
        if number is not None and len(found.answers) == 1:
            raise ParameterError(
                f"for_class is {for_class!r}, but two classes have one score, which speaks for "
                f"{found.answers[0]!r}; leave for_class out"
            )
        return plots.shapes(found if number is None else found.of(number), ax, top)

    def plot_importances(
        self, importances: permutation.Importances | None = None, ax: Any = None, top: int = 20
    ) -> Any:
        """Draw ``feature_importances_``, or what ``permutation_importances`` gave."""
        check_is_fitted(self)
        if importances is None:
            return plots.importances(self.model_.column_names, self.model_.importances(), ax, top)
        label = f"{importances.metric.replace('_', ' ')}: worse by, when shuffled"
        means, spread = importances.mean, importances.std
        return plots.importances(importances.names, means, ax, top, spread=spread, label=label)

    def _one_row(self, x: Any) -> Table:
        """Read one row, with or without names."""
        check_is_fitted(self)
        model = self.model_
        plain = not (isinstance(x, Table) or is_frame(x) or sparse.issparse(x))
        if plain and hasattr(x, "keys"):
            x = _by_name(x, model.names)
        if plain:
            values = np.asarray(x, dtype=None if hasattr(x, "dtype") else object)  # 1 is not "1"
            if values.ndim == 1:
                if values.size != model.n_features:
                    raise DataError(
                        f"x holds {values.size} values, but {type(self).__name__} was fitted with "
                        f"{model.n_features} features; give one value for each"
                    )
                x = CategorisedArray(values.astype(object)[None, :], model.levels, model.names)
            elif values.ndim != 2:
                raise DataError(
                    f"x has {values.ndim} dimensions; explain takes the values of one row"
                )
        table = self._open(x)
        if table.n_rows != 1:
            raise DataError(
                f"x has {table.n_rows} rows; explain takes one row, such as X[:1] or X.iloc[[0]]"
            )
        return table

    def _labelled(self, X: Any, y: Any) -> Sample:
        """Read rows with labels that are among the classes."""
        table = self._open(X)
        known = label_rows(table, y, self.classes_, "y", several=self.several_labels_)
        return Sample(table, known.signs, labels=known.labels)


def _by_name(row: Any, names: tuple[str, ...] | None) -> list[Any]:
    """Put the values of a mapping (or of a row of a frame) into the order of the columns."""
    keys = list(row.keys())
    if names is None:
        return [row[key] for key in keys]
    wrong = set(keys) ^ set(names)
    if wrong:
        column = sorted(map(str, wrong))[0]
        raise DataError(
            f"x {'lacks' if column in names else 'has'} the column {column!r}; it must have those "
            f"of fit: {', '.join(names)}"
        )
    return [row[name] for name in names]
