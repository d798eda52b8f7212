"""The largest soft margin by one plain linear program over votes: slow, and written otherwise."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.sparse import csr_array, eye_array, hstack

Floats = NDArray[np.float64]


def largest_margin(columns: NDArray[np.int8], base: Floats, share: float) -> float:
    """Max ρ - Σ base·slack/share over votes of sum 1, with margin ≥ ρ - slack in every row."""
    rules, rows = columns.shape
    soft = share > 0
    c = np.concatenate([np.zeros(rules), [-1.0], base / share if soft else np.empty(0)])
    margins: Any = csr_array(np.hstack([-columns.T.astype(float), np.ones((rows, 1))]))
    if soft:
        margins = hstack([margins, -eye_array(rows)], format="csr")
    whole = np.zeros((1, c.size))
    whole[0, :rules] = 1
    bounds = [(0.0, None)] * rules + [(-2.0, 2.0)] + [(0.0, None)] * (rows if soft else 0)
    answer = linprog(c, margins, np.zeros(rows), whole, [1.0], bounds=bounds, method="highs")
    assert answer.fun is not None
    assert answer.status == 0
    return -float(answer.fun)
