"""Test a booster of your own as this package tests its own: against learners that do their worst.

An adversary keeps the promised edge and gives hardly more. After every round the vote is computed
again from its rules, and the state and the record of the run are compared with it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.boosters.bounded_weights import FilteringBooster
from pacboost.boosters.choose import as_booster
from pacboost.bounds.training import product_bound
from pacboost.errors import PacboostError, invalid
from pacboost.learners.stump import Stump
from pacboost.numerics.checks import positive_whole, probability, whole
from pacboost.samples.bins import fit_bins
from pacboost.samples.sample import Sample
from pacboost.sources.arrays import ArrayTable
from pacboost.theory.learners import Adversary
from pacboost.training.run.loop import Run

Floats = NDArray[np.float64]
MAX_ROWS = 10**6
TOLERANCE = 1e-9
"""Rounding of weights to whole numbers and of sums of floats, relative to 1."""


@dataclass(frozen=True)
class Violation:
    """A claim that is false after a round: its left side is larger than its right side.

    ``right`` is nan if the run raised an error, which is then the claim.
    """

    claim: str
    round: int
    learner: str
    weighted: bool
    left: float
    right: float

    def __str__(self) -> str:
        rows = "weighted rows" if self.weighted else "rows of equal weight"
        sides = "" if math.isnan(self.right) else f", but {self.left:.6g} > {self.right:.6g}"
        return f"round {self.round}, {self.learner}, {rows}: {self.claim}{sides}"


@dataclass(frozen=True)
class BoosterTrial:
    """What ``try_booster`` found: the first violation of each run."""

    booster: str
    runs: int
    violations: tuple[Violation, ...]

    @property
    def holds(self) -> bool:
        """Whether no claim was violated."""
        return not self.violations

    def __str__(self) -> str:
        if self.holds:
            return f"{self.booster}: every claim holds after every round of {self.runs} runs"
        return "\n".join([f"{self.booster}:", *(f"  {each}" for each in self.violations)])


def try_booster(
    booster: Any, edge: float = 0.2, *, rows: int = 120, rounds: int = 40, seed: int = 0
) -> BoosterTrial:
    """Test a booster against adversaries and stumps, and say which inequality fails in which round.

    Parameters
    ----------
    booster : Booster, str
        The booster, its name, or ``"module:Class"``.
    edge : float, default=0.2
        The edge that the adversaries promise and do not exceed.
    rows, rounds : int
        The size of each sample, and the rounds of each run.
    seed : int, default=0
        Determines the samples.

    Returns
    -------
    BoosterTrial
        ``print`` shows the first violation of each run.

    Examples
    --------
    >>> print(try_booster("adaboost"))
    adaboost: every claim holds after every round of 8 runs
    """
    rules = as_booster(booster)
    probability("edge", edge)
    positive_whole("rounds", rounds)
    if positive_whole("rows", rows) > MAX_ROWS:
        raise invalid("rows", rows, f"must be at most {MAX_ROWS:,}; every run draws that many")
    learners = [Adversary(edge, order) for order in ("random", "heavy", "light")]
    violations: list[Violation] = []
    for learner in [*learners, Stump()]:
        for weighted in (False, True):
            sample = _sample(rows, whole("seed", seed), weighted)
            violations += islice(_violations(Run(sample, learner, rules), rounds, weighted), 1)
    return BoosterTrial(rules.name, 2 * (len(learners) + 1), tuple(violations))


def _sample(rows: int, seed: int, weighted: bool) -> Sample:
    """Draw rows of three columns with ties and repeated rows; a fifth of the labels is wrong."""
    generator = np.random.default_rng(seed)
    X = generator.integers(8, size=(rows, 3)).astype(np.float64)
    signs = np.where((X[:, 0] + X[:, 1] > 7) ^ (generator.random(rows) < 0.2), 1, -1)
    base = generator.integers(1, 20, size=rows).astype(np.float64) if weighted else np.ones(1)
    table = ArrayTable(X)
    bins = fit_bins(table, 255, base if weighted else None)
    return Sample(table, signs.astype(np.int8)[:, None], base, bins)


Claim = tuple[str, float, float]
"""What is claimed, and the side that must not be larger than the other, and the other."""


def _violations(run: Run, rounds: int, weighted: bool) -> Iterator[Violation]:
    """Run, and yield the claims that are false, round by round."""
    least_mean = math.inf
    for number in range(1, rounds + 1):
        before, margins = run.weights.copy(), run.margins.copy()
        try:
            done = next(iter(run), None)
            if done is None:
                break
            least_mean = min(least_mean, _mean_chance(run, margins, number - 1))
            claims = [*_weight_claims(run, before, margins, number - 1)]
            if len(run.done) == number:  # else a rule without mistakes has replaced all rounds
                claims += [*_vote_claims(run), *_theorem_claims(run, least_mean)]
        except (PacboostError, ArithmeticError) as problem:
            claims = [(str(problem), math.inf, math.nan)]
        for claim, left, right in claims:
            if not left <= right:
                yield Violation(claim, number, repr(run.learner), weighted, left, right)
    if run.done:
        claim, left, right = _resumed(run)
        if left > right:
            yield Violation(claim, len(run.done), repr(run.learner), weighted, left, right)


def _weight_claims(
    run: Run, weights: NDArray[np.int64], margins: Floats, t: int
) -> Iterator[Claim]:
    """Yield what must hold for D_{t+1}, given the margins after t rounds."""
    booster, base = run.booster, np.broadcast_to(run.sample.base, (run.sample.n_rows,))
    yield "no weight is negative", -float(weights.min()), 0.0
    if booster.request(run.state).signed:
        yield "every weight is at least one unit", 1.0, float(weights.min())
    if booster.potential == "exponential":
        expected, name = base * np.exp(margins.min() - margins[:, 0]), "exp(-margin)"
    elif isinstance(booster, FilteringBooster) and not booster.by_path:
        chances = booster.chances(margins, t, run.sample.signs)
        yield "chances are at most 1", float(chances.max()), 1.0
        expected, name = base * chances, "chances"
    else:
        return
    distance = np.abs(weights / weights.sum() - expected / expected.sum()).sum() / 2
    yield f"weights are proportional to base weight · {name}", float(distance), TOLERANCE


def _vote_claims(run: Run) -> Iterator[Claim]:
    """Claim that state and record agree with the vote, and the bound with both."""
    sample, entry = run.sample, run.done[-1].entry
    margins = run.vote().scores(sample.table) * sample.signs[:, 0]
    size = 1 + float(np.abs(margins).max())
    apart = float(np.abs(margins - run.margins[:, 0]).max())
    yield "the margins of the state are those of the vote", apart, TOLERANCE * size
    base = np.broadcast_to(sample.base / sample.base.sum(), (sample.n_rows,)) / (
        sample.n_rows if sample.base.size == 1 else 1
    )
    error = float(base[margins <= 0].sum())
    apart = abs(error - entry.training_error)
    yield "the recorded training error is that of the vote, a tie is an error", apart, TOLERANCE
    ledger = run.ledger()
    yield "training error ≤ bound of the potential", error, product_bound(ledger) + TOLERANCE
    if ledger.potential == "exponential":
        product = math.prod(each.normaliser for each in ledger.rounds)
        apart = abs(product - float(base @ np.exp(-margins))) / product
        yield "∏ Z is the mean of exp(-margin)", apart, 1e-6


def _mean_chance(run: Run, margins: Floats, t: int) -> float:
    """Return the mean chance times the error factor; infinite if chances do not follow margins."""
    booster, base = run.booster, run.sample.base
    if not isinstance(booster, FilteringBooster) or booster.by_path:
        return math.inf
    chances = booster.chances(margins, t, run.sample.signs)
    weights = np.broadcast_to(base, chances.shape)
    return float(np.average(chances, weights=weights)) * (booster.error_factor or 1.0)


def _theorem_claims(run: Run, least_mean: float) -> Iterator[Claim]:
    """Claim the theorem for the least edge of all rounds so far."""
    booster, entries = run.booster, run.ledger().rounds
    edge = min(entry.edge for entry in entries)
    if booster.plain_votes and not run.cells and edge > 0:
        product = math.prod(entry.normaliser for entry in entries)
        promised = (1 - edge**2) ** (len(entries) / 2)
        yield (
            f"∏ Z ≤ (1 - edge²)^(rounds/2), edge = {edge:.4g}",
            product,
            promised * (1 + TOLERANCE),
        )
    if isinstance(booster, FilteringBooster) and 0 < least_mean < math.inf and edge > 0:
        error = float(run.done[-1].entry.training_error)
        after = _mean_chance(run, run.margins, len(entries))
        if booster.error_factor > 0:  # boosting by majority has no such bound
            yield "training error ≤ error_factor · mean chance", error, after + TOLERANCE
        most = booster.most_rounds(edge, least_mean) * (1 + TOLERANCE)
        yield f"rounds ≤ most_rounds({edge:.4g}, {least_mean:.4g})", float(len(entries)), most


def _resumed(run: Run) -> Claim:
    """Claim that a run which is resumed after half of its rounds gets the same votes."""
    rounds = len(run.done)
    half = Run(run.sample, run.learner, run.booster)
    list(islice(half, rounds // 2))
    again = Run(run.sample, run.learner, run.booster)
    rules = [done.hypothesis for done in half.done]  # the vote may be another classifier of them
    votes = half.booster.votes(half.state).tolist()
    again.resume(rules, votes, half.ledger().rounds)
    list(islice(again, rounds - rounds // 2))
    same = np.array_equal(again.weights, run.weights)
    same &= np.array_equal(again.vote().votes, run.vote().votes)
    return "a resumed run continues with the same weights and votes", float(not same), 0.0
