"""Schapire's first booster, a recursive majority of three rules, as a scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from rich.status import Status
from scipy import sparse
from sklearn.utils.multiclass import type_of_target

from pacboost.bounds import filtering
from pacboost.bounds.certificate import Certificate
from pacboost.errors import DataError, NoEdgeWarning, TooFewRowsWarning, warn
from pacboost.estimators.fitted.classifier import Classifier
from pacboost.estimators.fitting.attempt import all_or_nothing
from pacboost.estimators.inputs.aliases import accepts_aliases
from pacboost.estimators.inputs.documented import documented
from pacboost.estimators.inputs.parameters import draw_seed, progress_after
from pacboost.estimators.inputs.rows import fits_rows
from pacboost.fit.noticing import counted
from pacboost.fit.targets import read_labels, warn_of_one_class
from pacboost.kernels.threads import using
from pacboost.learners.choose import as_learner
from pacboost.models.schema import Schema
from pacboost.numerics.checks import integer, positive_whole, real_number
from pacboost.reports.progress import LiveView, error_console
from pacboost.samples.bins import Bins
from pacboost.sources.oracles.arrays import ArrayOracle
from pacboost.sources.oracles.choose import as_oracle
from pacboost.sources.oracles.oracle import AbstractOracle
from pacboost.theory.committee import empty_ledger, importances_of_members, keep_members
from pacboost.theory.distinct_rows import take_rows
from pacboost.theory.recursion import Record, Recursion
from pacboost.theory.three_oracles import Source, look
from pacboost.training.filtering.rows import RowEncoder


class RecursionView(LiveView):
    """A live view of the recursion, a context that is called with the record after every call."""

    def __init__(self, after: float) -> None:
        super().__init__(after)
        self._display: Any = Status("the first examples are drawn", console=error_console())

    def __call__(self, record: Record) -> None:
        self._begin_if_due()
        last = record.nodes[-1]
        self._display.update(
            f"{record.draws:,} examples, {len(record.nodes)} calls; the last, on level "
            f"{last.level} of {record.levels}, returned {last.returned}, error ≤ {last.upper:.3f}"
        )


Opened = tuple[AbstractOracle, ArrayLike | None, AbstractOracle | None]
"""A source, its classes if known, and the source of rows after its end."""


@accepts_aliases
@documented
@dataclass(eq=False, repr=False)
class ThreeWayBoost(Classifier):
    """The first booster: a majority of three rules, learned recursively from three oracles.

    Take three rules with error at most x, the second on examples half of which the first gets
    wrong, the third on examples on which the two disagree. Their majority has an error of at most
    g(x) = 3x² - 2x³ < x. Each may be a majority itself, down to rules of the weak learner (Schapire
    1990). A call returns early if a rule is good enough. All rules are tested on fresh examples, so
    with probability 1 - delta the error of the result is at most epsilon for every learner.

    It needs many examples, so prefer a source (``fit_source``). Arrays are drawn from again after
    their last row; then there is no certificate.

    Parameters
    ----------
    learner : str, learner, scikit-learn classifier or function, default="stump"
        The weak learner: "stump" or "tree", or an object such as ``Tree(max_leaves=8)``; see
        AdaBoostClassifier for black boxes.
    edge : float, default=0.2
        The correlation 1 - 2·error that the learner promises under every distribution. If it gives
        less, the run stops and reports the measured edge.
    epsilon : float, default=0.1
        The error to reach.
    delta : float, default=0.05
        The probability with which that may fail.
    max_draws : int or None, default=5000000
        The maximum number of examples; the best rule so far is kept.

    Attributes
    ----------
    report_ : Record
        Every call of the recursion.
    certificate_ : Certificate
        The bound epsilon on the error on new examples. Raises NotCertified if epsilon was not
        reached, or if examples were drawn twice.

    Examples
    --------
    >>> from pacboost.theory.worlds import Intervals
    >>> world = Intervals(((0.25, 0.6),))
    >>> model = ThreeWayBoost(edge=0.3, epsilon=0.05, random_state=0).fit_source(world)
    >>> world.risk(model.predict) < 0.05, round(model.certificate_.value, 6)
    (True, 0.05)
    """

    learner: Any = "stump"
    edge: float = 0.2
    epsilon: float = 0.1
    delta: float = 0.05
    _: KW_ONLY
    max_draws: int | None = 5_000_000
    max_bins: int = 255
    random_state: Any = None
    n_jobs: int | None = None
    verbose: bool | int | str = "auto"

    certify = None
    _records_rounds = False

    @fits_rows
    def fit(self, X: ArrayLike, y: ArrayLike, *, copies: str = "draws") -> Self:
        """Draw from rows in memory: each once, and then with replacement.

        With ``copies="distinct"``, one of several equal rows is used: see ``BoostClassifier.fit``.
        """
        seed = draw_seed(self.random_state)

        def rows() -> Opened:
            self._schema, table = Schema.learn(X, self._column_options())
            labels = read_labels(y, table.n_rows)
            matrix: Any = X
            values = matrix.tocsr() if sparse.issparse(X) else table.rows()
            divided = take_rows(self, table, values, labels, copies)
            spare = ArrayOracle(divided.X, divided.y, seed, replace=True)
            return ArrayOracle(divided.X, divided.y, seed), np.unique(labels), spare

        return self._fit(rows, seed)

    @fits_rows
    def fit_source(
        self,
        source: Any,
        target: str | None = None,
        classes: ArrayLike | None = None,
        **options: Any,
    ) -> Self:
        """Draw from an oracle or another source.

        Parameters
        ----------
        source : world, iterator of batches, function, files or database
            See ``FilterBoostClassifier.fit_source``.
        target : str, default=None
            The column of the labels.
        classes : array-like of two labels, default=None
            Both labels, if finding them would need a pass over the source.
        **options
            Options of the source.
        """
        seed = draw_seed(self.random_state)

        def opened() -> Opened:
            self.forget_rows()  # those of an earlier fit
            self._examples = None
            oracle = as_oracle(source, target, seed, **options)
            self._schema = Schema(oracle.n_columns, oracle.names, owner=type(self).__name__)
            return oracle, classes, None

        return self._fit(opened, seed)

    def _fit(self, opened: Callable[[], Opened], seed: int) -> Self:
        """Run the recursion; Ctrl-C keeps the best rule, other failures keep the earlier fit."""
        with all_or_nothing(self) as attempt:
            source, classes, spare = opened()
            with using(self.n_jobs), source:
                run, bins = self._set_up(source, seed, classes, spare)
                attempt.keep = lambda: self._keep_interrupted(run, source, bins)
                if self.classes_.size > 1:
                    after = progress_after(self.verbose)
                    with nullcontext() if after is None else RecursionView(after) as run.watch:
                        run.run()
                self._finish(run, source, bins)
        self._warn(source, ran_out=run.ran_out)
        return self

    def _keep_interrupted(
        self, run: Recursion, source: AbstractOracle, bins: Bins | None
    ) -> str | None:
        if run.rule is None:
            return None
        self._finish(run, source, bins)
        return "the best rule before the interrupt is kept"

    def _set_up(
        self,
        oracle: AbstractOracle,
        seed: int,
        classes: ArrayLike | None,
        spare: AbstractOracle | None,
    ) -> tuple[Recursion, Bins | None]:
        learner = as_learner(self.learner, "learner")
        bins, labels = look(oracle, integer("max_bins", self.max_bins), codes=learner.codes)
        classes = oracle.classes() if classes is None else classes
        self.classes_ = np.unique(np.asarray(labels if classes is None else classes))
        if self.classes_.size > 2:
            raise DataError(
                "Only binary classification is supported. The type of the target is "
                f"{type_of_target(labels)}: there are {self.classes_.size} classes. For more, use "
                "ThreeLearnerBoost."
            )
        max_draws = None if self.max_draws is None else positive_whole("max_draws", self.max_draws)
        edge, epsilon = real_number("edge", self.edge), real_number("epsilon", self.epsilon)
        delta = real_number("delta", self.delta)
        source = Source(oracle, RowEncoder(self.classes_, bins), max_draws, spare)
        return Recursion(source, learner, edge, epsilon, delta, seed), bins

    def _finish(self, run: Recursion, oracle: AbstractOracle, bins: Bins | None) -> None:
        record = run.record
        self.report_ = record
        certificate: Certificate | None = None
        # confidence sequences are for independent draws, and one that came before is none
        if self.classes_.size > 1 and not record.stopped and not record.again:
            certificate = filtering.recursive_certificate(
                record.targets[0], record.levels, record.delta, record.draws, oracle.order.assumes
            )
            certificate = counted(certificate, self._examples)
        name = as_learner(self.learner, "learner").name
        ledger = empty_ledger("three_way", name, record.draws, 1, self._ended(record))
        rules = [] if run.rule is None else [run.rule]
        keep_members(self, rules, ledger, bins, certificate=certificate)

    def _ended(self, record: Record) -> str:
        if self.classes_.size == 1:
            return "there is one class only"
        if record.stopped or not record.again:
            return record.stopped or f"epsilon = {record.epsilon:g} is reached"
        return (
            f"of the {record.draws:,} examples that were drawn {record.again:,} had come before, "
            f"and tests on such say nothing of new ones; {record.draws:,} rows would have done, or "
            "a source that does not end (fit_source)"
        )

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """The importances of the members, averaged."""
        return importances_of_members(self._fitted("feature_importances_"))

    @property
    def _refusal(self) -> str:  # type: ignore[override]
        return (
            f"the tests did not show an error of at most epsilon: {self.model_.ledger.stopped}. "
            "Certify it by held-out rows instead (pacboost.certify)"
        )

    def _warn(self, oracle: AbstractOracle, *, ran_out: bool) -> None:
        record = self.report_
        warn_of_one_class(self.classes_, certified=False)
        if record.stopped:
            warn(
                f"{record.stopped}. The best rule is kept, and nothing is certified; promise a "
                "smaller edge, use a richer learner, or allow more examples",
                TooFewRowsWarning if ran_out else NoEdgeWarning,
            )
        elif record.again:
            rows = oracle.n_rows if oracle.n_rows is not None else record.draws - record.again
            warn(
                f"{rows:,} rows are too few: {record.draws:,} examples were needed, so rows were "
                "drawn again, and nothing is certified",
                TooFewRowsWarning,
            )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags
