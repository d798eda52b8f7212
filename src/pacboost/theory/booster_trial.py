"""Test a booster of your own as this package tests its own: against learners that do their worst.

An adversary keeps the promised edge and gives hardly more. After every round the vote is computed
again from its rules, and the state and the record of the run are compared with it.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.boosters.booster import Booster, Measured
from pacboost.boosters.bounded_weights import BoundedWeights, FilteringBooster
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
from pacboost.training.run.stop_reason import Stop

Floats = NDArray[np.float64]
MAX_ROWS = 10**6
TOLERANCE = 1e-9
"""Rounding of weights to whole numbers and of sums of floats, relative to 1."""


# The area under a ramp is summed at sixteen places a floor, since weights change between the floors
# of equal votes, too.
MAX_ROUNDS, MAX_FLOORS, STEPS_PER_FLOOR = 300, 10**5, 16

AREA_TOLERANCE = 1e-3
"""Relative tolerance of the area under a ramp, which is summed in steps."""


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
    is_bounded: bool = True
    """Whether the booster bounds its rounds, for the edge of the adversaries."""

    @property
    def holds(self) -> bool:
        """Whether no claim was violated."""
        return not self.violations

    def __str__(self) -> str:
        if self.holds:
            bound = "" if self.is_bounded else "; it claims no bound on its rounds"
            return f"{self.booster}: every claim holds after every round of {self.runs} runs{bound}"
        return "\n".join([f"{self.booster}:", *(f"  {each}" for each in self.violations)])


def try_booster(
    booster: Any, edge: float | None = None, *, rows: int = 120, rounds: int = 40, seed: int = 0
) -> BoosterTrial:
    """Test a booster against adversaries and stumps, and say which inequality fails in which round.

    Parameters
    ----------
    booster : Booster, str
        The booster, its name, or ``"module:Class"``.
    edge : float or None, default=None
        The edge that the adversaries promise and do not exceed; None: that of the booster, or 0.2.
    rows, rounds : int
        The size of each sample, and the rounds of each run after which every claim is checked. A
        booster with a promised edge goes on until it stops, for at most 300 more rounds.
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
    edge = probability("edge", (rules.promise or 0.2) if edge is None else edge)
    positive_whole("rounds", rounds)
    if positive_whole("rows", rows) > MAX_ROWS:
        raise invalid("rows", rows, f"must be at most {MAX_ROWS:,}; every run draws that many")
    # Three adversaries, as a booster may fail one and pass the others: wrong on random rows, on the
    # heaviest, or on the lightest as long as the promise lasts.
    learners = [Adversary(edge, order) for order in ("random", "heavy", "light")]
    violations = [*islice(_slope_violations(rules), 1)]
    for learner in [*learners, Stump()]:
        # base weights of all rows alike hide a booster that forgets them
        for weighted in (False, True):
            sample = _sample(rows, whole("seed", seed), weighted)
            violations += islice(_violations(Run(sample, learner, rules), rounds, weighted), 1)
    bounded = not isinstance(rules, FilteringBooster) or _claimed(rules, edge) < math.inf
    return BoosterTrial(rules.name, 2 * (len(learners) + 1), tuple(violations), bounded)


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
        # Claims of a round cost as much as the rounds before it, so the rest is only run.
        # warm_start promises the bytes of one long run, so a resumed run has to have the same
        # weights and votes
        resumed = _resumed(run)
        deque(islice(run, MAX_ROUNDS if _goes_on(run.booster) else 0), maxlen=0)
        if run.stopped is not None and run.stopped.kind is Stop.PAST_BOUND and _kept(run):
            claim = f"rounds until it stops ≤ {run.booster.promised_rounds:.6g}"
            yield Violation(
                claim, len(run.done), repr(run.learner), weighted, len(run.done),
                run.booster.promised_rounds,
            )  # fmt: skip
        claim, left, right = resumed
        if left > right:
            yield Violation(claim, len(run.done), repr(run.learner), weighted, left, right)


def _claimed(booster: FilteringBooster[Any], edge: float) -> float:
    """Return the rounds that a booster claims for its ``epsilon``; 0.1 if it has none."""
    return booster.most_rounds(edge, float(getattr(booster, "epsilon", 0.1)))


def _goes_on(booster: Booster[Any]) -> bool:
    """Check whether runs end by the promised edge, and not by a fixed number of rounds."""
    return bool(booster.promise) and booster.last_round == math.inf


def _kept(run: Run) -> bool:
    """Check whether every rule had the edge that the booster was promised."""
    least = run.booster.promise * (1 - TOLERANCE)
    return all(done.entry.edge >= least for done in run.done)


def _slope_violations(booster: Booster[Any]) -> Iterator[Violation]:
    """Check the claimed rounds against lecture 003's proof, for ramps and equal votes.

    A right rule lowers the chance M of a row by at most θ, and Σ M over the floors up to the one of
    weight 0 is at most the area S + θ/2. So T rounds of mean weight ε or more and edge r give
    Trε ≤ S + θT/2; the T that is claimed has to contradict this.
    """
    # The proof is for boosters whose votes are all the same.
    if not (isinstance(booster, BoundedWeights) and _goes_on(booster)) or booster.by_path:
        return
    # equal votes: two rules of different errors get the same
    votes = {booster.vote(Measured(8, wrong)) for wrong in (1, 3)}
    edge, claimed = booster.promise, _claimed(booster, booster.promise)
    if claimed == math.inf or len(votes) > 1:
        return
    step = votes.pop() / STEPS_PER_FLOOR
    ground = min(math.ceil(2 / step), MAX_FLOORS * STEPS_PER_FLOOR)
    margins = np.asarray(step * np.arange(ground + 1), dtype=np.float64)
    chances, later = (booster.chances(margins, rounds) for rounds in (0, 10))
    if not np.array_equal(chances, later) or chances[-1] > 0:
        return  # weights that go by rounds or never end have another proof
    # θ of the proof: by how much one right answer can lower the chance of a row
    steepest = float((chances[:-STEPS_PER_FLOOR] - chances[STEPS_PER_FLOOR:]).max())
    area = float((chances[:-1] + chances[1:]).sum()) / 2 / STEPS_PER_FLOOR
    level = float(getattr(booster, "epsilon", 0.1)) * float(getattr(booster, "share", 1.0))
    left, right = level * edge * claimed, area + steepest * claimed / 2
    if right > left * (1 + AREA_TOLERANCE):
        text = f"S + θT/2 ≤ εrT at the T = {claimed:.6g} rounds claimed, θ = {steepest:.4g}"
        yield Violation(text, 0, f"edge {edge:g}", False, right, left)


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
        # Z_t = √(1 - edge_t²) for votes that are not scaled, and the least edge has the largest of
        # them
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
