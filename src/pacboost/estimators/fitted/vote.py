"""What fitted votes of classifiers and regressors can do: predict, explain, report and certify."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from pacboost.bounds.certificate import Certificate
from pacboost.bounds.training import training_error
from pacboost.errors import DataError, NotCertified, ParameterError
from pacboost.estimators.fitted import explaining, reporting
from pacboost.estimators.fitted.predicting import (
    decide,
    decision_function,
    judged,
    mistakes,
    predict,
    predict_log_proba,
    predict_proba,
    score,
    several_labels,
)
from pacboost.estimators.fitting.parameters import nested, set_nested
from pacboost.estimators.inputs.estimator import RemembersRows, takes_rows
from pacboost.hypotheses.function import BlackBox
from pacboost.hypotheses.partial_dependence import partial_dependence
from pacboost.hypotheses.shapes import Shapes
from pacboost.hypotheses.vote import Scores, Vote
from pacboost.hypotheses.vote_digest import vote_digest
from pacboost.kernels.device import predict_on_gpu, use_gpu, using_gpu
from pacboost.kernels.runtime.threads import using
from pacboost.ledgers.ledger import Ledger
from pacboost.models.explain import explanation
from pacboost.models.explain.attribution import in_shap_form, shap_trees
from pacboost.models.explain.importances import Importances
from pacboost.models.model import NO_CLASSES, Model
from pacboost.models.schema import Schema
from pacboost.numerics.checks import positive_whole
from pacboost.numerics.memory import as_cupy, lies_on_gpu, of_the_library_of
from pacboost.reports.page.subject import uncertified
from pacboost.samples.bins import Bins
from pacboost.sources.explained_errors import explains_input
from pacboost.sources.table import Table
from pacboost.training import metrics
from pacboost.training.run.margins import NAMING, margins_of, norm, normalised

Answer = TypeVar("Answer")
Doubles = NDArray[np.float64]


class FittedBase(RemembersRows, BaseEstimator):  # type: ignore[misc]
    """An estimator whose fit leaves a vote of rules, or of the trees of a forest, in ``model_``."""

    model_: Model
    n_jobs: int | None
    device: str

    save, report = reporting.save, reporting.report
    _nested: tuple[str, ...] = ()
    """The parameters into which ``get_params`` and ``set_params`` reach: booster and learner."""

    @property
    def schema_(self) -> Schema:
        """How rows are read: their columns, names and levels, or the words of texts."""
        return self._fitted("schema_").schema

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return all parameters, with those of booster and learner if they are objects."""
        found: dict[str, Any] = super().get_params(deep=deep)
        return found | nested(self) if deep else found

    def set_params(self, **params: Any) -> Self:
        """Set parameters; those of booster and learner as ``booster__name``."""
        inner = {key for key in params if key.startswith(tuple(f"{n}__" for n in self._nested))}
        super().set_params(**{key: params[key] for key in params.keys() - inner})
        set_nested(self, {key: params[key] for key in params if key in inner})
        return self

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Each feature's share of the votes, or for trees of what their splits won."""
        return self._fitted("feature_importances_").importances()

    @takes_rows
    def apply(self, X: Any) -> NDArray[np.integer]:
        """Return the leaf that every row falls into, for every rule: (rows, rules).

        Leaves are numbered from 0 in each rule; a constant has one leaf, a stump has two. Of a
        forest the number is the place of a node in its tree.
        """
        table = self._open(X)
        with using(self.n_jobs):
            leaves: NDArray[np.integer] = self.model_.vote.cells(table)
        return leaves

    def _open(self, X: Any) -> Table:
        """Read rows as in fit."""
        check_is_fitted(self)
        with using(self.n_jobs), using_gpu(self._on_gpu(X)):
            return self.model_.schema.read(X)

    def _answered(self, X: Any, answer: Callable[[Any, Any], Answer]) -> Answer:
        """Return what follows from scores, as the library of the rows has arrays."""
        table, on_gpu, vote = self._open(X), self._on_gpu(X), self.model_.vote
        with using(self.n_jobs), using_gpu(on_gpu):
            scores = (
                vote.scores_like(table, as_cupy(X))
                if on_gpu and lies_on_gpu(X)
                else vote.scores(table)
            )
        return of_the_library_of(X, answer(self.model_, scores))  # type: ignore[no-any-return]

    def _on_gpu(self, X: Any) -> bool:
        """Check whether rows are scored on the GPU; forests are not."""
        return not self.model_.forest and predict_on_gpu(getattr(self, "device", "cpu"), X)

    def _fitted(self, name: str) -> Model:
        if not hasattr(self, "model_"):
            raise AttributeError(f"{name} is there after fit; this estimator is not fitted yet")
        return self.model_

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = getattr(self, "learner", getattr(self, "estimator", None))
        foreign = isinstance(inner, BaseEstimator)
        tags.input_tags.allow_nan = not foreign or get_tags(inner).input_tags.allow_nan
        tags.input_tags.sparse = True
        return tags


