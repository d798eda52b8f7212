"""Boosted trees on an NVIDIA GPU, beside XGBoost on the same card in one run.

    python benchmarks/bench_gpu.py                  # 1,000,000 and 10,000,000 rows of 28 numbers
    python benchmarks/bench_gpu.py --rows 1000000
    python benchmarks/bench_gpu.py --rows --forests 500   # forests on the card and on the CPU

"training" starts when the data is on the card, "everything" with arrays in the CPU's memory. Both
are the best of two (--times), in seconds for 100 trees at rate 0.1. "scores" are those of all rows
under 100 trees of 31 leaves, from arrays on the card and from arrays in the CPU's memory. "26
classes" are 20 rounds on a million rows of 16 numbers.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import cupy
import numpy as np
import xgboost

from pacboost import BoostClassifier, ExtraTreesClassifier, RandomForestClassifier
from pacboost.kernels.device import describe

SHAPES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "31 leaves": (
        {"max_leaves": 31},
        {"grow_policy": "lossguide", "max_leaves": 31, "max_depth": 0},
    ),
    "depth 6": ({"max_leaves": 64, "max_depth": 6}, {"max_depth": 6}),
    "depth 8": ({"max_leaves": 256, "max_depth": 8}, {"max_depth": 8}),
    "stumps": ({"max_leaves": 2}, {"max_depth": 1}),
}
ALL_ROWS_AND_COLUMNS: dict[str, Any] = {
    "subsample": 1.0,
    "max_features": 1.0,
    "min_leaf_rows": 20,
    "early_stopping": False,
}
"""Trees of all rows and columns, as those of XGBoost."""
TREES = 100
N_ROWS_LARGE = 1_000_000
"""Rows of the benchmark with 26 classes."""


def data(rows: int) -> tuple[Any, Any]:
    """Draw numbers of two classes that overlap, on the card."""
    draw = cupy.random.default_rng(1)
    X = draw.standard_normal((rows, 28), dtype=cupy.float32)
    scores = X @ draw.standard_normal(28, dtype=cupy.float32) + cupy.sin(3 * X[:, 0])
    return X, (scores + draw.standard_normal(rows, dtype=cupy.float32) > 0).astype(cupy.int32)


def ours(X: Any, y: Any, shape: dict[str, Any]) -> tuple[float, float]:
    """Return the seconds of all rounds, and of the whole fit."""
    ends: list[float] = []
    model = BoostClassifier(
        booster="logit", learner="tree", n_estimators=TREES, learning_rate=0.1, device="cuda",
        random_state=0, verbose=0,
        callbacks=[lambda entry: ends.append(time.perf_counter())], **ALL_ROWS_AND_COLUMNS, **shape,
    )  # fmt: skip
    started = time.perf_counter()
    model.fit(X, y)
    total = time.perf_counter() - started
    return (ends[-1] - ends[1]) / (TREES - 2) * TREES, total


def seconds(work: Callable[[], Any]) -> float:
    """Return the shortest of three times of a call on the GPU."""
    times = []
    for _ in range(3):
        started = time.perf_counter()
        work()
        cupy.cuda.Device().synchronize()
        times.append(time.perf_counter() - started)
    return min(times)


def scoring(
    host: Any, device_rows: Any, labels: Any
) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return seconds of our scores and of XGBoost's, from the card and from the CPU's memory."""
    ours, other = SHAPES["31 leaves"]
    model = BoostClassifier(
        booster="logit", learner="tree", n_estimators=TREES, learning_rate=0.1, device="cuda",
        random_state=0, verbose=0, **ALL_ROWS_AND_COLUMNS, **ours,
    ).fit(device_rows, labels)  # fmt: skip
    matrix = xgboost.QuantileDMatrix(device_rows, label=labels, max_bin=255)
    parameters = {"device": "cuda", "eta": 0.1, "max_bin": 255} | other
    theirs = xgboost.train(parameters, matrix, TREES)
    here = [seconds(partial(model.decision_function, X)) for X in (device_rows, host)]
    there = [seconds(partial(theirs.inplace_predict, X)) for X in (device_rows, host)]
    return (here[0], here[1]), (there[0], there[1])


