"""Boosted trees on an NVIDIA GPU, beside XGBoost on the same card in one run.

    python benchmarks/bench_gpu.py                  # 1,000,000 and 10,000,000 rows of 28 numbers
    python benchmarks/bench_gpu.py --rows 1000000

"training" starts when the data is on the card, "everything" with arrays in the CPU's memory. Both
are the best of two, in seconds for 100 trees at rate 0.1.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import cupy
import numpy as np
import xgboost

from pacboost import BoostClassifier
from pacboost.kernels.cuda.device import describe

SHAPES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "31 leaves": (
        {"max_leaves": 31},
        {"grow_policy": "lossguide", "max_leaves": 31, "max_depth": 0},
    ),
    "depth 6": ({"max_leaves": 64, "max_depth": 6}, {"max_depth": 6}),
    "depth 8": ({"max_leaves": 256, "max_depth": 8}, {"max_depth": 8}),
    "stumps": ({"max_leaves": 2}, {"max_depth": 1}),
}
TREES = 100


def data(rows: int) -> tuple[Any, Any]:
    """Draw numbers of two classes that overlap, on the card."""
    draw = cupy.random.default_rng(1)
    X = draw.standard_normal((rows, 28), dtype=cupy.float32)
    scores = X @ draw.standard_normal(28, dtype=cupy.float32) + cupy.sin(3 * X[:, 0])
    return X, (scores + draw.standard_normal(rows, dtype=cupy.float32) > 0).astype(cupy.int32)


def ours(X: Any, y: Any, shape: dict[str, Any]) -> tuple[float, float]:
    """Give the seconds of all rounds, and of the whole fit."""
    ends: list[float] = []
    model = BoostClassifier(
        booster="logit", learner="tree", n_rounds=TREES, learning_rate=0.1, device="cuda",
        random_state=0, early_stopping=False, verbose=0,
        callbacks=[lambda entry: ends.append(time.perf_counter())], **shape,
    )  # fmt: skip
    started = time.perf_counter()
    model.fit(X, y)
    return (ends[-1] - ends[1]) / (TREES - 2) * TREES, time.perf_counter() - started


def theirs(host: Any, held: Any, labels: Any, shape: dict[str, Any]) -> tuple[float, float]:
    """Give the seconds of XGBoost's training, and of everything."""
    wanted = {"device": "cuda", "objective": "binary:logistic", "eta": 0.1, "max_bin": 255} | shape
    matrix = xgboost.QuantileDMatrix(held, label=labels, max_bin=255)
    cupy.cuda.Device().synchronize()
    started = time.perf_counter()
    xgboost.train(wanted, matrix, TREES)
    training = time.perf_counter() - started
    started = time.perf_counter()
    xgboost.train(wanted, xgboost.QuantileDMatrix(host, label=labels.get(), max_bin=255), TREES)
    return training, time.perf_counter() - started


def best(times: Callable[..., tuple[float, float]], *arguments: Any) -> tuple[float, float]:
    """Run twice, and give the better of each."""
    first, second = times(*arguments), times(*arguments)
    return min(first[0], second[0]), min(first[1], second[1])


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="*", default=[1_000_000, 10_000_000])
    given = parser.parse_args()
    print(f"{describe()}; XGBoost {xgboost.__version__}")
    warm, labels = data(1_000)
    ours(warm.get(), labels.get(), {"max_leaves": 31})
    heads = "".join(f"{name:>10}" for name in ("pacboost", "XGBoost", "ratio"))
    print(f"{'':21}{'training':>30}{'everything':>30}")
    print(f"{'rows':>10} {'trees':10}{heads}{heads}")
    for rows in given.rows:
        X, y = data(rows)
        host, host_y = X.get(), y.get().astype(np.int64)
        for name, (own, other) in SHAPES.items():
            here, there = best(ours, host, host_y, own), best(theirs, host, X, y, other)
            pairs = zip(here, there, strict=True)
            line = "".join(f"{p:10.3f}{q:10.3f}{q / p:10.2f}" for p, q in pairs)
            print(f"{rows:>10,} {name:10}{line}", flush=True)


if __name__ == "__main__":
    main()