class VoteBase(FittedBase):
    """An estimator whose fit leaves a vote of rules."""

    _repr_mimebundle_ = explaining.bundle
    _decide: Any
    """Returns the classes, or the numbers, that scores stand for."""

    def rules(self) -> list[str]:
        """Return every rule in words, with its vote, in the order of rounds."""
        check_is_fitted(self)
        return self.model_.words()

    @property
    def ledger_(self) -> Ledger:
        """What the loop measured."""
        return self._fitted("ledger_").ledger

    @property
    def votes_(self) -> NDArray[np.float64]:
        """The vote of every rule; 1 where the cells of a rule hold what is added."""
        votes: NDArray[np.float64] = self._fitted("votes_").vote.votes
        return votes

    @property
    def estimators_(self) -> list[Any]:
        """The rules; for black boxes, the fitted classifiers themselves."""
        rules = [(rule, rule.unvalued) for rule in self._fitted("estimators_").vote.hypotheses]
        return [plain.inner if isinstance(plain, BlackBox) else rule for rule, plain in rules]

    @explains_input
    def importances(self, by: str = "gain") -> NDArray[np.float64]:
        """Return each feature's importance, as shares that add up to 1.

        By "gain", what the splits on it won, which is ``feature_importances_``; by "cover", the
        share of the weight of training rows that they divide, tree by tree; by "count", how many
        splits there are.
        """
        if by not in ("gain", "cover", "count"):
            raise ParameterError(
                f"by is {by!r}; it may be 'gain', 'cover' or 'count'", parameter="by"
            )
        model = self._fitted("importances")
        return model.importances() if by == "gain" else model.split_importances(by)

    def shapes(self) -> Shapes:
        """Return the score as a constant plus a step function for each feature, and ``maps``.

        That is what it is for stumps, and for trees that ask for one feature each, as with
        ``interactions=0``. With ``interactions=10``, ten pairs of features have a map besides. By
        the training rows every line of a map has mean 0, so it shows what neither feature adds
        alone. Constant, curves and maps add up to ``decision_function``, or ``predict`` of a
        regressor.
        """
        check_is_fitted(self)
        return self.model_.shapes()

    @takes_rows
    def shap_values(self, X: Any) -> Any:
        """Divide every row's score among the features, exactly, for votes of trees.

        Gives a ``shap.Explanation`` if the package shap is installed, else an object with the same
        attributes: ``values`` (rows, features), ``base_values`` (rows,) with the score of an
        unknown row, ``data`` and ``feature_names``; with more than two classes ``values`` (rows,
        features, classes) and ``base_values`` (rows, classes). Both add up to the scores:
        ``values.sum(axis=1) + base_values`` is ``decision_function(X)``, or ``predict(X)`` of a
        regressor (its logarithm, if the loss has a logarithmic link).
        """
        table = self._open(X)
        with using(self.n_jobs):
            shares, expected = explaining.shap_values(self.model_, table)
            return in_shap_form(self.model_, table, shares, expected)

    def shap_trees(self) -> dict[str, Any]:
        """Return the trees as the dictionary that ``shap.TreeExplainer`` takes as a model.

        ``shap.TreeExplainer(model.shap_trees())`` explains the score: half the log odds of the
        second of two classes, one score for each of more, the prediction of a regressor. Trees on
        numbers only: splits of categories by sets of levels have no such form.
        """
        check_is_fitted(self)
        return shap_trees(self.model_)

    @explains_input
    def partial_dependence(self, features: Any = None, *, top: int = 12) -> Shapes:
        """Return how the mean score changes with each feature, for votes of trees.

        Where a tree asks for another feature, both ways are followed, each by its share of the
        training rows; so no rows are needed. Curves are deviations from the mean score, which is
        the ``intercept``. ``features`` names columns or numbers them; without it, the ``top`` most
        important ones are taken.
        """
        check_is_fitted(self)
        model = self.model_
        explaining.refuse_other_than_trees(model)
        numbers = explaining.numbers_of(features, model, top)
        return partial_dependence(model.vote, model.say(), numbers)

    def _as_one_row(self, x: Any) -> Any:
        """Turn the values of one row, in whatever form they come, into rows that can be opened."""
        return explaining.as_one_row(self.model_, x, type(self).__name__)

    def _explained(self, x: Any, top: int, **asked: Any) -> explanation.Explanation:
        """Explain the score of one row."""
        top = positive_whole("top", top)
        check_is_fitted(self)
        table = self._open(self._as_one_row(x))
        if table.n_rows != 1:
            raise DataError(
                f"x has {table.n_rows} rows; explain takes one row, such as X[:1] or X.iloc[[0]]"
            )
        with using(self.n_jobs):
            said = self._decide(self.model_.vote.scores(table)).tolist()[0]
            return explanation.explain(self.model_, table, said, top, **asked)

    def _model_of(
        self, schema: Schema, bins: Bins | None, vote: Vote, ledger: Ledger, **more: Any
    ) -> Model:
        """Make the model of a vote."""
        ledger.vote_digest = vote_digest(vote)
        return Model(
            classes=getattr(self, "classes_", NO_CLASSES),
            schema=schema,
            vote=vote,
            ledger=ledger,
            bins=bins,
            **more,
        )

    def _repr_html_inner(self) -> str:
        model = getattr(self, "model_", None)
        if model is None or not model.classes.size:
            return explaining.html(self, "")
        certificate = model.certificate
        certified = certificate is not None and certificate.delta > 0
        claim = certificate.claim if certified else "".join(uncertified(model.ledger))
        return explaining.html(self, claim)

    def _boosting(self, X: Any = None) -> AbstractContextManager[None]:
        """Boost on the GPU inside this block, if asked for; "auto" wants a large table."""
        shape = getattr(X, "shape", (0,))
        return using_gpu(use_gpu(self.device, math.prod(shape)), (0, *shape)[-1])


