"""Simulations of the number of examples or rounds that a learner needs on one distribution.

An upper bound holds for every distribution, and a lower bound for the worst one; each simulation
uses a single, simple and hard distribution. Its number is below the upper bound, and above the
lower bound unless the class is very small. Each search draws fresh runs at every size it tries,
from a fixed seed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import islice

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from pacboost.boosters.adaboost import AdaBoost
from pacboost.learners.stump import Stump
from pacboost.numerics.exact import wrong_margins
from pacboost.numerics.same_bits import exp, total
from pacboost.samples.bins import fit_bins
from pacboost.samples.sample import Sample
from pacboost.sources.arrays import ArrayTable
from pacboost.theory.learners import Adversary
from pacboost.theory.sample_sizes import no_free_lunch_risk
from pacboost.training.run.loop import Run

RUNS = 4000
MAX_FEATURES = 50
MAX_ROUNDS = 20_000
MAX_MAJORITY_FEATURES = 11
MAX_ROWS_DRAWN = 10**7
MAX_CELLS = 10**8


_skipping: ContextVar[bool] = ContextVar("pacboost_skipping", default=False)


@contextmanager
def skipped() -> Iterator[None]:
    """Skip all simulations inside this block: each returns None."""
    token = _skipping.set(True)
    try:
        yield
    finally:
        _skipping.reset(token)


def smallest(enough: Callable[[int], bool], limit: int) -> int | None:
    """Return the smallest number for which ``enough`` is true, by doubling and bisection."""
    if _skipping.get():
        return None
    high = 1
    while not enough(high):
        high *= 2
        if high > limit:
            return None
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def tight_fit(epsilon: float, delta: float, sides: int, limit: int) -> int | None:
    """Examples until the tightest box with this many sides has risk epsilon, for uniform points.

    All points are positive and fill a cube. The risk of the tightest box is the volume outside it:
    per dimension the range of m uniform points is Beta(m - 1, 2), and with one side only (an odd
    number of sides) the maximum is Beta(m, 1).
    """
    generator = np.random.default_rng(0)

    def enough(m: int) -> bool:
        if m < 2:
            return False
        inside = generator.beta(m - 1, 2, size=(sides // 2, RUNS)).prod(axis=0)
        if sides % 2:
            inside *= generator.beta(m, 1, size=RUNS)
        return bool(np.mean(1 - inside > epsilon) <= delta)

    return smallest(enough, limit)


def thresholds_on_a_grid(epsilon: float, delta: float, log_size: float, limit: int) -> int | None:
    """Examples until every consistent threshold has risk epsilon, for uniform points on a line.

    The class has ``exp(log_size)`` evenly spaced thresholds and the target is in the middle. On
    each side the worst consistent threshold reaches to the next example, as far as the grid goes.
    """
    generator = np.random.default_rng(0)
    step = math.exp(-min(log_size, 700.0))

    def enough(m: int) -> bool:
        # The gap from the target to the nearest of m points on its side: minima of uniforms.
        gaps = np.minimum(generator.beta(1, m, size=(2, RUNS)), 0.5)
        worst = np.floor(gaps / step) * step if step > 1e-12 else gaps
        return bool(np.mean(worst.max(axis=0) > epsilon) <= delta)

    return smallest(enough, limit)


def adversarial_rounds(edge: float, rows: int, error: float) -> int | None:
    """Rounds of AdaBoost until the training error is at most ``error``, against an adversary.

    The adversary gives the promised edge and nothing more, on rows it chooses at random.
    """
    if _skipping.get():
        return None
    signs = np.where(np.arange(rows) % 2 == 0, np.int8(1), np.int8(-1))
    sample = Sample(ArrayTable(np.zeros((rows, 1))), signs[:, None])
    for done in islice(Run(sample, Adversary(edge), AdaBoost(), seed=0), MAX_ROUNDS):
        if done.entry.training_error <= error:
            return done.entry.number
    return None


def noisy_stumps(epsilon: float, delta: float, features: int, limit: int) -> int | None:
    """Examples until no stump fits coin-flip labels better than 1/2 - epsilon, on these features.

    The features are independent and continuous, so each is a random order of the labels. None for
    many features, because the simulation would take long.
    """
    if features > MAX_FEATURES:
        return None
    generator = np.random.default_rng(0)
    # MAX_CELLS limits runs times m: 4,000 of them, as elsewhere, would end the search at a tenth of
    # the rows
    runs = 400
    limit = min(limit, MAX_CELLS // runs)

    def enough(m: int) -> bool:
        labels = np.where(generator.random((runs, m)) < 0.5, 1, -1)
        best: NDArray[np.int64] = np.abs(labels.sum(axis=1))
        for _ in range(features):
            below = np.cumsum(generator.permuted(labels, axis=1), axis=1)
            # the sum above a cut less the sum below it: the edge of the stump there
            best = np.maximum(best, np.abs(below[:, -1:] - 2 * below).max(axis=1))
        return bool(np.mean(best / (2 * m) > epsilon) <= delta)

    return smallest(enough, limit)


def labelling_learned(domain: int) -> int | None:
    """Examples until the best learner's mean risk is 1/8, over all labellings of a domain."""
    return smallest(lambda n: no_free_lunch_risk(n, domain) <= 1 / 8, 4 * domain)


