"""How every estimator that boosts fits: set a run up, advance it, keep what it found."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from pacboost.boosters.adaboost import AdaBoost
from pacboost.boosters.booster import Booster
from pacboost.errors import DataError, ParameterError
from pacboost.estimators.boosting.automatic import Settings, can_measure, steepness
from pacboost.estimators.boosting.certifying import apart_digest, without_shared
from pacboost.estimators.fitted.vote import NO_CLASSES, VoteBase
from pacboost.estimators.fitting import parameters
from pacboost.estimators.fitting.attempt import all_or_nothing
from pacboost.estimators.fitting.callbacks import (
    CallbackSupportMixin,
    TaskOfRounds,
    has_callbacks,
    with_callbacks,
)
from pacboost.estimators.fitting.continuing import (
    RunRecord,
    digest,
    refuse,
    refuse_fewer,
    written_parameters,
)
from pacboost.estimators.inputs.division import Apart
from pacboost.estimators.inputs.examples import (
    LabelledRows,
    has_one_class,
    split_by_class,
    training_sample,
    validation_sample,
)
from pacboost.estimators.inputs.parameters import callables, progress_after
from pacboost.hypotheses.shapes import Counts
from pacboost.hypotheses.stump import StumpRule
from pacboost.hypotheses.tree import TreeRule
from pacboost.hypotheses.vote import Vote
from pacboost.kernels.runtime import compile_helper
from pacboost.kernels.runtime.threads import using
from pacboost.learners.learner import FunctionLearner, Learner
from pacboost.learners.tree import Tree
from pacboost.ledgers.ledger import Round
from pacboost.models.calibration import TEMPERATURE, Calibration
from pacboost.models.model import Model
from pacboost.numerics.checks import integer, real_number
from pacboost.numerics.memory import in_host_memory
from pacboost.samples import sample as fingerprint
from pacboost.samples.equal_rows import check_copies
from pacboost.samples.sample import Sample
from pacboost.samples.sketch import Sketch
from pacboost.sources.table import Table
from pacboost.training.metrics import Metric
from pacboost.training.run.early_stopping import EarlyStopping
from pacboost.training.run.loop import Run
from pacboost.training.run.pairs import best_pairs

Pair = tuple[Any, Any]


def read_sets(X_val: Any, y_val: Any, eval_set: Any) -> dict[str, Pair]:
    """Return all sets by name; the first one decides when to stop, the others are only measured.

    >>> read_sets(None, None, [("rows", "labels"), ("more rows", "more labels")])
    {'validation_0': ('rows', 'labels'), 'validation_1': ('more rows', 'more labels')}
    """
    if eval_set is None:
        return {"validation_0": (X_val, y_val)}
    if X_val is not None or y_val is not None:
        raise ParameterError(
            "eval_set and X_val (or y_val) were both given; put all validation rows into eval_set, "
            "first those that stop early"
        )
    if not isinstance(eval_set, Mapping | list | tuple):
        raise ParameterError(
            f"eval_set is a {type(eval_set).__name__}; it must be a list of pairs (X, y), or a "
            "mapping from names to such pairs"
        )
    if not eval_set:
        raise ParameterError("eval_set is empty; give at least one pair (X, y), or leave it out")
    if isinstance(eval_set, Mapping):
        return {str(name): _pair(repr(name), own) for name, own in eval_set.items()}
    single = isinstance(eval_set, tuple) and len(eval_set) == 2
    if single and not all(isinstance(own, tuple) for own in eval_set):
        eval_set = [eval_set]  # one pair, as LightGBM takes it
    pairs = enumerate(eval_set)
    return {f"validation_{number}": _pair(f"number {number}", own) for number, own in pairs}


def _pair(which: str, own: Any) -> Pair:
    if not isinstance(own, list | tuple) or len(own) != 2:
        raise ParameterError(
            f"set {which} of eval_set is not a pair (X, y): give rows and their labels or numbers"
        )
    X, y = own
    if X is None or y is None:
        raise ParameterError(f"set {which} of eval_set holds None; a pair is (X, y)")
    return X, in_host_memory(y)


Callback = Callable[[Round], bool | None]

TRIALS = 5
"""With quality="best", so many parts of the rows are held back, one after the other."""
MORE_ROUNDS = 1.1
"""A refit on all rows runs so many times the rounds that were best with a part held back."""
WORTH_IT = 0.05
"""The rows of a trial are boosted on in the end if they are at least such a share of all."""
REFITTED = "; validation loss was best at round {}, and the model was refitted on all rows"


LINES = {"square": (0.5, 1.0), "logit": (1.0,)}
"""How much of straight lines is tried, besides none (training/run/straight_lines.py); with
quality="best", as much as for numbers."""
STEPS = ("learning_rate", "l2")
TREES = ("max_leaves", "max_depth", "min_leaf_rows", "max_features")
"""Parameters that may be automatic, of boosters and of trees."""
ROUNDS_PER_LINE = 10
"""Without so many rounds for every column there are no lines."""


@dataclass(frozen=True)
class Recipe:
    """The booster, the learner and the number of rounds of a fit."""

    learner: Learner
    booster: Booster[Any]
    rounds: int
    resample: int = 0
    subsample: float = 1.0
    least: int = 0
    """Early stopping leaves at least so many rounds."""
    usual: Settings | None = None
    """The automatic values, where there are some."""
    pairs: int | None = None
    """How many pairs of columns are chosen that may interact; None where that is not asked."""

    larger: Learner | None = None
    """The same learner of larger trees, which a trial may prefer."""

    def rivals(self, rows: LabelledRows, quality: str) -> list[Recipe]:
        """Return what a trial compares with: larger trees, and straight lines first."""
        alone = replace(self, larger=None)
        larger = [] if self.larger is None else [replace(alone, learner=self.larger)]
        return larger + alone._with_lines(rows, quality)

    def _with_lines(self, rows: LabelledRows, quality: str) -> list[Recipe]:
        """Return the same with straight lines first, where trees are as free as lines are."""
        booster: Any = self.booster
        table, learner = rows.table, self.learner
        free = isinstance(learner, Tree) and not learner.monotone and table.entries is None
        if booster.lines or not free or self.rounds < ROUNDS_PER_LINE * table.n_columns:
            return []
        kept = 1 - parameters.ramp(rows.n_rows)
        least = max(self.least, table.n_columns + 1)
        like = "square" if quality == "best" and booster.name in LINES else booster.name
        shares = [kept * share for share in LINES.get(like, ()) if kept]
        return [replace(self, booster=replace(booster, lines=s), least=least) for s in shares]

    def settings(self) -> dict[str, Any]:
        """Return what is used of the parameters that may be automatic."""
        pairs: dict[str, Any] = {} if self.pairs is None else {"interactions": []}
        made = {"n_estimators": self.rounds, "subsample": self.subsample, **pairs}
        steps = {n: getattr(self.booster, n) for n in STEPS if hasattr(self.booster, n)}
        return made | steps | tree_settings(self.learner)


def tree_settings(learner: Any) -> dict[str, Any]:
    """Return what a learner of trees has of the parameters that may be automatic."""
    return {name: getattr(learner, name) for name in TREES if hasattr(learner, name)}


@dataclass(frozen=True, eq=False)
class PreparedFit:
    """A run that is ready to start, and the rows for its certificate and calibration."""

    run: Run
    rounds: int
    trained: LabelledRows
    apart: Apart | None = None
    """Rows that nothing has looked at, to count mistakes on."""
    calibrating: LabelledRows | None = None
    calibration: Calibration | None = None
    """What a trial has found, where no rows are held back to calibrate with."""
    slope: Callable[[Vote], float] | None = None
    """Finds how steep probabilities are by the rows that were held back, where there are some."""
    again: Callable[[int], PreparedFit] | None = None
    """Sets up the same run on all rows, held-back ones included, for so many rounds."""
    rivals: tuple[Callable[[], PreparedFit], ...] = ()
    """Other runs on the same rows, of which the best on validation rows is taken. One that is
    better and has rivals of its own meets those in place of the rest."""
    with_pairs: Callable[[Vote], PreparedFit] | None = None
    """Sets up the run that follows a vote of single columns, with the pairs that it lacks most."""
    repeats: tuple[Callable[[], PreparedFit], ...] = ()
    """The same run on other rows: rounds and slope are then means."""


def _loss(work: PreparedFit) -> float:
    return math.inf if work.run.watch is None else work.run.watch.loss


class BoostingFit(CallbackSupportMixin, VoteBase):  # type: ignore[misc]
    """How classifiers and regressors fit; ``_prepare`` and ``_keep`` differ between them."""

    quality: str = "auto"
    early_stopping: Any = False
    validation_fraction: float = 0.1
    _patience = 20
    """How many rounds without progress end a run, where ``early_stopping`` is not a number."""
    _watching: NDArray[np.bool_] | None = None
    """The rows to hold back in place of drawn ones, where others know which belong together."""
    eval_metric: Any = "error"
    max_bins: int = 255
    warm_start: bool = False
    callbacks: Sequence[Callback] | None = None
    n_jobs: int | None = None
    device: str = "cpu"
    verbose: bool | int | str = "auto"

    _equal_rows = "auto"
    """The ``copies`` of the last fit."""
    _keeps_sparse = True
    """Whether a sparse table is boosted on as it is, if the learner reads codes."""
    _record: RunRecord
    _rules = compile_helper.TREES
    """What a second process compiles for, on the first fit of an installation."""

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        X_val: Any = None,
        y_val: Any = None,
        eval_set: Any = None,
        copies: str = "auto",
    ) -> Self:
        """Boost.

        ``X_val`` and ``y_val`` are validation rows, by which ``early_stopping`` stops. Several sets
        of them are given as ``eval_set``: a list of pairs (X, y), or a mapping from names to pairs.
        The first pair stops early; the others are only measured. ``validation_curves_`` then has
        ``eval_metric`` after every round, of all sets by name ("validation_0", "validation_1" and
        so on in a list), also of rounds that early stopping has dropped in the end.

        ``copies`` says what equal rows are: "draws", "distinct" (copies of one example), or "auto",
        which finds out if rows certify (docs/certificates.md, "Equal rows").

        Ctrl-C keeps the rounds done so far on the estimator, and is raised again. After any other
        failure the estimator is as it was before.

        With scikit-learn 1.9 and later, ``set_callbacks`` takes its callbacks, such as ProgressBar.
        """
        sets = read_sets(X_val, y_val, eval_set)
        self._equal_rows = check_copies(copies)
        boost = with_callbacks(type(self)._fit) if has_callbacks(self) else type(self)._fit
        boost(self, X, y, sample_weight, sets)
        return self

    def _fit(self, X: Any, y: Any, sample_weight: Any, sets: dict[str, Pair]) -> None:
        (name, first), *others = sets.items()
        told: dict[str, Any] = {}
        if has_callbacks(self):
            weights = {} if sample_weight is None else {"sample_weight": sample_weight}
            told = {"X": X, "y": y, "metadata": weights}
            task = self._init_callback_context(max_subtasks=None)
            task.call_on_fit_task_begin(estimator=self, **told)
        with all_or_nothing(self) as attempt, using(self.n_jobs), self._boosting(X):
            compile_helper.start_for_a_person(self._rules)
            X_val, y_val = self._given(first[0]), first[1]
            work = self._prepare(self._given(X), y, sample_weight, X_val, y_val)
            work = self._watch_also(work, name, others)
            attempt.keep = lambda: self._keep_interrupted(work)
            self._advance(work, told)
            rivals = list(work.rivals)
            while rivals:
                other = rivals.pop(0)()
                self._advance(other, told)
                if _loss(other) < _loss(work):
                    work = self._watch_also(other, name, [])
                    rivals = list(other.rivals) or rivals
                    self.settings_ |= tree_settings(other.run.learner)
            if work.with_pairs is not None:
                work = self._watch_also(work.with_pairs(work.run.vote()), name, others)
                self._advance(work, told)
            trials = [work]
            for repeat in work.repeats:
                trials.append(repeat())
                self._advance(trials[-1], told)
            slopes = [own.slope(own.run.vote()) for own in trials if own.slope is not None]
            found = None
            if slopes:
                found = Calibration(TEMPERATURE, (), sum(slopes) / len(slopes))
            if work.again is not None:
                done = [len(own.run.done) for own in trials]
                best, most = round(sum(done) / len(done)), work.rounds
                work = work.again(min(most, math.ceil(MORE_ROUNDS * best)))
                work = replace(work, calibration=found)
                self._advance(work, told)
                if work.rounds < most:
                    work.run.stopped += REFITTED.format(best)
            else:
                work = replace(work, calibration=found)
            self._await_sketches()
            self._keep(work)
            self._keep_record(work)
        if told:
            task.call_on_fit_task_end(estimator=self, **told, reconstruction_attributes={})
        self._warn(work.run)

    def _watch_also(
        self, work: PreparedFit, first: str, others: list[tuple[str, Pair]]
    ) -> PreparedFit:
        """Measure further validation rows, too, and keep the curves of all."""
        for name, (X, y) in others:
            given = self._given(X)
            rows = self._read_validation(given, y)
            if work.apart is not None:
                work = replace(work, apart=without_shared(self, work.apart, given))
            self._await_sketches()
            (table,) = self._seen([given], [rows.table])
            self._sketches = (*self._sketches, Sketch.of(table))
            work.run.watch_also(name, validation_sample(rows, work.run.sample))
        self.__dict__.pop("validation_curves_", None)
        curves = work.run.validation_curves(first)
        if curves:
            self.validation_curves_ = curves
        return work

    def _given(self, X: Any) -> Any:
        """Read rows so far that they can be divided, where they have to be."""
        return X

    def _seen(self, given: Sequence[Any], tables: Iterable[Table]) -> Iterable[Table]:
        """Return what is remembered of rows: their tables, or what is made of texts."""
        return tables

    @abstractmethod
    def _prepare(self, X: Any, y: Any, sample_weight: Any, X_val: Any, y_val: Any) -> PreparedFit:
        """Check everything, and set up the run."""

    @abstractmethod
    def _keep(self, work: PreparedFit) -> None:
        """Turn the finished rounds into a model."""

    @abstractmethod
    def _read_validation(self, X: Any, y: Any) -> LabelledRows:
        """Read the validation rows that the user gave."""

    @abstractmethod
    def _metric(self, booster: Booster[Any]) -> Metric:
        """Return the metric that is measured on validation rows."""

    @abstractmethod
    def _warn(self, run: Run) -> None:
        """Warn of a model that is of little use."""

    def _begin(
        self,
        recipe: Recipe,
        everyone: LabelledRows,
        learned: LabelledRows,
        held: LabelledRows | None,
        seed: int,
        *,
        trial: bool = False,
        may_refit: bool = True,
        drawn: Callable[[int], tuple[LabelledRows, LabelledRows | None] | None] | None = None,
        trusted: float = 0.0,
        same_rows: Sample | None = None,
        **kept: Any,
    ) -> PreparedFit:
        """Set up the run, and if rows are held back to find the number of rounds the next one.

        The rows of a ``trial`` are always boosted on again with all others. ``kept``
        holds what certifies and calibrates. With quality="best"
        other parts of the rows are ``drawn`` for further trials. A slope that held-back rows find
        is ``trusted`` so far. ``same_rows`` holds those learned from, where they were read before.
        """
        bins = integer("max_bins", self.max_bins)
        classes = getattr(self, "classes_", NO_CLASSES)

        def work(
            recipe: Recipe,
            rows: LabelledRows,
            held: LabelledRows | None,
            like: Any = None,
            *,
            goes_on: bool = True,
        ) -> PreparedFit:
            sample, codes = same_rows if rows is learned else None, recipe.learner.codes
            rows = rows.counting()
            if sample is None:
                sample = training_sample(rows, classes, bins, codes=codes, bins_from=like)
            if has_one_class(sample):
                constant = StumpRule.constant(int(sample.signs[0, 0]))
                always = FunctionLearner(lambda X, y, weights: constant)
                recipe = replace(recipe, learner=always, booster=AdaBoost())
            run = Run(
                sample,
                recipe.learner,
                recipe.booster,
                seed=seed,
                resample=recipe.resample,
                subsample=recipe.subsample,
                watch=self._watch(held, sample, recipe),
            )
            if goes_on:
                fingerprint.begin(sample)
            if self.warm_start and goes_on and hasattr(self, "model_"):
                self._resume(run, recipe, kept.get("calibrating"), kept.get("apart"))
            slope = None
            if trusted and held is not None and can_measure(held.counting(), everyone):
                slope = partial(steepness, held.counting(), trusted)
            return PreparedFit(run, recipe.rounds, rows, slope=slope, **kept)

        refits = trial or (may_refit and held is not None and self._refits(everyone))
        if trial and held is not None and held.n_rows < WORTH_IT * everyone.n_rows:
            refits = False
        first = work(recipe, learned, held, goes_on=not refits)
        same = {"trial": trial, "may_refit": may_refit, "trusted": trusted, **kept}

        def with_pairs(single: Vote) -> PreparedFit:
            sample, table = first.run.sample, everyone.table
            rows = validation_sample(everyone.counting(), sample)
            pairs = best_pairs(recipe.pairs or 0, single, recipe.booster, rows)
            self.settings_["interactions"] = [(table.name(i), table.name(j)) for i, j in pairs]
            sets = [*((j,) for j in range(table.n_columns)), *pairs]
            learner: Any = recipe.learner
            mixed = replace(recipe, learner=replace(learner, interactions=sets), pairs=0)
            return self._begin(mixed, everyone, learned, held, seed, drawn=drawn, **same)

        if recipe.pairs and not has_one_class(first.run.sample):
            first = replace(first, with_pairs=with_pairs)

        def again(rounds: int) -> PreparedFit:
            best, share = len(first.run.done), self._kept_share(everyone.n_rows)
            longer = replace(recipe, rounds=rounds - round(share * (rounds - best)))
            second = work(longer, everyone, None, first.trained if share else None)
            if share:
                second.run.keep_first_rounds(first.run, round(share * best))
            return second

        if not refits:
            return first
        known = {"same_rows": first.run.sample, **same}
        rivals = [
            partial(self._begin, other, everyone, learned, held, seed, drawn=drawn, **known)
            for other in recipe.rivals(everyone, self.quality)
        ]
        parts = range(1, TRIALS) if drawn is not None and self.quality == "best" else ()
        repeats = [
            partial(self._begin, recipe, everyone, *rows, seed, **same)
            for number in parts
            if drawn is not None and (rows := drawn(seed + number)) is not None
        ]
        return replace(first, again=again, rivals=tuple(rivals), repeats=tuple(repeats))

    def _kept_share(self, rows: int) -> float:
        """Return the share of the rounds on some rows that boosting on all of them begins with."""
        return 0.0

    def _boosted(self, run: Run, **more: Any) -> Model:
        """Turn the finished rounds into a model."""
        sample, seen = run.sample, fingerprint.fingerprint(run.sample)
        bins, ledger = sample.bins, run.ledger()
        if getattr(self, "settings_", {}).get("interactions"):
            groups = run.learner.interactions  # type: ignore[attr-defined]
            pairs = [own for own in groups if len(own) == 2]
            more["counts"] = Counts.of(sample, sorted({j for pair in pairs for j in pair}))
        return self._model_of(sample.table, bins, run.vote(), ledger, fingerprint=seen, **more)

    def _hold_back(
        self, examples: LabelledRows, X_val: Any, y_val: Any, seed: int
    ) -> tuple[LabelledRows, LabelledRows | None]:
        """Return the training rows, and the validation rows if there are some."""
        stops = self._stops_early(examples)
        if (X_val is None) != (y_val is None):
            given, absent = ("X_val", "y_val") if y_val is None else ("y_val", "X_val")
            raise ParameterError(f"{given} was given without {absent}; give both or neither")
        if X_val is not None:
            return examples, self._read_validation(X_val, y_val)
        if stops and self._watching is not None:
            return examples.divided(self._watching)
        if stops:
            share = real_number("validation_fraction", self.validation_fraction)
            if self.early_stopping == "auto" and 0 < share < 1:
                share = self._spared(examples.n_rows, share)
            return split_by_class(examples, "validation_fraction", share, seed)
        return examples, None

    def _stops_early(self, examples: LabelledRows) -> bool:
        return parameters.stops_early(self.early_stopping, self._spared(examples.n_rows, 1.0))

    def _spared(self, rows: int, share: float) -> float:
        """Return what early_stopping="auto" holds back, where many rows can spare ``share``."""
        return share * parameters.ramp(rows)

    def _refits(self, examples: LabelledRows) -> bool:
        """Whether the rows held back to find the number of rounds are boosted on after all."""
        return not self.warm_start and self.early_stopping == "refit"

    def _watch(
        self, held: LabelledRows | None, training: Sample, recipe: Recipe
    ) -> EarlyStopping | None:
        measure = self._metric(recipe.booster)
        patience = parameters.patience(self)
        if held is None:
            return None
        if held.weights is not None and not held.weights.any():
            if self.early_stopping == "auto":
                return None
            raise DataError(
                "all rows held back for validation have a sample_weight of 0; give more rows a "
                "weight, or give validation rows of your own (X_val)"
            )
        watched = validation_sample(held.counting(), training)
        return EarlyStopping(watched, measure, patience, recipe.least)

    def _resume(
        self, run: Run, recipe: Recipe, calibrating: LabelledRows | None, apart: Apart | None
    ) -> None:
        """Continue the run that left the model, if this is the same one."""
        earlier, record = self.model_, self._record
        ledger, seen = earlier.ledger, fingerprint.fingerprint(run.sample)
        rows = (seen, self._rows_of(run, calibrating, apart)) == (earlier.fingerprint, record.rows)
        refuse([] if rows else ["rows, or what was chosen by them,"])
        refuse([] if ledger.vote_digest == record.vote else ["the votes"])
        refuse_fewer(recipe.rounds, len(ledger), "rounds")
        whole = ledger.revised or not ledger.cells
        cast = [entry.vote if whole else 1.0 for entry in ledger.rounds]
        bins = run.sample.bins
        rules = [  # trees share the bins of their sample
            replace(rule, bins=bins) if isinstance(rule, TreeRule) and bins is not None else rule
            for rule in run.booster.parted(earlier.vote).hypotheses
        ]
        run.resume(rules, cast, ledger.rounds)

    def _rows_of(self, run: Run, calibrating: LabelledRows | None, apart: Apart | None) -> str:
        """Return a digest of what the fingerprint of the training rows leaves open.

        That is classes, levels, bins, the other rows, and settings that depend on rows.
        """
        sample, bins = run.sample, run.sample.bins
        others = [] if run.watch is None else [run.watch.sample]
        if calibrating is not None:
            others.append(validation_sample(calibrating, sample))
        numbers = {n: v for n, v in vars(run.booster).items() if not callable(v)}
        words = [
            getattr(self, "classes_", NO_CLASSES).tolist(), sample.table.levels, self._reading,
            run.booster.name, numbers, run.learner.name, tree_settings(run.learner),
        ]  # fmt: skip
        parts = [repr(words), *map(fingerprint.fingerprint, others)]
        if apart is not None and self.warm_start:  # else they are not looked at again
            parts += [apart_digest(self, apart)]
        return digest(*parts, *(() if bins is None else bins.thresholds))

    def _keep_record(self, work: PreparedFit) -> None:
        self._record = replace(
            self._record,
            parameters=written_parameters(self),  # learners may count their calls
            rows=self._rows_of(work.run, work.calibrating, work.apart),
            vote=self.model_.ledger.vote_digest,
        )

    def _advance(self, work: PreparedFit, told: dict[str, Any]) -> None:
        run, rounds = work.run, work.rounds
        left = rounds - len(run.done)
        with ExitStack() as stack:
            watchers = callables("callbacks", None if work.again else self.callbacks)
            if told:
                tasks = TaskOfRounds(self, left, lambda: {"model_": self._boosted(run)}, **told)
                watchers.append(stack.enter_context(tasks))
            one_by_one = bool(watchers)
            after = progress_after(self.verbose)
            if after is not None:
                from pacboost.reports.progress import RoundsBar

                bar = RoundsBar(rounds, loss=run.sample.targets is not None, after=after)
                watchers.append(stack.enter_context(bar))
            for done in islice(run, left) if one_by_one else run.up_to(rounds):
                wishes = [watcher(done.entry) for watcher in watchers]
                if any(wishes):
                    run.stopped = "a callback stopped it"
        run.stopped = run.stopped or f"all {rounds} rounds are done"
        run.keep_best()

    def _keep_interrupted(self, work: PreparedFit) -> str | None:
        """Keep the rounds done before Ctrl-C, and say so."""
        if not work.run.done:
            return None
        work.run.stopped = "interrupted"
        self._await_sketches()
        self._keep(work)
        self._keep_record(work)
        counted = work.apart is not None and not self.warm_start
        goes_on = "" if counted else ", or go on with warm_start=True"
        return (
            f"the {len(work.run.done)} rounds done before the interrupt are kept; the estimator "
            f"can be used{goes_on}"
        )
