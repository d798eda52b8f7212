"""What bagged classifiers and regressors share: read the parameters, run, keep what was made."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing
from copy import deepcopy
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted, check_random_state

from pacboost.errors import ParameterError
from pacboost.estimators.bagging.bags import choose_maker, draws, refuse_no_bags, settling
from pacboost.estimators.bagging.kept_bags import Memory
from pacboost.estimators.fitted.training_rows import SketchMixin
from pacboost.estimators.inputs.division import Division
from pacboost.estimators.inputs.examples import Examples
from pacboost.estimators.inputs.parameters import callables, integer, positive_integer
from pacboost.estimators.inputs.tables import open_table
from pacboost.kernels.jit import cores
from pacboost.kernels.threads import using
from pacboost.learners.choose import as_learner
from pacboost.learners.learner import Learner
from pacboost.learners.sklearn import SklearnLearner
from pacboost.samples.bins import Bins
from pacboost.samples.sample import Sample, unlabelled
from pacboost.training.bags.bagging import TORN, Bagging, Made, Outside
from pacboost.training.bags.bags import Bags, in_order
from pacboost.training.bags.forest import TreeMember
from pacboost.training.bags.members import Answers, Member, for_bags
from pacboost.training.bags.out_of_bag import Settling

Callback = Callable[[Made], bool | None]


class BaggingBase(SketchMixin):
    """Fit and predict as classifiers and regressors share it."""

    estimator: Any
    n_estimators: int
    max_samples: float
    max_features: float
    bootstrap: bool
    bootstrap_features: bool
    oob_score: bool | None
    settle: int | None
    max_bins: int
    warm_start: bool
    callbacks: Sequence[Callback] | None
    n_jobs: int | None
    random_state: Any
    verbose: bool

    stopped_: str
    _members: list[Member]
    _bags: Bags
    _memory: Memory
    _outside: Outside | None
    _bins: Bins | None
    _settled: Settling | None
    _torn: bool

    def fit(self, X: Any, y: Any) -> Self:
        """Draw bags, and make a member of each.

        Ctrl-C keeps the members made so far, and is raised again. After any other failure the
        estimator is as it was before.
        """
        before = self.__dict__.copy()
        run: Bagging | None = None
        try:
            with using(self._threads()):
                run, most = self._prepare(X, y)
                self._advance(run, most)
                self._keep(run)
        except BaseException as problem:
            if isinstance(problem, KeyboardInterrupt) and run is not None and run.members:
                run.stopped = "interrupted"
                self._keep(run)
                problem.add_note(
                    f"pacboost: the {len(run.members)} members made before the interrupt are kept; "
                    "the estimator can be used, or go on with warm_start=True"
                )
            else:
                self.__dict__ = before
            raise
        self._warn()
        return self

    @property
    def estimators_(self) -> list[Any]:
        """The members: scikit-learn estimators, rules of ours, or the one class that a bag held."""
        return [member.inner for member in self._made()]

    @property
    def estimators_features_(self) -> list[NDArray[np.intp]]:
        """The features that each member looks at."""
        every = np.arange(self.n_features_in_)  # type: ignore[attr-defined]
        return [every if m.features is None else m.features for m in self._made()]

    @abstractmethod
    def _read(self, X: Any, y: Any) -> Examples:
        """Check rows and what is known of them."""

    @abstractmethod
    def _targets(self, examples: Examples) -> tuple[NDArray[Any], int]:
        """Give what members shall answer, and the number of classes, or 0 for numbers."""

    @abstractmethod
    def _default(self) -> Any:
        """Give the learner that None stands for."""

    @abstractmethod
    def _tell_outside(
        self, targets: NDArray[Any], most: int, bags: Bags, counted: NDArray[np.bool_] | None
    ) -> Outside:
        """Start to count what members say about the rows outside their bags."""

    def _warn(self) -> None:
        """Tell users what they may not expect of a fit that is done."""

    def _divide(self, X: Any, y: Any, seed: int) -> Division:
        """Take rows out for a certificate; here none."""
        return Division(X, y)

    def _watch_apart(self, *, goes_on: bool) -> None:
        """Number this look at the rows set apart, if there are some."""

    @property
    def _certifies_outside(self) -> bool:
        """Whether rows outside the bags shall certify, so that nothing may have looked at them."""
        return False

    def _prepare(self, X: Any, y: Any) -> tuple[Bagging, int]:
        """Check everything, set up the run, and take earlier members over if that is wanted."""
        most = positive_integer("n_estimators", self.n_estimators)
        goes_on = self.warm_start and hasattr(self, "_members")
        seed = int(check_random_state(self.random_state).randint(2**31))
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
            outside = self._tell_outside(targets, most, bags, counted)
        run = Bagging(maker, bags, outside, settling(self))
        if goes_on:
            self._go_on(run, most, memory, earlier)
        self._watch_apart(goes_on=goes_on)
        self._memory = memory
        return run, most

    def _memorise(
        self, learner: Learner | None, examples: Examples, targets: NDArray[Any]
    ) -> Memory:
        """Remember what members are made of."""
        classes: NDArray[Any] = getattr(self, "classes_", np.empty(0))
        certify: str | None = getattr(self, "certify", None)
        return Memory.of(learner, certify, examples.table, targets, classes.tolist())

    def _advance(self, run: Bagging, most: int) -> None:
        with ExitStack() as stack:
            watchers = callables("callbacks", self.callbacks)
            if self.verbose:
                from pacboost.reports.progress import MembersBar

                watchers.append(stack.enter_context(MembersBar(most)))
            steps = run.run(most, self._cores(), watched=bool(watchers))
            for made in stack.enter_context(closing(steps)):
                wishes = [watcher(made) for watcher in watchers]
                if any(wishes):
                    run.stopped = "a callback stopped it"

    def _keep(self, run: Bagging) -> None:
        self._members, self._bags, self._outside = run.members, run.bags, run.outside
        self._bins, self._settled, self._torn = run.maker.sample.bins, run.settling, run.torn
        self.stopped_ = run.stopped

    def _go_on(self, run: Bagging, most: int, memory: Memory, earlier: dict[str, Any]) -> None:
        """Take over the members of the last fit."""
        outside: Any = earlier["_outside"]
        before: Memory = earlier["_memory"]
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
        """Give the answers of every member in order."""
        members = self._made()
        sample = unlabelled(open_table(self, X, reset=False), self._bins)
        trees = [member for member in members if isinstance(member, TreeMember)]
        if sample.codes is None:
            _ = sample.rows  # read before several threads ask for them
        elif len(trees) == len(members):
            lines: NDArray[np.uint8] = np.ascontiguousarray(sample.codes.T, dtype=np.uint8)
            yield from in_order(lambda tree: tree.said(lines), trees, self._cores())
            return
        yield from in_order(lambda member: member.answers(sample), members, self._cores())

    def _made(self) -> list[Member]:
        check_is_fitted(self)
        return self._members

    def _threads(self) -> int | None:
        return None if self.n_jobs is None else integer("n_jobs", self.n_jobs)

    def _cores(self) -> int:
        threads = self._threads()
        count = -1 if threads is None else threads
        return count if count > 0 else max(1, cores() + 1 + count)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_members")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        learner = self._learner()
        nan = not isinstance(learner, SklearnLearner) or bool(
            get_tags(learner.estimator).input_tags.allow_nan
        )
        tags.input_tags.allow_nan = nan
        tags.input_tags.sparse = True
        return tags