def good_rule_found(
    edge: float, delta: float, rounds: int, log_size: float, limit: int
) -> int | None:
    """Rows to draw until the one rule with this edge wins on the draw, in all rounds.

    All other rules, exp(log_size) - 1 of them, have just less than half the edge, so each that wins
    breaks the promise. The best of their scores on n rows is a maximum of independent binomials,
    whose distribution is exact. None if more than ``MAX_ROWS_DRAWN`` rows were needed.
    """
    others = math.expm1(min(log_size, 700.0))

    def enough(n: int) -> bool:
        score = np.arange(n + 1)
        below = exp(others * binom.logcdf(score - 1, n, (1 + edge / 2) / 2))
        fails = total(binom.pmf(score, n, (1 + edge) / 2) * (1 - below))
        return rounds * fails <= delta

    return smallest(enough, min(limit, MAX_ROWS_DRAWN))


def measure_rounds(epsilon: float, edge: float, threshold: float, limit: int) -> int | None:
    """Rounds of the clipped linear measure until its mean is below epsilon, against an adversary.

    The adversary gives the edge under the measure and no more, on points it chooses at random.
    """
    if _skipping.get():
        return None
    generator = np.random.default_rng(0)
    ahead = np.zeros(RUNS)  # right answers less wrong ones, for each point
    for number in range(1, min(limit, MAX_ROUNDS) + 1):
        measure = np.clip(1 - threshold * epsilon * edge * ahead, 0, 1)
        if measure.mean() <= epsilon:
            return number - 1
        order = generator.permutation(RUNS)
        wrong = np.cumsum(measure[order]) <= (1 - edge) / 2 * measure.sum()
        ahead[order] += np.where(wrong, -1, 1)
    return None


def boosted_majority(epsilon: float, delta: float, edge: float, limit: int) -> int | None:
    """Examples until boosted stumps have learned a majority of K features, K odd and K ≤ 1/edge.

    Under every distribution one of the K stumps has edge ≥ 1/K, as promised. There are forty runs
    for each size; None for small edges, because the simulation would take long.
    """
    features = max(1, math.floor(1 / edge) - (math.floor(1 / edge) + 1) % 2)
    if features > MAX_MAJORITY_FEATURES:
        return None
    generator = np.random.default_rng(0)

    def draw(n: int) -> tuple[ArrayTable, NDArray[np.int8]]:
        X = generator.random((n, features))
        majority = (X > 0.5).sum(axis=1) > features / 2
        return ArrayTable(X), np.where(majority, np.int8(1), np.int8(-1))

    def fails(m: int) -> bool:
        table, signs = draw(m)
        sample = Sample(table, signs[:, None], bins=fit_bins(table))
        run = Run(sample, Stump(), AdaBoost())
        list(islice(run, 100))
        fresh, labels = draw(2000)
        return bool(wrong_margins(run.vote().scores(fresh) * labels).mean() > epsilon)

    return smallest(lambda m: sum(fails(m) for _ in range(40)) <= 40 * delta, limit)
