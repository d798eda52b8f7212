"""The way of every majority of boosters: read, choose the rows of each, boost, let them vote."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Generator, Iterator
from contextlib import closing
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_random_state

from pacboost.boosters.base.booster import Booster
from pacboost.boosters.base.choose import as_booster
from pacboost.errors import NoEdgeWarning, TooFewRowsWarning
from pacboost.estimators.committees.base import MembersClassifier, empty_ledger
from pacboost.estimators.fitting.nested_parameters import NestedMixin, named, with_fields
from pacboost.estimators.inputs.examples import Examples, training_sample
from pacboost.estimators.inputs.parameters import integer, positive_integer
from pacboost.hypotheses.hypothesis import Hypothesis
from pacboost.hypotheses.majority import Decision
from pacboost.hypotheses.vote import Vote
from pacboost.kernels.jit import cores
from pacboost.kernels.threads import using
from pacboost.learners.choose import as_learner
from pacboost.ledgers.ledger import Ledger
from pacboost.training.committees.majority_of import BoostedMember, Rows, boost_each

ROWS_A_PART = 100
"""With fewer rows a part is too small to be boosted on alone."""


class BoosterCommittee(NestedMixin, MembersClassifier):
    """Boosts on parts of the rows that ``_parts`` chooses, and lets the boosters vote.

    Attributes
    ----------
    votes_of_members_ : list of Vote
    ledgers_ : list of Ledger
        The record of every member; None for one whose rows were all of one class.
    part_sizes_ : ndarray
    """

    booster: Any
    n_rounds: int
    max_bins: int
    random_state: Any
    verbose: bool
    ledgers_: list[Ledger | None]
    _name: str

    @abstractmethod
    def _parts(self, rows: int, seed: int) -> list[Rows]:
        """Choose the rows of every member; warn if there are too few."""

    def _default_booster(self) -> str:
        return "adaboost"

    def fit(self, X: Any, y: Any) -> Self:
        """Boost on every part.

        Ctrl-C keeps the members done so far on the estimator, and is raised again. After any other
        failure the estimator is as it was before.
        """
        before = self.__dict__.copy()
        work: _Work | None = None
        try:
            with using(self.n_jobs):
                work = _Work(self, X, y)
                with closing(work.members()) as members:
                    for _ in self._shown(members, len(work.parts)):
                        pass
                self._finish(work, "all members are done")
        except BaseException as problem:
            if isinstance(problem, KeyboardInterrupt) and work is not None and work.done:
                self._finish(work, "interrupted")
                problem.add_note(
                    f"pacboost: the {len(work.done)} members done before the interrupt are kept"
                )
            else:
                self.__dict__ = before
            raise
        self._warn_of_one_class()
        if self.classes_.size > 1 and not any(m.vote.hypotheses for m in work.done.values()):
            warnings.warn(
                "the weak learner found no rule better than guessing for any member, so every "
                "prediction is a tie; give it other features or a richer weak learner",
                NoEdgeWarning,
                stacklevel=2,
            )
        return self

    @property
    def votes_of_members_(self) -> list[Vote]:
        """What each member learned."""
        rules = self._fitted("votes_of_members_").vote.hypotheses
        return [rule.vote for rule in rules if isinstance(rule, Decision)]

    def _shown(self, members: Iterator[BoostedMember], count: int) -> Iterator[BoostedMember]:
        if not self.verbose:
            return members
        from rich.console import Console
        from rich.progress import track

        return iter(track(members, "boosters", count, console=Console(stderr=True)))

    def _finish(self, work: _Work, stopped: str) -> None:
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
        warnings.warn(
            f"{rows} rows are too few: at least {needed} are needed; {instead}",
            TooFewRowsWarning,
            stacklevel=5,
        )


class _Work:
    """A fit set up: the rows of every member, and what they are boosted by."""

    def __init__(self, estimator: BoosterCommittee, X: Any, y: Any) -> None:
        self.done: dict[int, BoostedMember] = {}
        self.seed = int(check_random_state(estimator.random_state).randint(2**31))
        self.rounds = positive_integer("n_rounds", estimator.n_rounds)
        choice, own = named(estimator.learner)
        learner = as_learner(choice, "learner")
        self.learner = with_fields(learner, own, "learner") if own else learner
        self.examples: Examples
        self.examples, self.apart = estimator._read(X, y, self.seed)
        self.booster = estimator._chosen_booster()
        self.sample = training_sample(
            self.examples,
            estimator.classes_,
            integer("max_bins", estimator.max_bins),
            codes=self.learner.codes,
        )
        self.parts = estimator._parts(self.sample.n_rows, self.seed)
        jobs = -1 if estimator.n_jobs is None else integer("n_jobs", estimator.n_jobs)
        self.threads = min(jobs if jobs > 0 else max(1, cores() + 1 + jobs), len(self.parts))

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
