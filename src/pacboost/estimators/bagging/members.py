"""What bagged classifiers and regressors share: parameters, fit, and members of any learner."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from pacboost.errors import ParameterError
from pacboost.estimators.bagging.answers import (
    Classes,
    Counted,
    NumberAnswers,
)
from pacboost.estimators.bagging.fitting import (
    MAX_BINS_OF_TREES,
    Callback,
    MemberKind,
    fit_members,
    score_outside,
)
from pacboost.estimators.fitted.estimator import Estimator
from pacboost.estimators.inputs.parameters import share_or_count
from pacboost.estimators.inputs.rows import fits_rows
from pacboost.fit.rows import LabelledRows
from pacboost.hypotheses.forest import Forest
from pacboost.hypotheses.vote_digest import vote_digest
from pacboost.learners.choose import as_learner
from pacboost.learners.learner import Learner
from pacboost.learners.sklearn import SklearnLearner
from pacboost.models.model import Model, without_rounds
from pacboost.numerics.checks import integer
from pacboost.parallel.cores import in_order, thread_count
from pacboost.samples.sample import Sample, unlabelled
from pacboost.sources.explained_errors import explains_input
from pacboost.training.bags.bagging import Bagging
from pacboost.training.bags.bags import Bags
from pacboost.training.bags.forest import (
    TreeLimits,
    TreeMaker,
    TreeMember,
    copies_of,
    whole_weights,
)
from pacboost.training.bags.members import (
    BagMember,
    BoxMaker,
    CodesMaker,
    Maker,
    RowsMaker,
    for_bags,
)


class Learners(MemberKind):
    """Members of any learner, each fitted on a bag of rows and of features."""

    def set_up(
        self, rows: LabelledRows, targets: NDArray[Any], classes: int, seed: int
    ) -> tuple[Maker, Bags, Counted]:
        """Draw bags, and choose how members are made."""
        asked, table = self.estimator, rows.table
        repeats = bool(asked.bootstrap_features)
        weights, total = None, table.n_rows
        if rows.weights is not None:
            weights = whole_weights(rows.weights)
            total = copies_of(weights) if asked.bootstrap else total
        n_rows = _part("max_samples", asked.max_samples, total, repeats=asked.bootstrap)
        features = _part("max_features", asked.max_features, table.n_columns, repeats=repeats)
        bags = Bags(
            table.n_rows, n_rows, table.n_columns, features, seed, bool(asked.bootstrap), repeats,
            weights,
        )  # fmt: skip
        if weights is not None and bags.hold_all:
            raise ParameterError(
                "sample_weight says how often rows are drawn, and every bag holds all rows "
                f"(n_samples={bags.rows}); set bootstrap=True or max_samples below 1",
                parameter="sample_weight",
            )
        sample = Sample(table, rows.signs, labels=rows.labels)
        learner = None if asked.estimator is None else asked._learner()
        max_bins = integer("max_bins", asked.max_bins)
        some_features = bags.kept < bags.columns or bags.features_replaced
        if learner is None and some_features:
            learner = SklearnLearner(asked._default())
        if isinstance(learner, SklearnLearner):
            return BoxMaker(learner.estimator, sample, targets, classes), bags, None
        if learner is not None and (some_features or not learner.codes):
            return RowsMaker(learner, max_bins, sample, targets, classes), bags, None
        if learner is None and max_bins > MAX_BINS_OF_TREES:
            raise ParameterError(
                f"max_bins is {max_bins}; for trees it may be 2 to {MAX_BINS_OF_TREES}",
                parameter="max_bins",
            )
        bins, counted = self.binned(table, seed, max_bins, rows.weights)
        coded = replace(sample, bins=bins)
        if learner is not None:
            return CodesMaker(learner, coded, targets, classes), bags, counted
        limits = TreeLimits(bags.columns)
        maker = TreeMaker(coded, targets, classes, limits, hard=True, drawn=bags.drawn)
        return maker, bags, counted

    def so_far(self, maker: Maker) -> list[Any]:
        """Return the members of the last fit."""
        return list(self.estimator._members)

    def keep(self, run: Bagging, rows: LabelledRows) -> None:
        """Keep members, and the bins of their codes."""
        self.estimator._members, self.estimator._bins = run.members, run.maker.sample.bins


@dataclass(eq=False, repr=False)
class BaggingEstimator(Estimator):
    """Parameters, fit and members of bagged classifiers and regressors."""

    estimator: Any = None
    n_estimators: int = 100
    _: KW_ONLY
    max_samples: float = 1.0
    max_features: float = 1.0
    bootstrap: bool = True
    bootstrap_features: bool = False
    oob_score: bool | None = None
    settle: int | None = None
    max_bins: int = 255
    warm_start: bool = False
    callbacks: Sequence[Callback] | None = None
    n_jobs: int | None = None
    random_state: Any = None
    verbose: bool | int | str = "auto"

    _leaves_model = False
    _answers_kind: ClassVar[type[Classes] | type[NumberAnswers]]
    """What members predict: classes or numbers."""
    _default: ClassVar[Any]
    """The learner that ``estimator=None`` stands for."""
    _strange: ClassVar[tuple[Callable[[Any], bool], str]]
    """Which learners are refused, and why."""
    _out_of_bag = None

    @fits_rows
    def fit(
        self, X: object, y: object, sample_weight: ArrayLike | None = None, *, copies: str = "draws"
    ) -> Self:
        """Draw bags, and fit a member on each; a row of weight w is drawn like w copies of it.

        ``copies`` says what equal rows are if rows certify, as in ``BoostClassifier.fit``. Ctrl-C
        keeps the members fitted so far, and is raised again. Any other failure leaves the estimator
        unchanged.
        """
        fit_members(self._kind(), X, y, sample_weight, copies)
        return self

    def _kind(self) -> Learners:
        return Learners(self, self._answers_kind(self))

    @property
    def oob_score_(self) -> float:
        """The out-of-bag estimate of ``score``."""
        return score_outside(self)

    @explains_input
    def save(self, path: str | Path, *, remember_rows: bool = True) -> None:
        """Write a vote of trees to a file, which ``pacboost.load`` reads as a random forest.

        The loaded model has the same answers, votes and certificate. Only trees, the default
        members, have a file format; votes of other learners can be pickled. ``remember_rows`` as in
        ``BoostClassifier.save``.
        """
        from pacboost.models.file.format import save

        save(self._as_forest(), path, self._sketches if remember_rows else ())

    def _as_forest(self) -> Model:
        members = self._made()
        trees = [member for member in members if isinstance(member, TreeMember)]
        if len(trees) < len(members):
            raise ParameterError(
                f"estimator is {self.estimator!r} and max_features is {self.max_features!r}; files "
                "hold bags of trees only (estimator=None with all features). Pickle this one, or "
                "fit a BoostClassifier, which saves votes of other rules",
                parameter="estimator",
            )
        one, classes = trees[0], getattr(self, "classes_", np.empty(0))
        forest = Forest(
            one.bins, max(2, one.classes) if classes.size else 0, np.zeros(self.n_features_in_), (),
            one.middle, one.scale, hard=classes.size > 0,
        ).grown(tree.inner for tree in trees)  # fmt: skip
        certificate = getattr(self, "_certificate", None)
        return Model(
            ledger=without_rounds("random_forest"), classes=classes, schema=self._schema,
            vote=forest, bins=one.bins,
            certificate=certificate and certificate.of(vote_digest(forest)),
        )  # fmt: skip

    @property
    def estimators_(self) -> list[Any]:
        """The members: scikit-learn estimators, rules of pacboost, or the one class of a bag."""
        return [member.inner for member in self._made()]

    @property
    def estimators_features_(self) -> list[NDArray[np.intp]]:
        """The numbers of the features that each member uses."""
        every = np.arange(self.n_features_in_)
        return [every if m.features is None else m.features for m in self._made()]

    def _learner(self) -> Learner:
        estimator = self._default() if self.estimator is None else self.estimator
        learner, (strange, why) = for_bags(as_learner(estimator)), self._strange
        if isinstance(learner, SklearnLearner) and strange(learner.estimator):
            raise ParameterError(
                f"estimator is {learner.estimator!r}, which {why}", parameter="estimator"
            )
        return learner

    def _answers(self, X: object) -> Iterator[NDArray[Any]]:
        members = self._made()
        sample = unlabelled(self._schema.read(X), self._bins)
        trees = [member for member in members if isinstance(member, TreeMember)]
        if sample.codes is None:
            _ = sample.rows  # read before several threads ask for them
        elif len(trees) == len(members):
            lines: NDArray[np.uint8] = np.ascontiguousarray(sample.codes.T, dtype=np.uint8)
            yield from in_order(lambda tree: tree.said(lines), trees, thread_count(self.n_jobs))
            return
        yield from in_order(
            lambda member: member.answers(sample), members, thread_count(self.n_jobs)
        )

    def _made(self) -> list[BagMember]:
        check_is_fitted(self)
        members: list[BagMember] = self._members
        return members

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_members")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        learner = self._learner()
        nan = not isinstance(learner, SklearnLearner) or bool(
            get_tags(learner.estimator).input_tags.allow_nan
        )
        tags.input_tags.allow_nan = nan
        tags.input_tags.sparse = True
        return tags


def _part(name: str, value: float, total: int, *, repeats: bool) -> int:
    count = share_or_count(name, value, total, round)
    if count > total and not repeats:
        raise ParameterError(
            f"{name} is {count}, but there are {total} to draw from without replacement; give "
            "fewer, or draw with replacement",
            parameter=name,
        )
    return count
