"""Classifiers whose members have one vote each."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Generator
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pacboost.boosters.choose import as_booster
from pacboost.bounds.certificate import Certificate
from pacboost.bounds.held_out import HeldOut
from pacboost.errors import NoEdgeWarning, TooFewRowsWarning, warn
from pacboost.estimators.fitted.classifier import Classifier
from pacboost.estimators.fitting.attempt import all_or_nothing
from pacboost.estimators.fitting.nested import named, with_fields
from pacboost.estimators.inputs.parameters import draw_seed, progress_after
from pacboost.estimators.inputs.rows import fits_rows
from pacboost.fit import division
from pacboost.fit.division import Apart, Certifying
from pacboost.fit.rows import LabelledRows, training_sample
from pacboost.fit.targets import read_labels, warn_of_one_class
from pacboost.hypotheses.decision import Decision, votes_within
from pacboost.hypotheses.hypothesis import Hypothesis
from pacboost.hypotheses.stump import StumpRule
from pacboost.hypotheses.vote import Vote
from pacboost.hypotheses.vote_digest import vote_digest
from pacboost.kernels.threads import using
from pacboost.learners.choose import as_learner
from pacboost.learners.learner import Learner
from pacboost.ledgers.ledger import Ledger
from pacboost.models.model import Model
from pacboost.models.schema import Schema
from pacboost.numerics.checks import integer, positive_whole
from pacboost.numerics.same_bits import mean_of
from pacboost.parallel.cores import thread_count
from pacboost.samples.bins import Bins
from pacboost.samples.same_example import check_copies
from pacboost.samples.sample import Sample, signs_of
from pacboost.theory.majority_of import BoostedMember, Rows, boost_each


def importances_of_members(model: Model) -> NDArray[np.float64]:
    """Return the mean of the importances of all members."""
    votes = [vote for rule in model.vote.hypotheses for vote in votes_within(rule)]
    shares = [replace(model, vote=vote).importances() for vote in votes]
    return mean_of(shares) if shares else np.zeros(model.n_features)


def read_rows(
    estimator: Classifier, X: ArrayLike, y: ArrayLike, seed: int
) -> tuple[LabelledRows, Apart | None]:
    """Hold rows out for the certificate, if any, and read the others with one label per row."""
    asked = Certifying(estimator.certify, estimator.holdout, estimator.delta, estimator._equal_rows)
    divided = division.held_out(X, y, None, asked, seed)
    estimator._schema, table = Schema.learn(divided.X, estimator._column_options())
    labels = read_labels(divided.y, table.n_rows)
    estimator.classes_, codes = np.unique(labels, return_inverse=True)
    signs, numbers = signs_of(codes, estimator.classes_.size)
    apart = divided.apart
    tables = [] if apart is None else [estimator._schema.read(apart.X)]
    estimator._remember(table, *tables)
    return LabelledRows(table, signs, None, numbers, numbers=divided.rows), apart


def keep_members(
    estimator: Classifier,
    members: list[Hypothesis],
    ledger: Ledger,
    bins: Bins | None,
    apart: Apart | None = None,
    certificate: Certificate | None = None,
) -> None:
    """Set ``model_``, where each member has one vote; certify it by the held-out rows, if any."""
    if estimator.classes_.size == 1:
        members = [StumpRule.constant(1)]
    # one vote each: what is proved of these majorities is proved for equal votes
    vote = Vote(members, np.ones(len(members)), ledger.classes)
    model = estimator.model_ = Model(
        classes=estimator.classes_, schema=estimator._schema, vote=vote, bins=bins,
        ledger=replace(ledger, vote_digest=vote_digest(vote)),
    )  # fmt: skip
    counted = None
    if apart is not None:
        # rows that certify are read as predict reads new rows: a level that no member has seen
        # counts as missing there, too
        wrong = estimator.mistakes(apart.X, apart.y)
        certificate = apart.certificate(wrong, estimator.delta)
        predicted, shares = estimator.predict(apart.X), estimator.predict_proba(apart.X)
        counted = HeldOut.of(apart.y, predicted, estimator.classes_, shares, wrong)
    if certificate is not None:
        certificate = certificate.of(model.digest())
        estimator.model_ = replace(model, certificate=certificate, held_out=counted)


def empty_ledger(name: str, learner: str, rows: int, outputs: int, stopped: str) -> Ledger:
    """Return the ledger of a fit whose rounds are recorded by its members."""
    return Ledger(name, "none", learner, rows, outputs, False, False, stopped=stopped)


Steps = tuple[Generator[Any], int, Callable[[], list[Hypothesis]]]
"""A generator that learns the members, its number of steps, and a function for the rules."""


@dataclass(eq=False, repr=False, kw_only=True)
class RowCommittee(Classifier):
    """A committee whose members learn from rows in memory.

    Unless ``_steps`` is overridden, they boost on the parts of the rows that ``_parts`` returns.

    Attributes
    ----------
    votes_of_members_ : list of Vote
    ledgers_ : list of Ledger
        The record of every member; None for one whose rows were all of one class.
    part_sizes_ : ndarray
    """

    _records_rounds = False
    booster = None
    n_estimators = 100
    _nested = ("booster", "learner")
    max_bins: int = 255
    categorical_features: Any = "from_dtype"
    certify: str | None = None
    holdout: float = 0.2
    delta: float = 0.05
    random_state: Any = None
    n_jobs: int | None = None
    verbose: bool | int | str = "auto"

    _name = ""
    """The name of the method in the ledger."""
    _members, _default_booster = "boosters", "adaboost"
    _done = "all members are done"
    """The reason for stopping that a complete fit records."""
    _kept = "the {} members done before the interrupt are kept"

    @property
    def _refusal(self) -> str:  # type: ignore[override]
        return (
            f"{type(self).__name__} is certified only by rows that it was not trained on; set "
            "certify='holdout', or give such rows to pacboost.certify"
        )

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """The importances of the members, averaged."""
        return importances_of_members(self._fitted("feature_importances_"))

    @abstractmethod
    def _parts(self, rows: int, seed: int) -> list[Rows]:
        """Choose the rows of every member; warn if there are too few."""

    @fits_rows
    def fit(self, X: ArrayLike, y: ArrayLike, *, copies: str = "draws") -> Self:
        """Learn the members.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
        y : array-like of shape (n_rows,)
        copies : {"draws", "distinct"}, default="draws"
            How equal rows count in a certificate; see ``BoostClassifier.fit``.

        Notes
        -----
        Ctrl-C keeps the members learned so far, and is raised again. After any other failure the
        estimator is unchanged.
        """
        self._equal_rows = check_copies(copies)
        with all_or_nothing(self) as attempt, using(self.n_jobs), ExitStack() as stack:
            seed = draw_seed(self.random_state)
            choice, fields = named(self.learner)
            learner = as_learner(choice, "learner")
            learner = with_fields(learner, fields, "learner") if fields else learner
            examples, apart = read_rows(self, X, y, seed)
            max_bins = integer("max_bins", self.max_bins)
            sample = training_sample(examples, self.classes_, max_bins, codes=learner.codes)
            steps, count, rules = self._steps(sample, learner, seed)

            def finish(stopped: str) -> None:
                outputs = sample.signs.shape[1]
                ledger = empty_ledger(self._name, learner.name, sample.n_rows, outputs, stopped)
                keep_members(self, rules(), ledger, sample.bins, apart)

            def keep_interrupted() -> str | None:
                if not rules():
                    return None
                finish("interrupted")
                return self._kept.format(len(rules()))

            attempt.keep = keep_interrupted
            stepped: Callable[[], Any] = int
            after = progress_after(self.verbose)
            if after is not None:
                from pacboost.reports.progress import StepsBar

                stepped = stack.enter_context(StepsBar(self._members, count, after=after))
            for _ in stack.enter_context(closing(steps)):
                stepped()
            finish(self._done)
        warn_of_one_class(self.classes_, certified=False)
        if self.classes_.size > 1:
            self._warn()
        return self

    def _steps(self, sample: Sample, learner: Learner, seed: int) -> Steps:
        rounds = positive_whole("n_estimators", self.n_estimators)
        choice, fields = named(self._default_booster if self.booster is None else self.booster)
        booster = as_booster(choice).for_classes(self.classes_.size)
        booster = with_fields(booster, fields, "booster") if fields else booster
        parts, done = self._parts(sample.n_rows, seed), dict[int, BoostedMember]()

        def rules() -> list[Hypothesis]:
            members = [done[number] for number in sorted(done)]
            self.ledgers_ = [member.ledger for member in members]
            self.part_sizes_ = np.array([parts[number].size for number in sorted(done)])
            return [Decision(member.vote) for member in members]

        at_once = min(thread_count(self.n_jobs), len(parts))
        steps = boost_each(sample, parts, learner, booster, rounds, seed, at_once, done)
        return steps, len(parts), rules

    def _warn(self) -> None:
        if not any(vote.hypotheses for vote in self.votes_of_members_):
            warn(
                "no member found a rule that is better than chance, so every prediction is a tie; "
                "use other features or a richer weak learner",
                NoEdgeWarning,
            )

    @property
    def votes_of_members_(self) -> list[Vote]:
        """The vote of each member."""
        rules = self._fitted("votes_of_members_").vote.hypotheses
        return [rule.vote for rule in rules if isinstance(rule, Decision)]

    def _warn_of_few(self, rows: int, needed: int, instead: str) -> None:
        warn(f"{rows} rows are too few: at least {needed} are needed; {instead}", TooFewRowsWarning)
