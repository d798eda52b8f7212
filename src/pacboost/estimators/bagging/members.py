"""What bagged classifiers and regressors share: parameters, fit, and members of any learner."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from pacboost.errors import ParameterError
from pacboost.estimators.bagging import outside
from pacboost.estimators.bagging.answers import (
    Classes,
    NumberAnswers,
)
from pacboost.estimators.bagging.fitting import (
    Callback,
    fit_members,
)
from pacboost.estimators.bagging.learners import Learners
from pacboost.estimators.fitted.estimator import Estimator
from pacboost.estimators.inputs.rows import fits_rows
from pacboost.hypotheses.forest import Forest
from pacboost.hypotheses.vote_digest import vote_digest
from pacboost.learners.choose import as_learner
from pacboost.learners.learner import Learner
from pacboost.learners.sklearn import SklearnLearner
from pacboost.models.model import Model, without_rounds
from pacboost.parallel.cores import in_order, thread_count
from pacboost.samples.sample import unlabelled
from pacboost.sources.explained_errors import explains_input
from pacboost.training.bags.forest import (
    TreeMember,
)
from pacboost.training.bags.members import (
    BagMember,
    for_bags,
)


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

    @property
    def oob_score_(self) -> float:
        """The out-of-bag estimate of ``score``."""
        return outside.oob_score(self)

    @fits_rows
    def fit(
        self, X: object, y: object, sample_weight: ArrayLike | None = None, *, copies: str = "draws"
    ) -> Self:
        """Draw bags, and fit a member on each; a row of weight w is drawn like w copies of it.

        ``copies`` says what equal rows are if rows certify, as in ``BoostClassifier.fit``. Ctrl-C
        keeps the members fitted so far, and is raised again. Any other failure leaves the estimator
        unchanged.
        """
        fit_members(Learners(self, self._answers_kind(self)), X, y, sample_weight, copies)
        return self

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
            one.bins, max(2, one.classes) if classes.size else 0,
            np.zeros(self._schema.n_columns), (), one.middle, one.scale, hard=classes.size > 0,
        ).grown(tree.inner for tree in trees)  # fmt: skip
        # it names the forest of the file, whose answers are those of the bag that it was made for
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
        every = np.arange(self.schema_.n_columns)
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
