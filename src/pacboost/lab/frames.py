"""What a round left behind, as the page needs it, whichever way the rule was made."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.hypotheses.hypothesis import Hypothesis
from pacboost.hypotheses.stump import StumpRule
from pacboost.hypotheses.tree import TreeRule
from pacboost.ledgers.ledger import Round

Doubles = NDArray[np.float64]
HEAVIEST = 8
CDF = np.linspace(-1.0, 1.0, 101)


@dataclass(frozen=True, eq=False)
class RoundFrame:
    """One finished round."""

    entry: Round
    rule: Hypothesis
    own: bool
    """Whether the rule was given by hand."""
    weights: Doubles
    """D_t."""
    agree: NDArray[np.int8]
    """+1 where the rule is right, -1 where it is wrong, 0 where it says nothing."""
    margins: Doubles
    """Normalised margins after the round."""
    votes: Doubles
    """The votes of all rounds so far, as they are after this one."""
    total: float
    """The sum of the largest votes: what scores are divided by."""
    error_after: float | None
    """The error of the rule under D_{t+1}."""
    wrong_test: int | None


def f32(values: Any) -> str:
    """Write numbers as base64 of 32-bit floats, little-endian."""
    return base64.b64encode(np.ascontiguousarray(values, dtype="<f4").tobytes()).decode()


def i8(values: Any) -> str:
    """Write small whole numbers as base64 of bytes."""
    return base64.b64encode(np.ascontiguousarray(values, dtype=np.int8).tobytes()).decode()


def heaviest(weights: Doubles, ids: NDArray[np.int64]) -> list[list[float]]:
    """Give the points of the largest weight: pairs of id and weight."""
    order = np.argsort(-weights, kind="stable")[:HEAVIEST]
    return [[int(ids[row]), float(weights[row])] for row in order]


def effective_size(weights: Doubles) -> float:
    """Give 1/Σ D², the number of equally weighted points that D is worth."""
    return float(1 / (weights**2).sum())


def cumulated(margins: Doubles) -> Doubles:
    """Give the share of points with margins up to -1, -0.98, …, 1.

    >>> cumulated(np.array([-0.5, 0.5]))[[0, 50, 100]].tolist()
    [0.0, 0.5, 1.0]
    """
    # Margins are sums of rounded votes: 1 may come out as a little more.
    found: Doubles = np.searchsorted(np.sort(margins), CDF + 1e-9, side="right") / margins.size
    return found


def shape_of(rule: Hypothesis) -> dict[str, Any]:
    """Say how a rule can be drawn."""
    inner = rule.unvalued
    if isinstance(inner, StumpRule):
        finite = bool(np.isfinite(inner.threshold))
        return {
            "kind": "stump", "feature": inner.feature,
            "threshold": float(inner.threshold) if finite else None, "above": inner.above,
        }  # fmt: skip
    if isinstance(inner, TreeRule):
        return {"kind": "tree", "leaves": len(inner.values)}
    fitted: Any = getattr(inner, "inner", None)
    coefficients = np.ravel(getattr(fitted, "coef_", ()))
    if coefficients.size == 2:
        sign = int(getattr(inner, "sign", 1))
        bias = sign * float(np.ravel(fitted.intercept_)[0])
        return {"kind": "halfspace", "weights": (sign * coefficients).tolist(), "bias": bias}
    return {"kind": "other"}
