"""How boosting scales with threads, beside LightGBM and XGBoost where they are installed.

    python benchmarks/bench_threads.py                       all cases, 1, 2, 4, 8, … threads
    python benchmarks/bench_threads.py trees small --threads 1 16 --repeats 3 --json threads.json
    python benchmarks/bench_threads.py middle --busy 2       while two other processes are at work

Every figure is the least of several runs of a whole fit, binning included. Libraries take turns, so
that a noisy machine is fair to all. The models of all numbers of threads are compared, too.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

Data = tuple[NDArray[np.float32], NDArray[Any]]
Fit = Callable[[int], Any]


@dataclass(frozen=True)
class Case:
    """Data and settings that all libraries share."""

    rows: int
    features: int
    rounds: int
    leaves: int = 31
    classes: int = 2
    rate: float = 0.1

    def __str__(self) -> str:
        kind = "numbers" if self.classes == 0 else f"{self.classes} classes"
        return (
            f"{self.rows:,} × {self.features}, {kind}, {self.rounds} rounds of {self.leaves} leaves"
        )

    def data(self) -> Data:
        """Draw rows whose answer depends on twelve features, with noise."""
        generator = np.random.default_rng(1)
        X = generator.normal(size=(self.rows, self.features)).astype(np.float32)
        score = X[:, 0] * X[:, 1] + np.sin(2 * X[:, 2]) + 0.5 * X[:, 3] ** 2 - 0.5
        score += 0.7 * X[:, 4] * (X[:, 5] > 0) + 0.3 * X[:, 6:12].sum(axis=1)
        score += 0.5 * generator.normal(size=self.rows)
        if self.classes == 0:
            return X, score
        return X, np.digitize(score, np.quantile(score, np.arange(1, self.classes) / self.classes))


CASES = {
    "trees": Case(1_000_000, 28, 100),
    "middle": Case(50_000, 28, 100),
    "small": Case(2_000, 28, 100),
    "tiny": Case(500, 28, 100),
    "classes": Case(200_000, 28, 50, classes=5),
    "numbers": Case(200_000, 28, 50, classes=0),
    "wide": Case(20_000, 1_500, 20),
    "stumps": Case(1_000_000, 28, 200, leaves=2),
}


def ours(case: Case, X: NDArray[np.float32], y: NDArray[Any], threads: int) -> Any:
    """Fit pacboost."""
    from pacboost import AdaBoostClassifier, BoostClassifier, BoostRegressor
    from pacboost.boosters.logit import Logit
    from pacboost.learners.tree import Tree

    if case.leaves == 2:
        return AdaBoostClassifier(n_estimators=case.rounds, n_jobs=threads).fit(X, y)
    model: Any
    options: dict[str, Any] = {
        "n_estimators": case.rounds,
        "early_stopping": False,
        "n_jobs": threads,
        "random_state": 0,
    }
    if case.classes == 0:
        model = BoostRegressor(learning_rate=case.rate, max_leaves=case.leaves, **options)
    else:
        learner = Tree(max_leaves=case.leaves)
        model = BoostClassifier(Logit(learning_rate=case.rate), learner, **options)
    return model.fit(X, y)


def lightgbm(
    case: Case, X: NDArray[np.float32], y: NDArray[Any], threads: int, quantised: bool = False
) -> Any:
    """Fit LightGBM."""
    import lightgbm as lgb

    objectives = {0: "regression", 2: "binary"}
    settings = {
        "objective": objectives.get(case.classes, "multiclass"),
        "num_leaves": case.leaves,
        "learning_rate": case.rate,
        "max_bin": 255,
        "num_threads": threads,
        "use_quantized_grad": quantised,
        "verbose": -1,
    }
    if case.classes > 2:
        settings["num_class"] = case.classes
    return lgb.train(settings, lgb.Dataset(X, y, params={"verbose": -1}), case.rounds)


def xgboost(case: Case, X: NDArray[np.float32], y: NDArray[Any], threads: int) -> Any:
    """Fit XGBoost."""
    import xgboost as xgb

    objectives = {0: "reg:squarederror", 2: "binary:logistic"}
    settings = {
        "objective": objectives.get(case.classes, "multi:softprob"),
        "max_leaves": case.leaves,
        "max_depth": 0,
        "grow_policy": "lossguide",
        "eta": case.rate,
        "max_bin": 255,
        "tree_method": "hist",
        "nthread": threads,
    }
    if case.classes > 2:
        settings["num_class"] = case.classes
    return xgb.train(settings, xgb.QuantileDMatrix(X, y, nthread=threads, max_bin=255), case.rounds)


def libraries(case: Case, peers: bool) -> dict[str, Fit]:
    """Return the libraries that fit the case, by name; peers only if they are installed."""
    X, y = case.data()
    fits: dict[str, Fit] = {"pacboost": partial(ours, case, X, y)}
    if peers and find_spec("lightgbm"):
        fits["LightGBM"] = partial(lightgbm, case, X, y)
        fits["LightGBM, quantised"] = partial(lightgbm, case, X, y, quantised=True)
    if peers and find_spec("xgboost"):
        fits["XGBoost"] = partial(xgboost, case, X, y)
    return fits


def digest(model: Any) -> str:
    """Return a digest of one of our models."""
    from pacboost.models.file.format import model_bytes

    return hashlib.sha256(model_bytes(model.model_)).hexdigest()


def measure(case: Case, threads: list[int], repeats: int, peers: bool) -> dict[str, list[float]]:
    """Return the seconds of every library by the number of threads."""
    fits = libraries(case, peers)
    small_case = Case(3_000, case.features, 2, case.leaves, case.classes)
    ours(small_case, *small_case.data(), max(threads))  # loads modules and threads
    seconds = {name: [float("inf")] * len(threads) for name in fits}
    digests = set()
    for _ in range(repeats):
        for k, count in enumerate(threads):
            for name, fit in fits.items():
                started = time.perf_counter()
                model = fit(count)
                seconds[name][k] = min(seconds[name][k], time.perf_counter() - started)
                if name == "pacboost":
                    digests.add(digest(model))
    if len(digests) > 1:
        raise AssertionError(f"{case}: the model depends on the number of threads")
    return seconds


def show(console: Console, case: Case, threads: list[int], seconds: dict[str, list[float]]) -> None:
    """Print a table."""
    table = Table("seconds on … threads", title=str(case))
    for count in threads:
        table.add_column(str(count), justify="right")
    for name, times in seconds.items():
        table.add_row(name, *(f"{s:.3g}" for s in times))
    console.print(table)


def main() -> None:
    """Measure the cases named on the command line, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", nargs="*", help=f"of {', '.join(CASES)}; all without a name")
    parser.add_argument("--threads", nargs="*", type=int, help="1, 2, 4, … up to all cores if none")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--alone", action="store_true", help="measure pacboost only")
    parser.add_argument("--busy", type=int, default=0, help="other processes that work meanwhile")
    parser.add_argument("--json", type=Path, help="write the seconds to this file, too")
    chosen = parser.parse_args()
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    threads = chosen.threads or [2**k for k in range(12) if 2**k <= (cores or 1)]
    console, results = Console(), {}
    forever = [sys.executable, "-c", "while True: pass"]
    others = [subprocess.Popen(forever) for _ in range(chosen.busy)]
    try:
        for name in chosen.cases or CASES:
            case = CASES[name]
            seconds = measure(case, threads, chosen.repeats, not chosen.alone)
            show(console, case, threads, seconds)
            results[name] = {"case": str(case), "threads": threads, "seconds": seconds}
            if chosen.json:
                chosen.json.write_text(json.dumps(results, indent=1))
    finally:
        for other in others:
            other.kill()


if __name__ == "__main__":
    main()
