"""The proof of lecture 003, claim by claim, in fractions, for a run of the measure booster.

R_{i+1}(x) is +1 where rule i + 1 is right and -1 where it is wrong, N_i(x) = R_1 + … + R_i is the
floor of an elevator, θ = εγ, and M_i = clip(1 - θN_i, 0, 1) is the measure with the mean μ_i. Then

1. error(majority of i rules) ≤ μ_i: a row on floor 0 or below has M = 1;
2. advantage_i = E[R_{i+1} M_i] ≥ γμ_i: the promise of the weak learner;
3. a floor is crossed upwards at most once more than downwards (below the ground: the reverse);
4. A_i(x) = Σ_{j<i} R_{j+1} M_j ≤ 1/(2θ) + θi/2, since a pair of crossings gives at most θ.

Sum 2 over i and take the mean of 4: T·γ·min μ ≤ E[A_T] ≤ 1/(2θ) + θT/2, which bounds T. Everything
is a whole number over the denominator of θ, so that no comparison is rounded.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from operator import mul
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.boosters.filtering import Measure
from pacboost.errors import DataError, ParameterError
from pacboost.ledgers.ledger import Ledger

Doubles = NDArray[np.float64]
Wholes = NDArray[np.int64]
Ramp = Callable[[Wholes, int, int], Wholes]
"""The measure of floors as numerators: (floors, numerator of θ, denominator of θ)."""
ROUNDING = Fraction(1, 10**6)
"""Distance allowed between μ in fractions and as recorded, by weights rounded to whole units."""
ROWS_SHOWN, ROUNDS_SHOWN, MAX_DENOMINATOR_SHOWN = 12, 4, 10**6


def lecture_ramp(floors: Wholes, numerator: int, denominator: int) -> Wholes:
    """Return clip(1 - θN, 0, 1), times the denominator of θ."""
    return np.asarray(np.clip(denominator - numerator * floors, 0, denominator))


def short(value: Fraction) -> str:
    """Return a fraction, or a decimal if its denominator is large.

    >>> short(Fraction(3, 10)), short(Fraction(1, 3**20))
    ('3/10', '2.87e-10')
    """
    return str(value) if value.denominator <= MAX_DENOMINATOR_SHOWN else f"{float(value):.3g}"


@dataclass(frozen=True)
class Inequality:
    """A step of the proof: its left side is at most its right side."""

    claim: str
    left: Fraction
    right: Fraction

    @property
    def holds(self) -> bool:
        return self.left <= self.right

    def __str__(self) -> str:
        sign = "≤" if self.holds else "> (broken)"
        return f"{self.claim}: {short(self.left)} {sign} {short(self.right)}"


@dataclass(frozen=True, eq=False)
class MeasureRound:
    """One round of the proof; arrays have an entry for each row."""

    number: int
    rule: str
    floors: Wholes
    """N before the round."""
    measure: tuple[Fraction, ...]
    """M before the round."""
    right: NDArray[np.int8]
    """R: 1 where the rule is right, -1 where it is wrong, 0 where it abstains."""
    mean: Fraction
    """μ, the mean of M."""
    advantage: Fraction
    """The mean of R·M."""
    collected: tuple[Fraction, ...]
    """A after the round."""
    claims: tuple[Inequality, ...]

    def __str__(self) -> str:
        def cells(values: Any) -> str:
            ellipsis = " …" if len(values) > ROWS_SHOWN else ""
            return " ".join(f"{value!s:>7}" for value in values[:ROWS_SHOWN]) + ellipsis

        before = self.number - 1
        return "\n".join(
            [
                f"round {self.number}: {self.rule}",
                f"  N_{before} = {cells(self.floors)}",
                f"  M_{before} = {cells(self.measure)}",
                f"  R_{self.number} = {cells([('0', '+1', '-1')[r] for r in self.right.tolist()])}",
                f"  A_{self.number} = {cells(self.collected)}",
                *(f"  {claim}" for claim in self.claims),
            ]
        )


@dataclass(frozen=True, eq=False)
class MeasureProof:
    """The proof for one run; ``print`` shows the first and the last rounds and what is broken."""

    edge: Fraction
    """γ, the promised edge."""
    epsilon: Fraction
    """cε: ε times the ``share`` of the booster."""
    rounds: tuple[MeasureRound, ...]
    up: dict[int, int]
    """By k ≥ 0 or k < 0: how often all rows together went from floor k to floor k + 1."""
    down: dict[int, int]
    """How often they went from floor k + 1 to floor k."""

    @property
    def slope(self) -> Fraction:
        """θ = εγ."""
        return self.edge * self.epsilon

    def line(self, rounds: int) -> Fraction:
        """Return 1/(2θ) + θ·rounds/2, which no row collects more than."""
        return 1 / (2 * self.slope) + self.slope * rounds / 2

    @property
    def most_rounds(self) -> int:
        """⌊1/θ²⌋, the last round that can start with a mean measure of ε."""
        return math.floor(1 / self.slope**2)

    @property
    def broken(self) -> tuple[tuple[int, Inequality], ...]:
        """The inequalities that fail, with the number of their round."""
        return tuple((r.number, c) for r in self.rounds for c in r.claims if not c.holds)

    @property
    def holds(self) -> bool:
        return not self.broken

    def __len__(self) -> int:
        return len(self.rounds)

    def __getitem__(self, place: int) -> MeasureRound:
        return self.rounds[place]

    def __str__(self) -> str:
        many = len(self) > 2 * ROUNDS_SHOWN
        first, last = self.rounds[: ROUNDS_SHOWN if many else None], self.rounds[-1:] * many
        between = [f"… rounds {ROUNDS_SHOWN + 1} to {len(self) - 1} …"] if many else []
        return "\n\n".join(
            [self._heading(), *map(str, first), *between, *map(str, last), *self._end()]
        )

    def _heading(self) -> str:
        return (
            f"γ = {self.edge}   ε = {self.epsilon}   θ = εγ = {self.slope}   "
            f"at most 1/θ² = {self.most_rounds} rounds (the lecture: {2 * self.most_rounds})"
        )

    def _end(self) -> Iterator[str]:
        crossed = [
            f"  {k} and {k + 1}: {self.up.get(k, 0)} up, {self.down.get(k, 0)} down"
            for k in sorted({*self.up, *self.down})
        ]
        middle = [f"  … {len(crossed) - 2 * ROUNDS_SHOWN} more …"]
        if len(crossed) > 2 * ROUNDS_SHOWN + 1:
            crossed = crossed[:ROUNDS_SHOWN] + middle + crossed[-ROUNDS_SHOWN:]
        yield "\n".join(["crossings of floors, all rows together:", *crossed])
        if self.broken:
            number, claim = self.broken[0]
            yield f"broken in round {number}, {claim} ({len(self.broken)} broken in all)"
        elif self.rounds:
            total = len(self)
            gained = sum((step.advantage for step in self.rounds), Fraction(0))
            least = total * self.edge * min(step.mean for step in self.rounds)
            yield (
                f"{total} rounds: Tγ·min μ = {float(least):.6g} ≤ E[A_T] = {float(gained):.6g} ≤ "
                f"1/(2θ) + θT/2 = {float(self.line(total)):.6g}; every inequality holds"
            )


def fraction(value: float) -> Fraction:
    """Return the fraction that a decimal is read as: 1/10 for 0.1."""
    # Fraction(0.1) is the float, 3602879701896397/36028797018963968; what a person wrote is 1/10
    return Fraction(repr(float(value)))


def proof_of(booster: Any, gains: Sequence[Doubles], base: Doubles, ledger: Ledger) -> MeasureProof:
    """Write the proof for a run, given what each round added to the margins of its rows."""
    votes = {entry.vote for entry in ledger.rounds}
    if not (isinstance(booster, Measure) and votes <= {booster.slope}):
        raise ParameterError(
            "the edge and epsilon of this run are not known, since its votes are not those of "
            "`booster`; fit with booster=Measure(edge, epsilon), and do not change it afterwards",
            parameter="booster",
        )
    right = [np.sign(gained).astype(np.int8) for gained in gains]
    _check_rows(right, base, ledger)
    epsilon = fraction(booster.share) * fraction(booster.epsilon)
    recorded = list(accumulate((entry.normaliser for entry in ledger.rounds), mul, initial=1.0))
    rules = [entry.rule for entry in ledger.rounds]
    return prove(right, base, fraction(booster.edge), epsilon, rules, recorded[: len(right)])


def _check_rows(right: Sequence[NDArray[np.int8]], base: Doubles, ledger: Ledger) -> None:
    """Raise DataError unless every round has the training error that the ledger records."""
    floors = np.cumsum(np.array(right, dtype=np.int64).reshape(len(right), base.size), axis=0)
    errors = (floors <= 0) @ base / base.sum()
    recorded = [entry.training_error for entry in ledger.rounds]
    if np.count_nonzero(base) != ledger.rows or not np.allclose(errors, recorded, atol=1e-6):
        raise DataError(
            f"these {base.size} rows are not the {ledger.rows} rows, labels and weights of the "
            "training set. Give the same X, y and sample_weight as to fit"
        )


def prove(
    right: Sequence[NDArray[np.int8]],
    base: Doubles,
    edge: Fraction,
    epsilon: Fraction,
    rules: Sequence[str],
    recorded: Sequence[float],
    ramp: Ramp = lecture_ramp,
) -> MeasureProof:
    """Write the proof for the answers of rules on rows.

    ``recorded`` has μ before each round, as the run weighed it; ``ramp`` is another measure in
    place of the lecture's, for which the proof should break.
    """
    theta, rows = edge * epsilon, len(base)
    p, q = theta.numerator, theta.denominator
    shares = [Fraction(float(weight)) for weight in base.tolist()]
    whole = sum(shares, Fraction(0))

    def mean(values: Wholes) -> Fraction:
        products = (s * v for s, v in zip(shares, values.tolist(), strict=True))
        return sum(products, Fraction(0)) / whole

    floors, collected = np.zeros(rows, dtype=np.int64), np.zeros(rows, dtype=np.int64)
    crossings, rounds = Crossings(rows), []
    for number, (answers, rule) in enumerate(zip(right, rules, strict=True), start=1):
        before, weights = floors, ramp(floors, p, q)
        mu, advantage = mean(weights) / q, mean(answers * weights) / q
        floors, collected = floors + answers, collected + answers * weights
        claims = (
            Inequality("error of the majority ≤ μ", mean((before <= 0).astype(np.int64)), mu),
            Inequality("γμ ≤ advantage", edge * mu, advantage),
            Inequality(
                "crossings of a floor, one way less the other ≤ 1",
                Fraction(crossings.count(before, answers)), Fraction(1),
            ),
            Inequality(
                "largest A ≤ 1/(2θ) + θi/2",
                Fraction(int(collected.max()), q), 1 / (2 * theta) + theta * number / 2,
            ),
            Inequality(
                "distance of μ from the recorded μ",
                abs(mu - Fraction(recorded[number - 1])), ROUNDING,
            ),
        )  # fmt: skip
        measure = tuple(Fraction(weight, q) for weight in weights.tolist())
        gathered = tuple(Fraction(value, q) for value in collected.tolist())
        rounds.append(
            MeasureRound(number, rule, before, measure, answers, mu, advantage, gathered, claims)
        )
    return MeasureProof(edge, epsilon, tuple(rounds), crossings.up, crossings.down)


class Crossings:
    """How often rides go from floor k to floor k + 1 and back; ``up`` and ``down`` are by k."""

    def __init__(self, rows: int) -> None:
        self.up: dict[int, int] = {}
        self.down: dict[int, int] = {}
        self._net: dict[int, Wholes] = {}
        """By k, for each row: crossings upwards minus crossings downwards."""
        self._rows = rows

    def count(self, floors: Wholes, steps: NDArray[np.int8]) -> int:
        """Count a step of every row; return the largest excess of one way over the other.

        It counts crossings towards the ground floor from 1 on, which the elevator argument allows.
        """
        excess = 0
        lower = np.minimum(floors, floors + steps)
        for k in np.unique(lower[steps != 0]).tolist():
            here = (lower == k) * steps
            for counts, way in ((self.up, 1), (self.down, -1)):
                counts[k] = counts.get(k, 0) + int((here == way).sum())
            net = self._net.setdefault(k, np.zeros(self._rows, dtype=np.int64))
            net += here
            away = net if k >= 0 else -net  # from the ground floor; the lemma: 0 or 1
            excess = max(excess, int(np.maximum(away, 1 - away).max()))
        return excess
