"""What forests of classifiers and regressors share: their parameters and fit."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import ParameterError
from pacboost.estimators.bagging.bags import make_members, refuse_no_bags, rows_to_count, settling
from pacboost.estimators.fitting.atomic import all_or_nothing
from pacboost.estimators.forests.fitted import FittedForest, TreesBefore
from pacboost.estimators.inputs.division import Division, number_of_rows
from pacboost.estimators.inputs.examples import LabelledRows
from pacboost.estimators.inputs.parameters import (
    draw_seed,
    integer,
    positive_integer,
    real_number,
    share_or_count,
    threads,
)
from pacboost.estimators.inputs.tables import open_table
from pacboost.hypotheses.forest import Forest, ForestTree
from pacboost.kernels.cuda.device import in_host_memory, use_gpu
from pacboost.kernels.runtime.threads import using
from pacboost.models.model import ForestModel
from pacboost.samples.bins import Bins, fit_bins
from pacboost.samples.equal_rows import check_copies
from pacboost.samples.sample import Sample
from pacboost.sources.levels import NO_LEVELS
from pacboost.sources.table import SomeRows
from pacboost.training.bags.bagging import (
    TORN,
    TREES_WORTH_A_GPU,
    Bagging,
    GpuTreeMaker,
    Made,
    too_heavy,
)
from pacboost.training.bags.bags import Bags, Settling
from pacboost.training.bags.forest import (
    NO_LIMIT,
    ForestBags,
    TreeLimits,
    TreeMaker,
    content_order,
    whole_weights,
)

# Parameters of forests, as scikit-learn reads them.


def share_of_weight(value: Any) -> float:
    """Read the share of all weight that a leaf has at least."""
    share = float(real_number("min_weight_fraction_leaf", value))
    if not 0 <= share <= 0.5:
        raise ParameterError(f"min_weight_fraction_leaf is {share}; it must lie in [0, 0.5]")
    return share


def tries(value: Any, columns: int) -> int:
    """Read how many features are drawn at a split."""
    if value is None:
        return columns
    if isinstance(value, str):
        if value not in ("sqrt", "log2"):
            raise ParameterError(
                f"max_features is {value!r}; it may be 'sqrt', 'log2', a share, a number or None"
            )
        root = math.sqrt(columns) if value == "sqrt" else math.log2(columns)
        return max(1, int(root))
    words = "'sqrt', 'log2' or None"
    return min(columns, share_or_count("max_features", value, columns, int, words))


Callback = Callable[[Made], bool | None]
MOST_BINS = 255
MOST_COPIES = 64
"""Bags are as large as the sum of weights, if it is no more than so many times the rows."""


@dataclass(eq=False, repr=False)
class ForestBase(FittedForest):
    """How forests are grown; classifiers and regressors define what trees predict."""

    n_estimators: int = 1000
    _: KW_ONLY
    max_features: Any = "sqrt"
    min_samples_leaf: float = 1
    min_samples_split: float = 2
    min_weight_fraction_leaf: float = 0.0
    max_depth: int | None = None
    bootstrap: bool = True
    max_samples: float | None = None
    max_bins: int = 255
    categorical_features: Any = "from_dtype"
    oob_score: bool = False
    settle: int | None = None
    warm_start: bool = False
    callbacks: Sequence[Callback] | None = None
    random_state: Any = None
    n_jobs: int | None = None
    device: str = "cpu"
    verbose: bool | int | str = "auto"

    _kind = "random_forest"
    _random_cuts = False

    _equal_rows = "auto"
    """The ``copies`` of the last fit."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, copies: str = "auto") -> Self:
        """Grow the trees; a row of weight w counts as w copies of it would.

        ``copies``, the word for equal rows where rows certify, is that of BoostClassifier.fit.

        Ctrl-C keeps the trees grown so far, and is raised again. After any other failure the
        estimator is as it was before.
        """
        y, sample_weight = in_host_memory(y), in_host_memory(sample_weight)
        self._equal_rows = check_copies(copies)
        with all_or_nothing(self) as attempt, using(threads(self.n_jobs)):
            examples, run, rows = self._prepare(X, y, sample_weight)
            attempt.keep = lambda: self._keep_interrupted(run, examples, rows)
            make_members(self, run, self.n_estimators)
            self._keep(run, examples, rows)
        self._warn()
        return self

    def _warn(self) -> None:
        """Warn of what users may not expect of a fit that is done."""

    @abstractmethod
    def _read(self, X: Any, y: Any, sample_weight: Any, seed: int) -> LabelledRows:
        """Check the rows and their labels or targets."""

    @abstractmethod
    def _targets(self, examples: LabelledRows) -> tuple[NDArray[Any], int]:
        """Return what trees learn to predict, and the number of classes, or 0 for regression."""

    @abstractmethod
    def _ask_outside(
        self, targets: NDArray[Any], bags: Bags, counted: NDArray[np.bool_] | None
    ) -> Any:
        """Start to collect the predictions of trees on the rows outside their bags."""

    @abstractmethod
    def _keep_outside(self, outside: Any, examples: LabelledRows, rows: int) -> None:
        """Set the attributes that begin with oob; fit was given ``rows`` rows."""

    def _divide(self, X: Any, y: Any, sample_weight: Any, seed: int) -> Division:
        """Hold rows out for a certificate; a regressor holds none out."""
        return Division(X, y)

    def _number_look(self, *, goes_on: bool) -> None:
        """Number this evaluation on the held-out rows, if there are some."""

    @property
    def _answer_names(self) -> NDArray[Any]:
        """What to call what trees vote for in a file; a regressor's trees give numbers."""
        return np.empty(0)

    @property
    def _labels(self) -> int:
        """How many labels a row may have at once; 0 where it has one."""
        return 0 if self._sets is None else self._sets.shape[1]

    @property
    def _asked(self) -> tuple[Any, ...]:
        """The parameters of the certificate; a regressor has none."""
        return ()

    @property
    def _certifies_outside(self) -> bool:
        """Whether rows outside the bags certify; then nothing else may use them."""
        return False

    def _prepare(self, X: Any, y: Any, sample_weight: Any) -> tuple[LabelledRows, Bagging, int]:
        """Check everything, and set up the run; also give the number of rows that fit was given."""
        most = positive_integer("n_estimators", self.n_estimators)
        goes_on = self.warm_start and hasattr(self, "model_")
        seed = draw_seed(self.random_state)
        seed = self._seed_before() if goes_on else seed
        earlier = self.__dict__.copy()
        divided = self._divide(X, y, sample_weight, seed)
        apart = divided.apart
        examples = self._read(divided.X, divided.y, divided.weights(sample_weight), seed)
        more = [] if apart is None else [open_table(self, apart.X, reset=False)]
        self._remember(examples.table, *more)
        rows = number_of_rows(X)
        examples = replace(examples, numbers=divided.rows).counting()
        targets, classes = self._targets(examples)
        bins, counted = self._bins(examples, seed)
        sample = Sample(examples.table, examples.signs, bins=bins, labels=examples.labels)
        bags = self._bags(sample, targets, examples.weights, seed)
        if examples.weights is not None and not self.bootstrap:
            sample = replace(sample, base=examples.weights)
        maker = self._maker(sample, classes, bags.drawn)(
            sample, targets, classes, self._limits(examples),
            drawn=bags.drawn, hard=self._certifies_outside,
        )  # fmt: skip
        outside = None
        if self.oob_score or self.settle is not None or self._certifies_outside:
            refuse_no_bags(bags)
            outside = self._ask_outside(targets, bags, counted)
        run = Bagging(maker, bags, outside, settling(self))
        self._planned = earlier["_planned"] if goes_on else most
        self._memory = TreesBefore.of(run, examples.weights, self._asked)
        if goes_on:
            self._go_on(run, most, earlier)
        self._number_look(goes_on=goes_on)
        return examples, run, rows

    def _maker(self, sample: Sample, classes: int, drawn: int) -> type[TreeMaker]:
        """Choose where trees are grown."""
        many = self.n_estimators >= TREES_WORTH_A_GPU
        if not use_gpu(self.device, sample.n_rows * sample.table.n_columns if many else 0):
            return TreeMaker
        helps = self.device == "cuda" or not too_heavy(sample, classes, drawn)
        return GpuTreeMaker if helps else TreeMaker

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
            or not np.array_equal(model.classes, self._answer_names)
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

    def _keep(self, run: Bagging, examples: LabelledRows, rows: int) -> None:
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
        self.model_ = ForestModel(
            self._kind, self._answer_names, forest.grown(_taken(trees)), table.names,
            getattr(self, "levels_", NO_LEVELS), labels=self._labels,
        )  # fmt: skip
        self._outside, self._settled, self.stopped_ = run.outside, run.settling, run.stopped
        self._torn = run.torn
        for name in ("oob_score_", "oob_decision_function_", "oob_prediction_", "out_of_bag_"):
            self.__dict__.pop(name, None)
        if run.outside is not None:
            self._keep_outside(run.outside, examples, rows)

    def _keep_interrupted(self, run: Bagging, examples: LabelledRows, rows: int) -> str | None:
        """Keep the trees grown before Ctrl-C, and say so."""
        if not run.members:
            return None
        run.stopped = "interrupted"
        self._keep(run, examples, rows)
        return (
            f"the {len(self.model_.forest)} trees grown before the interrupt are kept; the "
            "estimator can be used, or go on with warm_start=True"
        )

    def _bins(self, examples: LabelledRows, seed: int) -> tuple[Bins, NDArray[np.bool_] | None]:
        """Bin the features; also give the rows that may be counted out of bag, if not all.

        Bins made from all rows depend on rows outside the bags. So where those certify, some rows
        define the bins and are not counted: as many as in bagging (bagging/bags.py).
        """
        size = integer("max_bins", self.max_bins)
        if not 2 <= size <= MOST_BINS:
            raise ParameterError(f"max_bins is {size}; it may be 2 to {MOST_BINS}")
        if not self._certifies_outside:
            return fit_bins(examples.table, size, examples.weights), None
        counted = rows_to_count(examples.n_rows, seed)
        return fit_bins(SomeRows(examples.table, np.flatnonzero(~counted)), size), counted

    def _bags(
        self, sample: Sample, targets: NDArray[Any], weights: NDArray[np.float64] | None, seed: int
    ) -> Bags:
        """Return the bags; a row is drawn as often as if it were repeated by its weight."""
        share: Any = 1.0 if self.max_samples is None else self.max_samples
        assert sample.codes is not None
        order = content_order(sample.codes.astype(np.uint8, copy=False), targets)
        whole, rows = None, sample.n_rows
        if weights is not None and self.bootstrap:
            whole = whole_weights(weights)
            rows = int(whole.sum()) if whole.sum() <= MOST_COPIES * rows else rows
        drawn = share_or_count("max_samples", share, rows, math.ceil)
        if drawn > rows:
            raise ParameterError(
                f"max_samples is {drawn}, but there are {rows} rows; give fewer, or None for all"
            )
        return ForestBags(
            order, sample.table.n_columns, seed, drawn,
            replacement=bool(self.bootstrap), weights=whole,
        )  # fmt: skip

    def _limits(self, examples: LabelledRows) -> TreeLimits:
        rows, columns = examples.n_rows, examples.table.n_columns
        deepest = self.max_depth
        return TreeLimits(
            tries(self.max_features, columns),
            share_or_count("min_samples_leaf", self.min_samples_leaf, rows, math.ceil),
            max(2, share_or_count("min_samples_split", self.min_samples_split, rows, math.ceil)),
            NO_LIMIT if deepest is None else positive_integer("max_depth", deepest),
            share_of_weight(self.min_weight_fraction_leaf),
            self._random_cuts,
        )


def _taken(members: list[Any]) -> Iterator[ForestTree]:
    """Take trees from the end of a list, so that none is held twice while they are put together."""
    while members:
        yield members.pop().inner