class VoteClassifier(ClassifierMixin, VoteBase):  # type: ignore[misc]
    """A classifier by a vote of rules that shows its rounds, grounds and margins."""

    classes_: NDArray[Any]
    _several_labels = False
    _refusal = ""
    """Why nothing can be certified, if rows are surely copies of others."""

    predict, predict_proba, predict_log_proba = predict, predict_proba, predict_log_proba
    decision_function, score, mistakes = decision_function, score, mistakes
    several_labels_ = property(several_labels)
    _decide, _judged = decide, judged
    _labelled = explaining.labelled

    @takes_rows
    def staged_decision_function(self, X: Any) -> Iterator[Scores]:
        """Return the score after each round."""
        for scores in self.model_.vote.staged(self._open(X)):
            yield scores.copy()

    @takes_rows
    def staged_predict(self, X: Any) -> Iterator[NDArray[Any]]:
        """Return the predictions after each round."""
        for scores in self.staged_decision_function(X):
            yield self._decide(scores)

    @takes_rows
    def staged_predict_proba(self, X: Any) -> Iterator[Doubles]:
        """Return the probabilities after each round."""
        for scores in self.staged_decision_function(X):
            yield self.model_.probabilities(scores)

    @property
    def certificate_(self) -> Certificate:
        """What is certified: the training error, or with ``certify`` the error on new examples."""
        model = self._fitted("certificate_")
        if self._refusal:
            raise NotCertified(self._refusal)
        return training_error(model.ledger) if model.certificate is None else model.certificate

    @takes_rows
    def explain(
        self, x: Any, top: int = 10, *, for_class: Any = None, by: str = "column"
    ) -> explanation.Explanation:
        """Return what each column adds to the score of one row: the ``top``, and the rest.

        ``x`` is a sequence of values, a mapping from column names, or a table of one row. Columns
        of trees have their SHAP values. With ``by="rule"``, and for rules that do not tell what
        each column adds, the rules that voted are given; those that say the same of the row are
        put together. With more than two classes contributions
        are to the score of ``for_class``, or of the class with the largest; with two, to the score
        of the second class, or of the first if that is named.
        """
        return self._explained(x, top, for_class=for_class, by=by)

    @takes_rows
    def permutation_importances(
        self, X: Any, y: Any, repeats: int = 5, random_state: Any = None, metric: Any = "error"
    ) -> Importances:
        """Measure by how much the vote gets worse, in ``metric``, when a column is shuffled.

        ``metric`` may be what ``eval_metric`` may be. A column that no rule asks for has exactly 0.
        """
        measure = metrics.metric(metric, self.model_.ledger.potential)
        sample = self._labelled(X, y)
        return explaining.shuffled(self, sample, measure, repeats, random_state)

    @takes_rows
    def margins(self, X: Any, y: Any) -> Doubles:
        """Return the margin of every row, from -1 to 1; of every label, if a row has several."""
        sample, vote = self._labelled(X, y), self.model_.vote
        naming = self.model_.ledger.multiclass in NAMING
        with using(self.n_jobs):
            scores = vote.scores(sample.table)
        return normalised(margins_of(sample, scores, naming=naming), norm(vote))
