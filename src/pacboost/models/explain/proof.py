"""The proof of AdaBoost's theorem on one run: every quantity of every round, computed from D_t.

1. D_{t+1}(i) = D_t(i) exp(-α_t y_i h_t(x_i))/Z_t, so exp(-y_i F(x_i))/m = D_{T+1}(i) ∏ Z_t.
2. A mistake has exp(-y F(x)) ≥ 1, so the training error is at most ∏ Z_t.
3. With α_t = ½ ln((1 - ε_t)/ε_t), Z_t = 2√(ε_t(1 - ε_t)), and h_t has error ½ under D_{t+1}.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import ParameterError
from pacboost.models.explain.row_weights import distribution, gains, log_costs, weights_of
from pacboost.models.model import Model
from pacboost.numerics.same_bits import exp, total
from pacboost.samples.sample import Sample

ROWS_SHOWN = 12


@dataclass(frozen=True, eq=False)
class ProofStep:
    """One round of the proof."""

    number: int
    rule: str
    weights: NDArray[np.float64]
    """D_t."""
    wrong: NDArray[np.bool_]
    """The rows on which the rule is wrong."""
    error: float
    """ε_t, the weight of those rows."""
    vote: float
    """α_t; the largest, where cells have votes of their own."""
    normaliser: float
    """Z_t = Σ D_t(i) exp(-α_t y_i h_t(x_i))."""
    product: float
    """Z_1 · … · Z_t."""
    training_error: float
    """The share of the rows, under D_1, that the vote of rounds 1 to t gets wrong; ties are."""
    error_after: float
    """The error of the same rule under D_{t+1}: ½ where the vote is ½ ln((1 - ε)/ε)."""

    @property
    def by_formula(self) -> float:
        """2√(ε_t(1 - ε_t)), the normaliser at the best vote."""
        return 2 * math.sqrt(self.error * (1 - self.error))

    def __str__(self) -> str:
        shown = self.weights[:ROWS_SHOWN]
        marks = [f"{d:.4f}{'*' if w else ' '}" for d, w in zip(shown, self.wrong, strict=False)]
        more = f" … ({self.weights.size} rows)" if self.weights.size > ROWS_SHOWN else ""
        return "\n".join(
            [
                f"round {self.number}: {self.rule}",
                f"  D_{self.number} = {' '.join(marks).rstrip()}{more}   (* the rule is wrong)",
                f"  ε = {self.error:.4f}   α = {self.vote:.4f}",
                f"  Z = {self.normaliser:.4f}   2√(ε(1 − ε)) = {self.by_formula:.4f}",
                f"  training error {self.training_error:.4f} ≤ ∏Z = {self.product:.4f}",
                f"  error of this rule under D_{self.number + 1} = {self.error_after:.4f}",
            ]
        )


@dataclass(frozen=True)
class Proof:
    """All rounds; ``print`` shows them one after the other."""

    steps: tuple[ProofStep, ...]

    def __len__(self) -> int:
        return len(self.steps)

    def __getitem__(self, place: int) -> ProofStep:
        return self.steps[place]

    def __str__(self) -> str:
        return "\n\n".join(map(str, self.steps))


def proof_of(model: Model, sample: Sample) -> Proof:
    """Compute the quantities of all rounds, for two classes."""
    if sample.signs.shape[1] > 1:
        raise ParameterError("the proof is shown for two classes; fit y == k, one against the rest")
    weights_of(model, sample, len(model.vote.votes) + 1)  # refuses other boosters and other rows
    costs = log_costs(model, sample)
    product, steps = 1.0, []
    pairs = zip(model.ledger.rounds, gains(model, sample), strict=True)
    for number, (entry, gained) in enumerate(pairs, start=1):
        before, after = distribution(costs[number - 1]), distribution(costs[number])
        normaliser = total(before * exp(-gained))
        product *= normaliser
        wrong = gained <= 0
        steps.append(
            ProofStep(
                number, entry.rule, before, wrong, total(before[wrong]), entry.vote,
                normaliser, product, entry.training_error, total(after[wrong]),
            )
        )  # fmt: skip
    return Proof(tuple(steps))
