"""The largest margin of any vote of stumps, by a linear program over all of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

Floats = NDArray[np.float64]


def all_stumps(X: Floats) -> Floats:
    """What every stump answers on every row, (rows, stumps); both signs, and constants."""
    columns = [np.ones(len(X))]
    for x in X.T:
        columns += [np.where(x > threshold, 1.0, -1.0) for threshold in np.unique(x)[:-1]]
    answers = np.array(columns).T
    return np.hstack([answers, -answers])


def largest_margin(agree: Floats) -> float:
    """max over votes w ≥ 0, Σw = 1, of the least of agree·w."""
    rows, rules = agree.shape
    found = linprog(
        np.append(np.zeros(rules), -1.0),
        A_ub=np.hstack([-agree, np.ones((rows, 1))]),
        b_ub=np.zeros(rows),
        A_eq=np.append(np.ones(rules), 0.0)[None],
        b_eq=[1.0],
        bounds=[(0, None)] * rules + [(None, None)],
    )
    assert found.fun is not None
    return -float(found.fun)


def small_set(seed: int) -> tuple[Floats, NDArray[np.int8]]:
    """Few rows with few values, in both classes."""
    generator = np.random.default_rng(seed)
    rows, features = int(generator.integers(6, 14)), int(generator.integers(3, 9))
    X = generator.integers(int(generator.integers(2, 4)), size=(rows, features)).astype(float)
    signs = np.where(generator.random(rows) < 0.5, 1, -1).astype(np.int8)
    signs[:2] = 1, -1
    return X, signs
