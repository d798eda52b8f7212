"""Early stopping: measure a run on validation rows, and decide when to stop."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from pacboost.errors import ParameterError
from pacboost.hypotheses.hypothesis import Hypothesis
from pacboost.hypotheses.scored_trees import scores_on_gpu
from pacboost.hypotheses.tree import TreeRule
from pacboost.hypotheses.vote import Vote
from pacboost.kernels.rounds import ValidationRows
from pacboost.kernels.threads import ROWS_PER_SPAN
from pacboost.samples.bins import Bins
from pacboost.samples.sample import Sample
from pacboost.training.metrics import SQUARE, Metric, log_loss
from pacboost.training.run.stop_reason import Stop, StopReason

NEXT_TO_NOTHING = 1e-3
"""A log loss at most this is as good as nothing: true labels have a probability of .999 or more."""


class EarlyStopping:
    """Measure validation rows after each round; stop after ``patience`` rounds without progress.

    Without patience (None), it only measures: no round stops the run, and all of them are kept.
    A run has at least ``least`` rounds, whatever the validation loss.
    """

    def __init__(
        self, sample: Sample, metric: Metric, patience: int | None, least: int = 0
    ) -> None:
        self.sample = sample
        self._metric = metric
        self._patience = patience
        self._least = least
        self.others: dict[str, EarlyStopping] = {}
        """Further validation sets by name, which are measured after the same rounds."""
        self.curve: list[float] = []
        """The metric after every round; estimators keep this list, so it is never replaced."""
        self._heat = 0, math.inf
        self._enough = NEXT_TO_NOTHING if _is_log_loss(metric) else -math.inf
        self.start_again()

    def start_again(self) -> None:
        self._scores = np.zeros(self.sample.signs.shape)
        self._on_gpu: Any = None
        self._best = math.inf
        self.best_round = 0
        self.curve.clear()
        for other in self.others.values():
            other.start_again()

    def beside(self, sample: Sample) -> EarlyStopping:
        """Return a watch of other rows with the same metric, which never stops the run."""
        return EarlyStopping(sample, self._metric, None)

    def race_with(self, best: EarlyStopping, rounds: int) -> None:
        """Stop the run after this number of rounds if another one was better after as many."""
        self._heat = rounds, best.best_after(rounds)

    @property
    def rounds_to_heat(self) -> float:
        """The number of rounds until a heat is decided; infinite if none is left."""
        left = self._heat[0] - len(self.curve)
        return left if left > 0 else math.inf

    def best_after(self, rounds: int) -> float:
        """Return the least loss within the first rounds; infinite without a round."""
        sign = -1 if self._metric.more_is_better else 1
        return min((sign * value for value in self.curve[:rounds]), default=math.inf)

    def quick(self, bins: Bins) -> ValidationRows | None:
        """Return what a batch of rounds measures on rows in these bins; None if it cannot."""
        sample = self.sample
        has_kernel = _is_log_loss(self._metric) or self._metric is SQUARE
        is_dense = sample.bins is bins and sample.sparse is None and sample.labels is None
        is_small = 0 < sample.n_rows <= ROWS_PER_SPAN
        if not (has_kernel and is_dense and is_small) or self.others:
            return None
        assert sample.codes is not None
        patience = -1 if self._patience is None else self._patience
        targets = np.empty(0) if sample.targets is None else sample.targets
        return ValidationRows(
            np.ascontiguousarray(sample.codes), sample.signs.reshape(-1), targets,
            self._scores.reshape(-1), len(self.curve), self.best_round, patience, self._least,
            self._best if self._best > self._enough else -math.inf,
        )  # fmt: skip

    @property
    def metric(self) -> str:
        return self._metric.name

    def see(self, hypothesis: Hypothesis, vote: float) -> float:
        for other in self.others.values():
            other.see(hypothesis, vote)
        self._add(hypothesis, vote)
        return self._measure()

    def _add(self, hypothesis: Hypothesis, vote: float) -> None:
        """Add a round to the scores: on the GPU, if trees are grown there."""
        if not self.curve:
            self._on_gpu = scores_on_gpu(self.sample, hypothesis)
        if self._on_gpu is None or not isinstance(hypothesis, TreeRule):
            self._scores += vote * hypothesis.said(self.sample)
        else:
            self._scores = self._on_gpu.add(hypothesis, vote)

    def see_all(self, vote: Vote) -> float:
        """Return the metric after a round that also changed earlier votes."""
        for other in self.others.values():
            other.see_all(vote)
        self._scores[:] = vote.scores(self.sample.table).reshape(self._scores.shape)
        return self._measure()

    def _measure(self) -> float:
        return self.note(float(self._metric(self.sample, self._scores)))

    def note(self, value: float) -> float:
        if not math.isfinite(value):
            raise ParameterError(
                f"eval_metric {self._metric.name} gave {value} in round {len(self.curve) + 1}; it "
                "must give a finite number",
                parameter="eval_metric",
            )
        self.curve.append(value)
        loss = -value if self._metric.more_is_better else value
        # of equal losses the first counts: a vote of fewer rules costs less. So does the first of
        # those next to nothing: three clean classes took 2,000 rounds to move the eighth decimal.
        if loss < self._best and self._best > self._enough:
            self._best, self.best_round = loss, len(self.curve)
        return value

    @property
    def rounds_to_keep(self) -> int:
        """Number of rounds to keep: those up to the best one, or all if there is no patience."""
        if self._patience is None:
            return len(self.curve)
        # the loss of few rows is noisy, so a minimum of rounds stays whatever it says
        return max(self.best_round, min(self._least, len(self.curve)))

    @property
    def loss(self) -> float:
        """The loss after the rounds to keep; infinite without a round."""
        if not self.curve:
            return math.inf
        value = self.curve[self.rounds_to_keep - 1]
        return -value if self._metric.more_is_better else value

    def reason(self) -> StopReason | None:
        """Return a reason to stop if the metric has not improved for too long, else None."""
        rounds, (heat, best) = len(self.curve), self._heat
        # one that is only as good is given up: the simpler candidate came first
        if 0 < heat <= rounds and self.best_after(heat) >= best:
            return StopReason(Stop.BEHIND)
        if self._patience is None or rounds < max(self.best_round + self._patience, self._least):
            return None
        return StopReason(Stop.NO_PROGRESS, {"metric": self._metric.name, "rounds": self._patience})


def _is_log_loss(metric: Metric) -> bool:
    return isinstance(metric.measure, partial) and metric.measure.func is log_loss
