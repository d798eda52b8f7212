"""How a fit by filtering is set up: booster, learner, sizes and bins from parameters and source."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.boosters.base.choose import as_booster
from pacboost.boosters.base.filtering_booster import FilteringBooster
from pacboost.boosters.base.registry import BOOSTERS
from pacboost.boosters.logit import Logit
from pacboost.errors import DataError, ParameterError
from pacboost.estimators.boosting.filter_session import Limits, Session
from pacboost.estimators.fitting.nested_parameters import named, with_fields
from pacboost.estimators.fitting.tree_parameters import LIMITS
from pacboost.estimators.inputs.limits import (
    RESERVE,
    USUAL,
    read_seconds,
    read_size,
    resident,
    rows_in,
)
from pacboost.estimators.inputs.parameters import integer, positive_integer, real_number
from pacboost.learners.choose import as_learner
from pacboost.learners.learner import Learner
from pacboost.learners.stump import Stump
from pacboost.learners.tree import Tree
from pacboost.models.model import answer_names
from pacboost.samples.bins import Bins, fit_bins
from pacboost.sources.arrays import ArrayTable
from pacboost.sources.oracles.arrays import ArrayOracle
from pacboost.sources.oracles.oracle import AbstractOracle
from pacboost.training.filtering.candidates import LEAST_AT_ONCE, Candidates, Stream
from pacboost.training.filtering.divided import Divided, rows_for_tests
from pacboost.training.filtering.engine import Filtering
from pacboost.training.filtering.faithful import Faithful
from pacboost.training.filtering.intake import Intake
from pacboost.training.filtering.plan import KEPT, Plan
from pacboost.training.filtering.pool import Pool

ROWS = 100_000
ROWS_OF_STUMPS = 50_000
"""Rounds of stumps cost half as much on so many, and bring nearly as much (docs/decisions/0008)."""
ROWS_FOR_BINS = 50_000
CELLS_FOR_BINS = 2**22
LEAST_FOR_BINS = 1_000
MOST_APART = 20_000
OUTSIDE = ("checkpoint", "callbacks", "n_jobs", "verbose", "time_limit")
"""Parameters that a run which goes on from a checkpoint may have changed."""


DIVISION = 2
"""The version of how rows are divided; no run goes on from the checkpoint of another version."""


class FilterSetup:
    """Reads the parameters of FilterBoostClassifier."""

    booster: Any
    learner: Any
    edge: float | None
    epsilon: float | None
    delta: float
    n_rounds: int
    shrinkage: float | None
    learning_rate: float | None
    sample_rows: int | None
    memory: str | int | None
    time_limit: str | float | None
    n_certify: int | None
    max_bins: int
    checkpoint: str | Path | None

    def _session(self, oracle: AbstractOracle, seed: int, classes: Any) -> Session:
        held = resident()
        limits = Limits(read_seconds("time_limit", self.time_limit))
        limit = read_size("memory", self.memory)
        if limit is not None:
            taken = max(held, USUAL) + RESERVE
            oracle.check_memory(max(0, limit - taken))
        learner = self._learner()
        booster = self._booster(learner)
        faithful = self.edge is not None
        apart = self._apart(oracle)
        candidates: Candidates
        if isinstance(oracle, ArrayOracle) and not faithful and oracle.order.name == "shuffled":
            all_classes = self._classes(oracle, classes, None)
            start = booster.first_chance(_outputs(all_classes))
            candidates = Pool(oracle, seed, apart, all_classes, start)
        elif oracle.in_blocks:
            tests = rows_for_tests(oracle.about_rows or 0, self.epsilon)
            candidates = Divided(oracle, seed, apart, tests)
        else:
            candidates = Stream(oracle, seed, apart)
        bins, seen = self._look(candidates, learner)
        known = (
            all_classes if isinstance(candidates, Pool) else self._classes(oracle, classes, seen)
        )
        if known.size > 2 and booster.multiclass != "softmax":
            raise ParameterError(
                "Only binary classification is supported. The type of the target is multiclass: "
                f"there are {known.size} classes, and the booster {booster.name} filters for two. "
                "Use booster='logit' with edge=None."
            )
        plan = self._plan(oracle, learner, known, seed, held=held)
        plan = replace(plan, rounds=int(min(plan.rounds, booster.last_round)))
        intake = Intake(oracle, known, bins)
        if isinstance(candidates, Divided):
            candidates.divide(intake)
        helping = LEAST_AT_ONCE if faithful else max(LEAST_AT_ONCE, plan.first_rows)
        candidates.at_once = min(candidates.at_once, helping)
        run = (Faithful if faithful else Filtering)(
            candidates,
            intake,
            learner,
            booster,
            plan,
            answer_names(known),
        )
        if known.size == 1:
            run.stopped = "there is one class only"
        path = None if self.checkpoint is None else Path(self.checkpoint)
        if path is not None and bins is None:
            raise ParameterError(
                "checkpoint needs the learner 'stump' or 'tree': black boxes are not written"
            )
        settings = {} if path is None else self._settings(oracle, seed, known)
        return Session(run, limits, path, settings)

    def _plan(
        self,
        oracle: AbstractOracle,
        learner: Learner,
        classes: NDArray[Any],
        seed: int,
        *,
        held: int,
    ) -> Plan:
        few = isinstance(learner, Stump) and self.edge is None
        rows = ROWS_OF_STUMPS if few else ROWS
        if self.sample_rows is not None:
            rows = positive_integer("sample_rows", self.sample_rows)
        limit = read_size("memory", self.memory)
        if limit is not None:
            room = rows_in(
                limit,
                oracle.n_columns,
                _outputs(classes),
                oracle.bytes_needed,
                codes=learner.codes,
                held=held,
            )
            rows = min(rows, room)
        return Plan(
            rounds=positive_integer("n_rounds", self.n_rounds),
            rows=rows,
            first_rows=max(1, min(rows, rows // 2 if rows >= 4000 else rows)),
            epsilon=None if self.epsilon is None else real_number("epsilon", self.epsilon),
            delta=real_number("delta", self.delta),
            seed=seed,
            edge=None if self.edge is None else real_number("edge", self.edge),
        )

    def _learner(self) -> Learner:
        changes = {
            name: read(name, getattr(self, name))
            for name, read in LIMITS.items()
            if getattr(self, name) is not None
        }
        choice, own = named(self.learner)
        learner = as_learner(choice, "learner")
        changes |= own
        return with_fields(learner, changes, "learner") if changes else learner

    def _booster(self, learner: Learner) -> FilteringBooster[Any]:
        choice, own = named(self.booster)
        if choice == "logit" and self.edge is not None:
            choice = "filter_boost"
        booster = as_booster(choice)
        if not isinstance(booster, FilteringBooster):
            fit = [name for name, kind in BOOSTERS.items() if issubclass(kind, FilteringBooster)]
            raise ParameterError(
                f"booster is {self.booster!r}, whose weights are no chances; it may be "
                f"{', '.join(map(repr, fit))}, or a FilteringBooster of your own"
            )
        known = {f.name for f in fields(booster)}  # type: ignore[arg-type]
        changes: dict[str, Any] = {}
        if isinstance(self.booster, str):
            if isinstance(booster, Logit):
                rate = 0.2 if isinstance(learner, Tree) else 1.0
                changes |= {"prior": True, "l2": 1.0, "learning_rate": rate}
            for name, part in (("edge", KEPT), ("epsilon", 1.0)):
                if name in known and getattr(self, name) is not None:
                    changes[name] = part * real_number(name, getattr(self, name))
        told = self.shrinkage if self.shrinkage is not None else self.learning_rate
        if told is not None:
            changes["learning_rate"] = real_number("shrinkage", told)
        return with_fields(booster, changes | own, "booster")  # type: ignore[no-any-return]

    def _apart(self, oracle: AbstractOracle) -> int:
        """How many rows the certificate gets."""
        if self.n_certify is not None:
            wanted = integer("n_certify", self.n_certify)
            if wanted < 0 or (oracle.n_rows is not None and wanted >= max(1, oracle.n_rows)):
                raise ParameterError(
                    f"n_certify is {wanted}; it must be 0 or more, and leave rows to learn from"
                )
            return wanted
        return MOST_APART if oracle.about_rows is None else min(MOST_APART, oracle.about_rows // 10)

    def _look(
        self, candidates: Candidates, learner: Learner
    ) -> tuple[Bins | None, NDArray[Any] | None]:
        """Look at some rows: for bins, and for labels where they are not known."""
        max_bins = integer("max_bins", self.max_bins)
        count = self._rows_for_bins(candidates.oracle)
        if isinstance(candidates, Pool):
            return fit_bins(candidates.some(count), max_bins) if learner.codes else None, None
        if not isinstance(candidates, Stream):
            raise TypeError("candidates come from a pool or a stream")
        tables = candidates.peek(count)
        if not tables:
            raise DataError("the source holds no rows; at least one is needed")
        seen = candidates.labels_ahead()
        if not learner.codes:
            return None, seen
        rows = ArrayTable(np.concatenate([table.rows() for table in tables]))
        return fit_bins(rows, max_bins), seen

    def _rows_for_bins(self, oracle: AbstractOracle) -> int:
        """How many rows choose the bins: a stop at epsilon has to do without those."""
        count = min(ROWS_FOR_BINS, max(LEAST_FOR_BINS, CELLS_FOR_BINS // oracle.n_columns))
        if self.epsilon is not None and oracle.n_rows is not None:
            count = min(count, max(LEAST_FOR_BINS, oracle.n_rows // 4))
        return count

    def _classes(
        self, oracle: AbstractOracle, given: Any, seen: NDArray[Any] | None
    ) -> NDArray[Any]:
        if given is not None:
            return np.unique(np.asarray(given))
        found = oracle.classes()
        if found is None:
            found = np.unique(seen)  # type: ignore[arg-type]
        return found

    def _settings(self, oracle: AbstractOracle, seed: int, classes: NDArray[Any]) -> dict[str, Any]:
        """What another run has to share to go on from this one's checkpoint."""
        own: Any = self
        told = {
            name: repr(value)
            for name, value in own.get_params(deep=False).items()
            if name not in OUTSIDE
        }
        return {
            **told,
            "division": DIVISION,
            "seed": seed,
            "source": oracle.fingerprint(),
            "classes": repr(classes.tolist()),
        }


def _outputs(classes: NDArray[Any]) -> int:
    """How many scores a row has."""
    return 1 if classes.size <= 2 else int(classes.size)
