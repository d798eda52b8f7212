"""What bagged classifiers and regressors share: their parameters, fit and predictions."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from pacboost.errors import ParameterError
from pacboost.estimators.bagging.bags import (
    BagsBefore,
    choose_maker,
    draws,
    make_members,
    refuse_no_bags,
    settling,
)
from pacboost.estimators.fitted.training_rows import RemembersRows
from pacboost.estimators.fitting.atomic import all_or_nothing
from pacboost.estimators.inputs.division import Division
from pacboost.estimators.inputs.examples import LabelledRows
from pacboost.estimators.inputs.parameters import draw_seed, positive_integer, threads
from pacboost.estimators.inputs.tables import open_table
from pacboost.kernels.runtime.threads import using
from pacboost.learners.choose import as_learner
from pacboost.learners.learner import Learner
from pacboost.learners.sklearn import SklearnLearner
from pacboost.samples.equal_rows import check_copies
from pacboost.samples.sample import Sample, unlabelled
from pacboost.training.bags.bagging import TORN, Bagging, Made, Outside
from pacboost.training.bags.bags import Bags, in_order
from pacboost.training.bags.forest import TreeMember
from pacboost.training.bags.members import Answers, Member, for_bags

Callback = Callable[[Made], bool | None]


@dataclass(eq=False, repr=False)
class BaggingBase(RemembersRows, BaseEstimator):  # type: ignore[misc]
    """How bagged classifiers and regressors fit and predict."""

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

    _equal_rows = "auto"
    """The ``copies`` of the last fit."""

    def fit(self, X: Any, y: Any, *, copies: str = "auto") -> Self:
        """Draw bags, and fit a member on each.

        ``copies``, the word for equal rows where rows certify, is that of BoostClassifier.fit.

        Ctrl-C keeps the members fitted so far, and is raised again. After any other failure the
        estimator is as it was before.
        """
        self._equal_rows = check_copies(copies)
        with all_or_nothing(self) as attempt, using(threads(self.n_jobs)):
            run, most = self._prepare(X, y)
            attempt.keep = lambda: self._keep_interrupted(run)
            make_members(self, run, most)
            self._keep(run)
        self._warn()
        return self

    @property
    def estimators_(self) -> list[Any]:
        """The members: scikit-learn estimators, rules of pacboost, or the one class of a bag."""
        return [member.inner for member in self._made()]

    @property
    def estimators_features_(self) -> list[NDArray[np.intp]]:
        """The numbers of the features that each member uses."""
        every = np.arange(self.n_features_in_)
        return [every if m.features is None else m.features for m in self._made()]

    @abstractmethod
    def _read(self, X: Any, y: Any) -> LabelledRows:
        """Check the rows and their labels or targets."""

    @abstractmethod
    def _targets(self, examples: LabelledRows) -> tuple[NDArray[Any], int]:
        """Return what members learn to predict, and the number of classes, or 0 for regression."""

    @abstractmethod
    def _default(self) -> Any:
        """Return the learner that ``estimator=None`` stands for."""

    @abstractmethod
    def _ask_outside(
        self, targets: NDArray[Any], most: int, bags: Bags, counted: NDArray[np.bool_] | None
    ) -> Outside:
        """Start to collect the predictions of members on the rows outside their bags."""

    def _warn(self) -> None:
        """Warn of what users may not expect of a fit that is done."""

    def _divide(self, X: Any, y: Any, seed: int) -> Division:
        """Hold rows out for a certificate; a regressor holds none out."""
        return Division(X, y)

    def _number_look(self, *, goes_on: bool) -> None:
        """Number this evaluation on the held-out rows, if there are some."""

    @property
    def _certifies_outside(self) -> bool:
        """Whether rows outside the bags certify; then nothing else may use them."""
        return False

    def _prepare(self, X: Any, y: Any) -> tuple[Bagging, int]:
        """Check everything, set up the run, and with ``warm_start`` take over earlier members."""
        most = positive_integer("n_estimators", self.n_estimators)
        goes_on = self.warm_start and hasattr(self, "_members")
        seed = draw_seed(self.random_state)
        seed = self._bags.seed if goes_on else seed
        earlier = self.__dict__.copy() if goes_on else {}
        divided = self._divide(X, y, seed)
        examples = replace(self._read(divided.X, divided.y), numbers=divided.rows)
        apart = divided.apart
        more = [] if apart is None else [open_table(self, apart.X, reset=False)]
        self._remember(examples.table, *more)
        targets, classes = self._targets(examples)
        bags = draws(self, examples.table, seed)
        sample = Sample(examples.table, examples.signs, labels=examples.labels)
        learner = None if self.estimator is None else self._learner()
        memory = self._memorise(learner, examples, targets)
        maker, counted = choose_maker(self, learner, sample, targets, classes, bags)
        outside = None
        asked = self.oob_score or self.settle is not None or self._certifies_outside
        if asked:
            refuse_no_bags(bags)
        if asked or (self.oob_score is None and not bags.hold_all):
            outside = self._ask_outside(targets, most, bags, counted)
        run = Bagging(maker, bags, outside, settling(self))
        if goes_on:
            self._go_on(run, most, memory, earlier)
        self._number_look(goes_on=goes_on)
        self._memory = memory
        return run, most

    def _memorise(
        self, learner: Learner | None, examples: LabelledRows, targets: NDArray[Any]
    ) -> BagsBefore:
        """Remember the learner and the rows that members are fitted on."""
        classes: NDArray[Any] = getattr(self, "classes_", np.empty(0))
        certify: str | None = getattr(self, "certify", None)
        return BagsBefore.of(learner, certify, examples.table, targets, classes.tolist())

    def _keep(self, run: Bagging) -> None:
        self._members, self._bags, self._outside = run.members, run.bags, run.outside
        self._bins, self._settled, self._torn = run.maker.sample.bins, run.settling, run.torn
        self.stopped_ = run.stopped

    def _keep_interrupted(self, run: Bagging) -> str | None:
        """Keep the members made before Ctrl-C, and say so."""
        if not run.members:
            return None
        run.stopped = "interrupted"
        self._keep(run)
        return (
            f"the {len(run.members)} members made before the interrupt are kept; the estimator "
            "can be used, or go on with warm_start=True"
        )

    def _go_on(self, run: Bagging, most: int, memory: BagsBefore, earlier: dict[str, Any]) -> None:
        """Take over the members of the last fit."""
        outside: Any = earlier["_outside"]
        before: BagsBefore = earlier["_memory"]
        if earlier["_torn"]:
            raise ParameterError(f"{TORN} with warm_start=False")
        if run.bags != earlier["_bags"] or (run.outside is None) != (outside is None):
            raise ParameterError(
                "warm_start goes on with the same rows and parameters, but the number of rows, "
                "features or draws, oob_score, certify or holdout has changed; set "
                "warm_start=False to start afresh"
            )
        memory.refuse_others(before)
        members: list[Member] = earlier["_members"]
        if most < len(members):
            raise ParameterError(
                f"n_estimators is {most}, but the last fit has {len(members)} members already; "
                "give at least as many, or set warm_start=False"
            )
        bins, cuts = run.maker.sample.bins, earlier["_bins"]
        if bins is not None and (cuts is None or bins.differ(cuts)):
            raise ParameterError(
                "the bins are not those of the last fit: max_bins has changed. Keep it, or set "
                "warm_start=False to start afresh"
            )
        run.members, run.outside = list(members), deepcopy(outside)
        if run.settling is not None and earlier["_settled"] is not None:
            run.settling = deepcopy(earlier["_settled"])

    def _learner(self) -> Learner:
        return for_bags(as_learner(self._default() if self.estimator is None else self.estimator))

    def _answers(self, X: Any) -> Iterator[Answers]:
        """Return the predictions of every member, in order."""
        members = self._made()
        sample = unlabelled(open_table(self, X, reset=False), self._bins)
        trees = [member for member in members if isinstance(member, TreeMember)]
        if sample.codes is None:
            _ = sample.rows  # read before several threads ask for them
        elif len(trees) == len(members):
            lines: NDArray[np.uint8] = np.ascontiguousarray(sample.codes.T, dtype=np.uint8)
            yield from in_order(lambda tree: tree.said(lines), trees, threads(self.n_jobs))
            return
        yield from in_order(lambda member: member.answers(sample), members, threads(self.n_jobs))

    def _made(self) -> list[Member]:
        check_is_fitted(self)
        return self._members

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
