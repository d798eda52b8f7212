"""How every majority of boosters fits: read, choose the rows of each, boost, let them vote."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Generator
from contextlib import closing
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from pacboost.boosters.base.booster import Booster
from pacboost.boosters.base.choose import as_booster
from pacboost.errors import NoEdgeWarning, TooFewRowsWarning
from pacboost.estimators.committees.base import MembersClassifier, empty_ledger, with_progress
from pacboost.estimators.fitting.atomic import all_or_nothing
from pacboost.estimators.fitting.nested_parameters import NestedParameters, named, with_fields
from pacboost.estimators.inputs.examples import LabelledRows, training_sample
from pacboost.estimators.inputs.parameters import draw_seed, integer, positive_integer, threads
from pacboost.estimators.inputs.warn import warn, warn_of_one_class
from pacboost.hypotheses.hypothesis import Hypothesis
from pacboost.hypotheses.majority import Decision
from pacboost.hypotheses.vote import Vote
from pacboost.kernels.threads import using
from pacboost.learners.choose import as_learner
from pacboost.samples.equal_rows import check_copies
from pacboost.training.committees.majority_of import BoostedMember, Rows, boost_each


@dataclass(eq=False, repr=False, kw_only=True)
class BoosterCommittee(NestedParameters, MembersClassifier):
    """Boosts on parts of the rows that ``_parts`` chooses, and lets the boosters vote.

    Attributes
    ----------
    votes_of_members_ : list of Vote
    ledgers_ : list of Ledger
        The record of every member; None for one whose rows were all of one class.
    part_sizes_ : ndarray
    """

    booster = None
    n_rounds = 100
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

    @abstractmethod
    def _parts(self, rows: int, seed: int) -> list[Rows]:
        """Choose the rows of every member; warn if there are too few."""

    def _default_booster(self) -> str:
        return "adaboost"

    def fit(self, X: Any, y: Any, *, copies: str = "auto") -> Self:
        """Boost on every part.

        ``copies``, the word for equal rows where rows certify, is that of BoostClassifier.fit.

        Ctrl-C keeps the members done so far on the estimator, and is raised again. After any other
        failure the estimator is as it was before.
        """
        self._equal_rows = check_copies(copies)
        with all_or_nothing(self) as attempt, using(self.n_jobs):
            work = PreparedCommittee(self, X, y)
            attempt.keep = lambda: self._keep_interrupted(work)
            with closing(work.members()) as members:
                count = len(work.parts)
                for _ in with_progress(members, "boosters", count, verbose=self.verbose):
                    pass
            self._finish(work, "all members are done")
        warn_of_one_class(self.classes_, certified=False)
        if self.classes_.size > 1 and not any(m.vote.hypotheses for m in work.done.values()):
            warn(
                "the weak learner found no rule better than guessing for any member, so every "
                "prediction is a tie; give it other features or a richer weak learner",
                NoEdgeWarning,
            )
        return self

    @property
    def votes_of_members_(self) -> list[Vote]:
        """The vote of each member."""
        rules = self._fitted("votes_of_members_").vote.hypotheses
        return [rule.vote for rule in rules if isinstance(rule, Decision)]

    def _keep_interrupted(self, work: PreparedCommittee) -> str | None:
        """Keep the members done before Ctrl-C, and say so."""
        if not work.done:
            return None
        self._finish(work, "interrupted")
        return f"the {len(work.done)} members done before the interrupt are kept"

    def _finish(self, work: PreparedCommittee, stopped: str) -> None:
        numbers = sorted(work.done)
        members = [work.done[number] for number in numbers]
        self.ledgers_ = [member.ledger for member in members]
        self.part_sizes_ = np.array([work.parts[number].size for number in numbers])
        sample = work.sample
        ledger = empty_ledger(
            self._name, work.learner.name, sample.n_rows, sample.signs.shape[1], stopped
        )
        decisions: list[Hypothesis] = [Decision(member.vote) for member in members]
        self._keep(decisions, ledger, work.examples.table, sample.bins, work.apart)

    def _chosen_booster(self) -> Booster[Any]:
        choice, own = named(self._default_booster() if self.booster is None else self.booster)
        booster = as_booster(choice).for_classes(self.classes_.size)
        return with_fields(booster, own, "booster") if own else booster

    def _warn_of_few(self, rows: int, needed: int, instead: str) -> None:
        warn(f"{rows} rows are too few: at least {needed} are needed; {instead}", TooFewRowsWarning)


class PreparedCommittee:
    """A fit that is ready to start: the rows of every member, booster and learner."""

    def __init__(self, estimator: BoosterCommittee, X: Any, y: Any) -> None:
        self.done: dict[int, BoostedMember] = {}
        self.seed = draw_seed(estimator.random_state)
        self.rounds = positive_integer("n_rounds", estimator.n_rounds)
        choice, own = named(estimator.learner)
        learner = as_learner(choice, "learner")
        self.learner = with_fields(learner, own, "learner") if own else learner
        self.examples: LabelledRows
        self.examples, self.apart = estimator._read(X, y, self.seed)
        self.booster = estimator._chosen_booster()
        self.sample = training_sample(
            self.examples,
            estimator.classes_,
            integer("max_bins", estimator.max_bins),
            codes=self.learner.codes,
        )
        self.parts = estimator._parts(self.sample.n_rows, self.seed)
        self.threads = min(threads(estimator.n_jobs), len(self.parts))

    def members(self) -> Generator[BoostedMember]:
        """Boost on the parts, in order; ``done`` keeps what they become."""
        return boost_each(
            self.sample,
            self.parts,
            self.learner,
            self.booster,
            self.rounds,
            self.seed,
            self.threads,
            self.done,
        )
