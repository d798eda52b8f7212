"""AdaBoost behind the scikit-learn API."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import get_tags
from sklearn.utils.validation import check_random_state

from pacboost.boosters.adaboost import AdaBoost
from pacboost.bounds.training import training_error
from pacboost.errors import NoEdgeWarning, OneClassWarning, ParameterError
from pacboost.estimators import door, prepare
from pacboost.estimators.certifying import CertifyingMixin
from pacboost.estimators.vote import VoteClassifier
from pacboost.hypotheses.stump import StumpRule
from pacboost.kernels.threads import using
from pacboost.learners.choose import as_learner
from pacboost.learners.function import FunctionLearner
from pacboost.learners.learner import Learner
from pacboost.ledgers.ledger import Round
from pacboost.models import format as model_file
from pacboost.models.model import Model
from pacboost.numerics.exact import MOST_VOTE
from pacboost.samples.sample import Sample
from pacboost.training.loop import Run
from pacboost.training.metrics import metric
from pacboost.training.watch import Watch

Callback = Callable[[Round], bool | None]


@dataclass(frozen=True, eq=False)
class Work:
    """A run set up, and the rows that its certificate needs."""

    run: Run
    rounds: int
    trained: prepare.Examples
    apart: prepare.Examples | None


class AdaBoostClassifier(CertifyingMixin, VoteClassifier):
    """AdaBoost for two classes, with the proof of its training error.

    Without an estimator it boosts decision stumps on binned features: fast, exact in its sums, the
    same for any number of threads, and at home with missing values (NaN).

    Parameters
    ----------
    estimator : None, learner, scikit-learn classifier or function, default=None
        The weak learner. None means stumps. A scikit-learn classifier is fitted with sample weights
        where it takes them, on a weighted draw elsewhere. A function is called as
        ``f(X, y, weights)`` with y in {-1, +1} and returns a function of rows.
    n_estimators : int, default=50
        The most rounds to run.
    learning_rate : float, default=1.0
        Scales every vote. The certificate stays valid: it uses what each round really did.
    random_state : int, RandomState or None, default=None
        Seed for resampling, for the validation split, and for weak learners that use chance.
    resample : bool or int, default=False
        Train the weak learner on a draw from D_t (as many rows as there are, or this many) instead
        of on the weighted sample. The error and the update use the full sample either way.
    max_bins : int, default=255
        The most bins of values per feature, up to 65,535. A feature with no more distinct values
        (told apart as 32-bit floats) is represented exactly.
    max_vote : float or None, default=None
        Caps every vote.
    early_stopping : bool, default=False
        Hold ``validation_fraction`` of the rows back, stop when ``eval_metric`` on them has not
        improved by more than ``tol`` for ``n_iter_no_change`` rounds, and keep the best round.
        Passing ``X_val`` to fit does the same on rows of your own. All validation rows count
        alike, whatever their weight.
    validation_fraction : float, default=0.1
    n_iter_no_change : int, default=10
    tol : float, default=0.0
    eval_metric : str or function, default="error"
        "error", "log_loss", "exponential_loss", "auc", or a function of (signs, scores) that gets
        smaller as the fit gets better.
    certify : "holdout", "train" or None, default=None
        What ``certificate_`` speaks of. None: the training error, without assumptions.
        "holdout": the error on new examples, by a random share of the rows that is held back.
        "train": the error on new examples, by the rows it was trained on: that share gives the
        bins only, the votes are rounded to small whole numbers, and ``choices_`` shows what
        rounding costs. The smallest bound is deployed first; it may err more than others, so look
        and ``choose``.
    holdout : float, default=0.2
        The share of rows that ``certify`` sets apart.
    delta : float, default=0.05
        The probability with which the certificate may fail.
    warm_start : bool, default=False
        Go on from the last fit: it ends as one longer run would have.
    callbacks : sequence of functions, default=None
        Each is called with every ``Round``; a true answer stops the run.
    n_jobs : int or None, default=None
        Threads; None and -1 mean all cores. The model does not depend on it.
    verbose : bool, default=False
        Show a progress bar.

    Attributes
    ----------
    ledger_ : Ledger
        What the loop measured in every round.
    certificate_ : Certificate
        The training-error theorem applied to this run, or what ``certify`` asks for.
    choices_ : list of Choice
        With ``certify="train"``: every vote that may be deployed, with bound and error estimate.
    votes_ : ndarray
        The vote of every rule, ½ ln((1 - error)/error) unless scaled or capped.
    estimators_, estimator_weights_, estimator_errors_ : as in scikit-learn
        ``estimator_weights_`` is twice ``votes_``, which is scikit-learn's convention.
    classes_, n_features_in_, feature_names_in_, feature_importances_ : as in scikit-learn

    Examples
    --------
    >>> from pacboost import AdaBoostClassifier
    >>> from pacboost.sources.toy import ten_points
    >>> X, y = ten_points()
    >>> model = AdaBoostClassifier(n_estimators=3).fit(X, y)
    >>> model.votes_.round(4).tolist()
    [0.4236, 0.6496, 0.9229]
    >>> round(model.certificate_.value, 4), model.score(X, y)
    (0.5162, 1.0)
    """

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 50,
        learning_rate: float = 1.0,
        random_state: Any = None,
        *,
        resample: bool | int = False,
        max_bins: int = 255,
        max_vote: float | None = None,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 10,
        tol: float = 0.0,
        eval_metric: Any = "error",
        certify: str | None = None,
        holdout: float = 0.2,
        delta: float = 0.05,
        warm_start: bool = False,
        callbacks: Sequence[Callback] | None = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.random_state = random_state
        self.resample = resample
        self.max_bins = max_bins
        self.max_vote = max_vote
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.eval_metric = eval_metric
        self.certify = certify
        self.holdout = holdout
        self.delta = delta
        self.warm_start = warm_start
        self.callbacks = callbacks
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, X_val: Any = None, y_val: Any = None
    ) -> Self:
        """Boost.

        Ctrl-C keeps the rounds done so far on the estimator, and is raised again. After any other
        failure the estimator is as it was before.
        """
        before = self.__dict__.copy()
        work: Work | None = None
        try:
            with using(self._threads()):
                work = self._prepare(X, y, sample_weight, X_val, y_val)
                self._boost(work)
        except BaseException as problem:
            if isinstance(problem, KeyboardInterrupt) and work is not None and work.run.done:
                self._keep_interrupted(work, problem)
            else:
                self.__dict__ = before
            raise
        self._warn(work.run)
        return self

    def _prepare(self, X: Any, y: Any, sample_weight: Any, X_val: Any, y_val: Any) -> Work:
        """Check everything, and set up the run."""
        rounds = door.at_least_one("n_estimators", self.n_estimators)
        learner = as_learner(self.estimator)
        cap = MOST_VOTE if self.max_vote is None else door.number("max_vote", self.max_vote)
        booster = AdaBoost(door.number("learning_rate", self.learning_rate), cap)
        seed = int(check_random_state(self.random_state).randint(2**31))
        examples, self.classes_ = prepare.read_examples(self, X, y, sample_weight)
        everything = examples.table
        examples, apart = self._set_apart(examples, seed)
        examples, held = self._hold_back(examples, X_val, y_val, seed)
        self._remember(everything, *([] if held is None else [held.table]))
        examples = examples.counting()
        sample = prepare.training_sample(
            examples,
            self.classes_,
            door.whole("max_bins", self.max_bins),
            codes=learner.codes,
            bins_from=apart if self.certify == "train" else examples,
        )
        if prepare.one_class(sample):
            learner = _constant_learner(int(sample.signs[0, 0]))
        run = Run(
            sample,
            learner,
            booster,
            seed=seed,
            resample=self._resample_size(sample.n_rows),
            watch=self._watch(held, sample),
        )
        if self.warm_start and hasattr(self, "model_"):
            self._resume(run, rounds)
        return Work(run, rounds, examples, apart)

    def _hold_back(
        self, examples: prepare.Examples, X_val: Any, y_val: Any, seed: int
    ) -> tuple[prepare.Examples, prepare.Examples | None]:
        """Give the rows to learn from, and rows to watch if there shall be some."""
        if X_val is not None:
            return examples, prepare.read_validation(self, X_val, y_val, self.classes_)
        if y_val is not None:
            raise ParameterError("y_val was given without X_val; give both or neither")
        if self.early_stopping:
            share = door.number("validation_fraction", self.validation_fraction)
            return prepare.split(examples, "validation_fraction", share, seed)
        return examples, None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        inner = isinstance(self.estimator, BaseEstimator)
        tags.input_tags.allow_nan = not inner or get_tags(self.estimator).input_tags.allow_nan
        tags.input_tags.sparse = True
        return tags

    def _threads(self) -> int | None:
        return None if self.n_jobs is None else door.whole("n_jobs", self.n_jobs)

    def _resample_size(self, rows: int) -> int:
        if isinstance(self.resample, (bool, np.bool_)):
            return rows if self.resample else 0
        return door.at_least_one("resample", self.resample)

    def _watch(self, held: prepare.Examples | None, training: Sample) -> Watch | None:
        measure = metric(self.eval_metric)
        patience = door.at_least_one("n_iter_no_change", self.n_iter_no_change)
        tolerance = door.number("tol", self.tol)
        if not tolerance >= 0:
            raise ParameterError(f"tol is {tolerance}; it must be 0 or more")
        if held is None:
            return None
        return Watch(prepare.watched_sample(held, training), measure, patience, tolerance)

    def _resume(self, run: Run, rounds: int) -> None:
        """Take over the rounds of the last fit."""
        earlier = self.model_
        if earlier.n_features != run.sample.table.n_columns or not np.array_equal(
            earlier.classes, self.classes_
        ):
            raise ParameterError(
                "warm_start goes on with the same data, but features or classes have changed; "
                "set warm_start=False to start afresh"
            )
        cast = [entry.vote for entry in earlier.ledger.rounds]
        if earlier.vote.votes.tolist() != cast:
            raise ParameterError(
                "the votes of the last fit were rounded (certify='train'), so there is no going on "
                "from them; set warm_start=False to start afresh"
            )
        if rounds < len(earlier.ledger):
            raise ParameterError(
                f"n_estimators is {rounds}, but the last fit has {len(earlier.ledger)} rounds "
                "already; give at least as many, or set warm_start=False"
            )
        bins = run.sample.bins
        if earlier.bins is not None and bins is not None and bins.differ(earlier.bins):
            raise ParameterError(
                "the bins are not those of the last fit: max_bins or the data have changed. Keep "
                "them, or set warm_start=False to start afresh"
            )
        run.resume(earlier.vote.hypotheses, earlier.ledger)

    def _boost(self, work: Work) -> None:
        """Run the rounds."""
        run, rounds = work.run, work.rounds
        with ExitStack() as stack:
            watchers = door.functions("callbacks", self.callbacks)
            if self.verbose:
                from pacboost.reports.progress import RoundsBar

                watchers.append(stack.enter_context(RoundsBar(rounds)))
            for done in islice(run, rounds - len(run.done)):
                wishes = [watcher(done.entry) for watcher in watchers]
                if any(wishes):
                    run.stopped = "a callback stopped it"
        run.stopped = run.stopped or f"all {rounds} rounds are done"
        run.keep_best()
        self._keep(work)

    def _keep_interrupted(self, work: Work, interrupt: BaseException) -> None:
        work.run.stopped = "interrupted"
        self._keep(work)
        interrupt.add_note(
            f"pacboost: the {len(work.run.done)} rounds done before the interrupt are kept; the "
            "estimator can be used, or go on with warm_start=True"
        )

    def _keep(self, work: Work) -> None:
        """Turn the finished rounds into a model with its certificate."""
        run, table = work.run, work.run.sample.table
        ledger = run.ledger()
        self.model_ = Model(
            self.classes_,
            table.n_columns,
            table.names,
            run.sample.bins,
            run.vote(),
            ledger,
            training_error(ledger),
        )
        self._certify_new_examples(work.trained, work.apart)

    def _warn(self, run: Run) -> None:
        if self.classes_.size == 1:
            only = self.classes_.tolist()[0]
            warnings.warn(
                f"y holds one class only ({only!r}); the classifier is constant",
                OneClassWarning,
                stacklevel=3,
            )
        elif not run.done:
            warnings.warn(
                "the weak learner found no rule better than guessing, so the vote is empty and "
                "every prediction is a tie; give it other features or a richer weak learner",
                NoEdgeWarning,
                stacklevel=3,
            )


def load(path: str | Path) -> AdaBoostClassifier:
    """Read a model file; the estimator it gives predicts as the one that was saved did."""
    model = model_file.load(path)
    estimator = AdaBoostClassifier(n_estimators=max(1, len(model.ledger)))
    estimator.model_ = model
    estimator.classes_ = model.classes
    estimator.n_features_in_ = model.n_features
    if model.names is not None:
        estimator.feature_names_in_ = np.array(model.names, dtype=object)
    return estimator


def _constant_learner(sign: int) -> Learner:
    """Answer for samples of one class."""
    constant = StumpRule.constant(sign)
    return FunctionLearner(lambda X, y, weights: constant)
