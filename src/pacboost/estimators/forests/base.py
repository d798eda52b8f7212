"""What forests of classifiers and regressors share: grow, ask out of bag, keep, and answer."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing
from copy import deepcopy
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_random_state

from pacboost.errors import ParameterError
from pacboost.estimators.bagging.bags import refuse_no_bags, rows_to_count, settling
from pacboost.estimators.forests.fitted import FittedForest
from pacboost.estimators.forests.kept_trees import Memory
from pacboost.estimators.forests.limits import portion, share_of_weight, tries
from pacboost.estimators.inputs.division import Division
from pacboost.estimators.inputs.examples import Examples
from pacboost.estimators.inputs.parameters import callables, integer, positive_integer
from pacboost.estimators.inputs.tables import open_table
from pacboost.hypotheses.forest import Forest, ForestTree
from pacboost.kernels.threads import using
from pacboost.models.file.forest_format import ForestModel
from pacboost.samples.bins import Bins, fit_bins
from pacboost.samples.sample import Sample
from pacboost.sources.levels import NO_LEVELS
from pacboost.sources.table import SomeRows
from pacboost.training.bags.bagging import TORN, Bagging, Made
from pacboost.training.bags.bags import Bags
from pacboost.training.bags.forest import NO_LIMIT, TreeLimits, TreeMaker
from pacboost.training.bags.forest_bags import ForestBags, content_order, whole_weights
from pacboost.training.bags.out_of_bag import Settling

Callback = Callable[[Made], bool | None]
MOST_BINS = 255
MOST_COPIES = 64
"""Bags are as large as the sum of weights, if it is no more than so many times the rows."""


class ForestMixin(FittedForest):
    """Fit and what comes after it; what trees answer is said by classifiers and regressors."""

    n_estimators: int
    max_features: Any
    min_samples_leaf: Any
    min_samples_split: Any
    min_weight_fraction_leaf: float
    max_depth: int | None
    bootstrap: bool
    max_samples: Any
    max_bins: int
    oob_score: bool
    settle: int | None
    warm_start: bool
    callbacks: Sequence[Callback] | None
    random_state: Any
    verbose: bool

    stopped_: str
    _memory: Memory
    _outside: Any
    _settled: Settling | None
    _torn: bool
    _planned: int
    """How many trees the first of the fits that went on from one another asked for."""
    _kind: str
    _random_cuts = False

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Grow the trees; a row of weight w counts as w copies of it would.

        Ctrl-C keeps the trees grown so far, and is raised again. After any other failure the
        estimator is as it was before.
        """
        before = self.__dict__.copy()
        run: Bagging | None = None
        try:
            with using(self._threads()):
                examples, run, rows = self._prepare(X, y, sample_weight)
                self._advance(run)
                self._keep(run, examples, rows)
        except BaseException as problem:
            if isinstance(problem, KeyboardInterrupt) and run is not None and run.members:
                run.stopped = "interrupted"
                self._keep(run, examples, rows)
                problem.add_note(
                    f"pacboost: the {len(self.model_.forest)} trees grown before the interrupt are "
                    "kept; the estimator can be used, or go on with warm_start=True"
                )
            else:
                self.__dict__ = before
            raise
        return self

    @abstractmethod
    def _read(self, X: Any, y: Any, sample_weight: Any, seed: int) -> Examples:
        """Check rows and what is known of them."""

    @abstractmethod
    def _targets(self, examples: Examples) -> tuple[NDArray[Any], int]:
        """Give what trees shall answer, and the number of classes, or 0 for numbers."""

    @abstractmethod
    def _tell_outside(
        self, targets: NDArray[Any], bags: Bags, counted: NDArray[np.bool_] | None
    ) -> Any:
        """Start to count what trees say about the rows outside their bags."""

    @abstractmethod
    def _keep_outside(self, outside: Any, examples: Examples, rows: int) -> None:
        """Set the attributes that begin with oob; ``rows`` were handed in."""

    def _divide(self, X: Any, y: Any, sample_weight: Any, seed: int) -> Division:
        """Take rows out for a certificate; here none."""
        return Division(X, y)

    def _watch_apart(self, *, goes_on: bool) -> None:
        """Number this look at the rows set apart, if there are some."""

    @property
    def _asked(self) -> tuple[Any, ...]:
        """What the certificate is to be; nothing for numbers."""
        return ()

    @property
    def _certifies_outside(self) -> bool:
        """Whether rows outside the bags shall certify, so that nothing may have looked at them."""
        return False

    def _prepare(self, X: Any, y: Any, sample_weight: Any) -> tuple[Examples, Bagging, int]:
        """Check everything, and set up the run; also give how many rows were handed in."""
        most = positive_integer("n_estimators", self.n_estimators)
        goes_on = self.warm_start and hasattr(self, "model_")
        seed = int(check_random_state(self.random_state).randint(2**31))
        seed = self._seed_before() if goes_on else seed
        earlier = self.__dict__.copy()
        divided = self._divide(X, y, sample_weight, seed)
        apart = divided.apart
        weights = sample_weight if apart is None else None
        examples = self._read(divided.X, divided.y, weights, seed)
        more = [] if apart is None else [open_table(self, apart.X, reset=False)]
        self._remember(examples.table, *more)
        rows = examples.n_rows + (0 if apart is None else apart.n_rows)
        examples = replace(examples, numbers=divided.rows).counting()
        targets, classes = self._targets(examples)
        bins, counted = self._bins(examples, seed)
        sample = Sample(examples.table, examples.signs, bins=bins, labels=examples.labels)
        bags = self._bags(sample, targets, examples.weights, seed)
        if examples.weights is not None and not self.bootstrap:
            sample = replace(sample, base=examples.weights)
        maker = TreeMaker(
            sample, targets, classes, self._limits(examples),
            drawn=bags.drawn, hard=self._certifies_outside,
        )  # fmt: skip
        outside = None
        if self.oob_score or self.settle is not None or self._certifies_outside:
            refuse_no_bags(bags)
            outside = self._tell_outside(targets, bags, counted)
        run = Bagging(maker, bags, outside, settling(self))
        self._planned = earlier["_planned"] if goes_on else most
        self._memory = Memory.of(run, examples.weights, self._asked)
        if goes_on:
            self._go_on(run, most, earlier)
        self._watch_apart(goes_on=goes_on)
        return examples, run, rows

    def _seed_before(self) -> int:
        if not hasattr(self, "_memory"):
            raise ParameterError(
                "warm_start goes on from a fit, but this forest was read from a file, which keeps "
                "no record of its bags; set warm_start=False to start afresh"
            )
        return self._memory.seed

    def _go_on(self, run: Bagging, most: int, earlier: dict[str, Any]) -> None:
        """Take over the trees of the last fit."""
        model: ForestModel = earlier["model_"]
        forest, maker = model.forest, run.maker
        assert isinstance(maker, TreeMaker)
        assert maker.sample.bins is not None
        self._memory.refuse_others(earlier["_memory"])
        if earlier["_torn"]:
            raise ParameterError(f"{TORN} with warm_start=False")
        if (
            model.levels != getattr(self, "levels_", NO_LEVELS)
            or not np.array_equal(model.classes, getattr(self, "classes_", np.empty(0)))
            or maker.sample.bins.differ(forest.bins)
        ):
            raise ParameterError(
                "warm_start goes on with the same rows, but classes, categories or bins have "
                "changed; set warm_start=False to start afresh"
            )
        if most < len(forest):
            raise ParameterError(
                f"n_estimators is {most}, but the last fit has {len(forest)} trees already; "
                "give at least as many, or set warm_start=False"
            )
        run.outside = deepcopy(earlier["_outside"])
        run.members = [maker.member(tree) for tree in forest.trees()]
        settled: Settling | None = earlier["_settled"]
        if run.settling and settled and run.settling.patience == settled.patience:
            run.settling = deepcopy(settled)

    def _advance(self, run: Bagging) -> None:
        most = self.n_estimators
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

    def _keep(self, run: Bagging, examples: Examples, rows: int) -> None:
        """Turn the trees into a forest."""
        maker, table = run.maker, examples.table
        assert isinstance(maker, TreeMaker)
        bins = maker.sample.bins
        assert bins is not None
        forest = Forest(
            bins, maker.classes, np.zeros(table.n_columns), (), maker.middle, maker.scale,
            hard=self._certifies_outside,
        )  # fmt: skip
        if self.warm_start and hasattr(self, "model_"):
            forest = self.model_.forest
        trees = run.members[: len(forest) - 1 if len(forest) else None : -1]
        run.members = []
        classes: NDArray[Any] = getattr(self, "classes_", np.empty(0))
        self.model_ = ForestModel(
            self._kind, classes, forest.grown(_taken(trees)), table.names,
            getattr(self, "levels_", NO_LEVELS),
        )  # fmt: skip
        self._outside, self._settled, self.stopped_ = run.outside, run.settling, run.stopped
        self._torn = run.torn
        for name in ("oob_score_", "oob_decision_function_", "oob_prediction_", "out_of_bag_"):
            self.__dict__.pop(name, None)
        if run.outside is not None:
            self._keep_outside(run.outside, examples, rows)

    def _bins(self, examples: Examples, seed: int) -> tuple[Bins, NDArray[np.bool_] | None]:
        """Cut the features; also tell which rows may be counted out of bag, if not all.

        Bins of all rows have looked at rows outside the bags. So where those shall certify, some
        rows give the bins and are not counted: as many as for other bags (bag_setup.py).
        """
        size = integer("max_bins", self.max_bins)
        if not 2 <= size <= MOST_BINS:
            raise ParameterError(f"max_bins is {size}; it may be 2 to {MOST_BINS}")
        if not self._certifies_outside:
            return fit_bins(examples.table, size, examples.weights), None
        counted = rows_to_count(examples.n_rows, seed)
        return fit_bins(SomeRows(examples.table, np.flatnonzero(~counted)), size), counted

    def _bags(
        self,
        sample: Sample,
        targets: NDArray[Any],
        weights: NDArray[np.float64] | None,
        seed: int,
    ) -> Bags:
        """Say how bags are drawn: as if a row came as often as its weight says."""
        share: Any = 1.0 if self.max_samples is None else self.max_samples
        assert sample.codes is not None
        order = content_order(sample.codes.astype(np.uint8, copy=False), targets)
        whole, rows = None, sample.n_rows
        if weights is not None and self.bootstrap:
            whole = whole_weights(weights)
            rows = int(whole.sum()) if whole.sum() <= MOST_COPIES * rows else rows
        drawn = portion("max_samples", share, rows)
        if drawn > rows:
            raise ParameterError(
                f"max_samples is {drawn}, but there are {rows} rows; give fewer, or None for all"
            )
        return ForestBags(
            order, sample.table.n_columns, seed, drawn,
            replacement=bool(self.bootstrap), weights=whole,
        )  # fmt: skip

    def _limits(self, examples: Examples) -> TreeLimits:
        rows, columns = examples.n_rows, examples.table.n_columns
        deepest = self.max_depth
        return TreeLimits(
            tries(self.max_features, columns),
            portion("min_samples_leaf", self.min_samples_leaf, rows),
            max(2, portion("min_samples_split", self.min_samples_split, rows)),
            NO_LIMIT if deepest is None else positive_integer("max_depth", deepest),
            share_of_weight(self.min_weight_fraction_leaf),
            self._random_cuts,
        )


def _taken(members: list[Any]) -> Iterator[ForestTree]:
    """Take trees from the end of a list, so that none is held twice while they are put together."""
    while members:
        yield members.pop().inner