def many_classes(rows: int, rounds: int = 20) -> tuple[float, float]:
    """Return our seconds and XGBoost's for 26 classes, everything included."""
    draw = np.random.default_rng(0)
    X = draw.normal(size=(rows, 16)).astype(np.float32)
    y = (X @ draw.normal(size=(16, 26)) + draw.normal(size=(rows, 26))).argmax(axis=1)
    model = BoostClassifier(
        n_estimators=rounds, learning_rate=0.2, device="cuda", random_state=0, verbose=0,
        **ALL_ROWS_AND_COLUMNS | {"max_features": 0.5},
    )  # fmt: skip
    parameters = {"device": "cuda", "objective": "multi:softprob", "num_class": 26, "max_bin": 255}

    def theirs() -> None:
        xgboost.train(parameters, xgboost.QuantileDMatrix(X, label=y, max_bin=255), rounds)

    return seconds(partial(model.fit, X, y)), seconds(theirs)


def theirs(host: Any, device_rows: Any, labels: Any, shape: dict[str, Any]) -> tuple[float, float]:
    """Return the seconds of XGBoost's training, and of everything."""
    parameters = {
        "device": "cuda",
        "objective": "binary:logistic",
        "eta": 0.1,
        "max_bin": 255,
    } | shape
    matrix = xgboost.QuantileDMatrix(device_rows, label=labels, max_bin=255)
    cupy.cuda.Device().synchronize()
    started = time.perf_counter()
    xgboost.train(parameters, matrix, TREES)
    training = time.perf_counter() - started
    started = time.perf_counter()
    xgboost.train(parameters, xgboost.QuantileDMatrix(host, label=labels.get(), max_bin=255), TREES)
    return training, time.perf_counter() - started


def best(
    count: int, times: Callable[..., tuple[float, float]], *arguments: Any
) -> tuple[float, float]:
    """Run several times, and return the shortest times."""
    training, everything = zip(*(times(*arguments) for _ in range(count)), strict=True)
    return min(training), min(everything)


def forests(rows: int, trees: int) -> None:
    """Print the seconds of forests on the GPU, and on all cores of the CPU."""
    X, y = (array.get() for array in data(rows))
    for kind in (RandomForestClassifier, ExtraTreesClassifier):
        for device in ("cuda", "cpu"):
            model = kind(trees, device=device, random_state=0, verbose=0)
            model.fit(X[:20_000], y[:20_000])  # compiles
            started = time.perf_counter()
            model.fit(X, y)
            took = time.perf_counter() - started
            print(f"{rows:>10,} {kind.__name__} {trees} trees, {device:4}{took:10.2f}", flush=True)


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="*", default=[1_000_000, 10_000_000])
    parser.add_argument("--times", type=int, default=2, help="repetitions; the best is shown")
    parser.add_argument("--forests", type=int, default=0, help="trees of forests, 0 for none")
    options = parser.parse_args()
    print(f"{describe()}; XGBoost {xgboost.__version__}")
    warm, labels = data(500_000)
    ours(warm.get(), labels.get(), {"max_leaves": 31})
    theirs(warm.get(), warm, labels, SHAPES["31 leaves"][1])
    heads = "".join(f"{name:>10}" for name in ("pacboost", "XGBoost", "ratio"))
    print(f"{'':21}{'training':>30}{'everything':>30}")
    print(f"{'rows':>10} {'trees':10}{heads}{heads}")
    for rows in options.rows:
        X, y = data(rows)
        host, host_y = X.get(), y.get().astype(np.int64)
        for name, (our_shape, their_shape) in SHAPES.items():
            here = best(options.times, ours, host, host_y, our_shape)
            there = best(options.times, theirs, host, X, y, their_shape)
            pairs = zip(here, there, strict=True)
            line = "".join(f"{p:10.3f}{q:10.3f}{q / p:10.2f}" for p, q in pairs)
            print(f"{rows:>10,} {name:10}{line}", flush=True)
        pairs = zip(*scoring(host, X, y), strict=True)
        line = "".join(f"{p:10.3f}{q:10.3f}{q / p:10.2f}" for p, q in pairs)
        print(f"{rows:>10,} {'scores':10}{line}", flush=True)
    if N_ROWS_LARGE in options.rows:
        own_time, other_time = many_classes(N_ROWS_LARGE)
        line = f"{own_time:10.3f}{other_time:10.3f}{other_time / own_time:10.2f}"
        print(f"{N_ROWS_LARGE:>10,} {'26 classes':40}{line}")
    if options.forests:
        forests(1_000_000, options.forests)


if __name__ == "__main__":
    main()
