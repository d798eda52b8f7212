"""What tests of margin maximisers share: all stumps of a sample, and what must hold in a run."""

import math
from itertools import islice
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.sparse import csr_array, eye_array, hstack

from pacboost.boosters.booster import Booster
from pacboost.boosters.corrective import Corrective, CorrectiveState
from pacboost.boosters.soft_margin import ERLP, LP, MLP, CorrectiveERLP, Soft, Total
from pacboost.bounds.training import product_bound
from pacboost.learners.learner import Learner
from pacboost.samples.sample import Sample
from pacboost.training.run.loop import Run
from tests.training.run.prefixes import shares

Floats = NDArray[np.float64]


def largest_margin(columns: NDArray[np.int8], base: Floats, share: float) -> float:
    """Max ρ - Σ base·slack/share over votes of sum 1, with margin ≥ ρ - slack in every row."""
    rules, rows = columns.shape
    soft = share > 0
    c = np.concatenate([np.zeros(rules), [-1.0], base / share if soft else np.empty(0)])
    margins: Any = csr_array(np.hstack([-columns.T.astype(float), np.ones((rows, 1))]))
    if soft:
        margins = hstack([margins, -eye_array(rows)], format="csr")
    complete = np.zeros((1, c.size))
    complete[0, :rules] = 1
    bounds = [(0.0, None)] * rules + [(-2.0, 2.0)] + [(0.0, None)] * (rows if soft else 0)
    answer = linprog(c, margins, np.zeros(rows), complete, [1.0], bounds=bounds, method="highs")
    assert answer.fun is not None
    assert answer.status == 0
    return -float(answer.fun)


SOFT: dict[str, Any] = {
    "lp": LP,
    "soft": Soft,
    "erlp": ERLP,
    "corrective_erlp": CorrectiveERLP,
    "mlp": MLP,
}
NAMES = ["total", *SOFT]


def made(name: str, share: float | None, tolerance: float) -> Corrective:
    """A booster for a share; TotalBoost knows but one."""
    return Total(tolerance=tolerance) if name == "total" else SOFT[name](share, tolerance)


def all_stumps(sample: Sample) -> NDArray[np.int8]:
    """y·h(x) of every stump there is on rows without missing values, one line each."""
    X, signs = sample.table.rows(), sample.signs[:, 0]
    answers = [np.ones(len(X), dtype=np.int8)]
    for column in X.T:
        for threshold in np.unique(column)[:-1]:
            answers.append(np.where(column > threshold, 1, -1).astype(np.int8))
    lines = np.unique(np.array(answers), axis=0) * signs
    return np.concatenate([lines, -lines])


def best_of_stumps(sample: Sample, share: float) -> float:
    """The largest soft margin of any vote of stumps, by a plain linear program."""
    return largest_margin(all_stumps(sample), shares(sample), share)


def small_set(seed: int) -> tuple[Floats, NDArray[np.int8]]:
    """Few rows with few values, in both classes."""
    generator = np.random.default_rng(seed)
    rows, features = int(generator.integers(6, 14)), int(generator.integers(3, 9))
    X = generator.integers(int(generator.integers(2, 4)), size=(rows, features)).astype(float)
    signs = np.where(generator.random(rows) < 0.5, 1, -1).astype(np.int8)
    signs[:2] = 1, -1
    return X, signs


def heaviest(run: Run) -> float:
    """The largest D over D_1 that a row has."""
    weights = run.booster.request(run.state).weights
    first = np.repeat(shares(run.sample)[:, None], weights.shape[1], axis=1)
    return float((weights / weights.sum() / (first / first.sum())).max())


def advance(run: Run, most: int, every: int = 1) -> list[float]:
    """Run to the end, holding what must hold after (every so many) rounds; give the gaps."""
    gaps: list[float] = []
    smallest = math.inf
    for done in islice(run, most):
        state, entry = run.state, done.entry
        assert entry.margin is not None
        assert entry.gap is not None
        smallest = min(smallest, entry.edge)
        assert entry.gap == pytest.approx(smallest - entry.margin, abs=1e-12)
        if state.share > 0:
            rounding = 4 * run.sample.n_rows / 2**52 / shares(run.sample).min()
            assert heaviest(run) <= (1 + 1e-9) / state.share + rounding
        gaps.append(entry.gap)
        if entry.number % every:
            continue
        votes = run.booster.votes(state)
        assert (votes >= 0).all()
        margins = run.vote().scores(run.sample.table).reshape(run.sample.signs.shape)
        assert np.array_equal(margins * run.sample.signs, state.margins)
        ledger = run.ledger()
        hinge = np.maximum(1 - state.margins, 0).mean(axis=1)
        mean = float((shares(run.sample, units=False) * hinge).sum())
        product = math.exp(math.fsum(math.log(e.normaliser) for e in ledger.rounds))
        assert product == pytest.approx(max(mean, 2.0**-60), rel=1e-9, abs=1e-12)
        assert entry.training_error <= product_bound(ledger)
    return gaps


def check_best(booster: Booster[Any], sample: Sample, learner: Learner, most: int) -> Run:
    """Hold that no vote of stumps has a margin more than the tolerance larger, or any larger."""
    assert isinstance(booster, Corrective)
    run = Run(sample, learner, booster)
    gaps = advance(run, most)
    entry, state = run.done[-1].entry, run.state
    assert isinstance(state, CorrectiveState)
    best = best_of_stumps(sample, state.share)
    assert gaps[-1] <= booster.tolerance + 1e-12
    assert entry.margin is not None
    assert best - booster.tolerance - 1e-9 <= entry.margin <= best + 1e-9
    assert min(done.entry.edge for done in run.done) >= best - 1e-9
    assert "within" in str(run.stopped)
    return run


def entropy(state: CorrectiveState) -> float:
    """KL(D ‖ D_1)."""
    some = state.shares > 0
    return float((state.shares[some] * np.log(state.shares[some] / state.base[some])).sum())


def check_gains(booster: ERLP, sample: Sample, learner: Learner, most: int) -> list[float]:
    """Hold that every round raises the smoothed margin by δ²/(8η); give the smoothed margins."""
    run = Run(sample, learner, booster)
    smallest, divergence, smooth = math.inf, 0.0, []
    for done in islice(run, most):
        state = run.state
        eta = booster.eta(booster.largest_entropy(state))
        smallest = min(smallest, done.entry.edge + divergence / eta)
        smooth.append(booster.climb(state).at(state.votes, eta).value / eta)
        divergence = entropy(state)
        if len(smooth) > 1:
            delta = smallest - smooth[-2]
            assert smooth[-1] - smooth[-2] >= max(delta, 0) ** 2 / (8 * eta) - 1e-9
    return smooth
