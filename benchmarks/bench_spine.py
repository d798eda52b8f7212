"""How fast stumps are boosted, beside the libraries people use: same data, same run, all cores.

    make bench                                  everything (about four minutes on two cores)
    python benchmarks/bench_spine.py fit        or one part: fit, bins, score, memory, startup

Every figure is the least of several runs, taken in turns so that a noisy machine is fair to all.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

SIZES = ((200_000, 50), (1_000_000, 30))
ROUNDS = 200
REPEATS = 3
Data = tuple[NDArray[np.float64], NDArray[np.int64]]


def make_data(rows: int, features: int) -> Data:
    """A ball among Gaussian points (Hastie's problem): hard for stumps, easy to state."""
    generator = np.random.default_rng(0)
    X = generator.normal(size=(rows, features))
    return X, ((X[:, :10] ** 2).sum(axis=1) > 9.34).astype(np.int64)


def least(runs: dict[str, Callable[[], object]], repeats: int = REPEATS) -> dict[str, float]:
    """Return the seconds of the fastest run of each function, measured in turns."""
    best = dict.fromkeys(runs, float("inf"))
    for _ in range(repeats):
        for name, run in runs.items():
            started = time.perf_counter()
            run()
            best[name] = min(best[name], time.perf_counter() - started)
    return best


def ours(X: NDArray[np.float64], y: NDArray[np.int64], rounds: int = ROUNDS) -> Any:
    """Fit pacboost."""
    from pacboost import AdaBoostClassifier

    return AdaBoostClassifier(n_estimators=rounds).fit(X, y)


def lightgbm(X: NDArray[np.float64], y: NDArray[np.int64], rounds: int = ROUNDS) -> Any:
    """Fit LightGBM with two leaves, data set construction included."""
    import lightgbm as lgb

    settings = {"objective": "binary", "num_leaves": 2, "max_bin": 255, "verbose": -1}
    return lgb.train(settings, lgb.Dataset(X, y), rounds)


def xgboost(X: NDArray[np.float64], y: NDArray[np.int64], rounds: int = ROUNDS) -> object:
    """Fit XGBoost with depth one, data set construction included."""
    import xgboost as xgb

    settings = {"objective": "binary:logistic", "max_depth": 1, "tree_method": "hist"}
    return xgb.train(settings, xgb.QuantileDMatrix(X, y), rounds)


def scikit_learn(X: NDArray[np.float64], y: NDArray[np.int64], rounds: int) -> object:
    """Fit scikit-learn's AdaBoost."""
    from sklearn.ensemble import AdaBoostClassifier

    return AdaBoostClassifier(n_estimators=rounds).fit(X, y)


def bench_fit(console: Console) -> None:
    """Time a round, binning included over 200 rounds."""
    n_rounds = 2  # scikit-learn's rounds cost the same each, and seconds
    for rows, features in SIZES:
        X, y = make_data(rows, features)
        ours(X[:1000], y[:1000], 2)  # loads modules and threads
        seconds = least(
            {
                "pacboost": partial(ours, X, y),
                "LightGBM, 2 leaves": partial(lightgbm, X, y),
                "XGBoost, depth 1": partial(xgboost, X, y),
            }
        )
        peer = least({"scikit-learn AdaBoost": partial(scikit_learn, X, y, n_rounds)}, 1)
        per_round = {name: s / ROUNDS for name, s in seconds.items()}
        per_round |= {name: s / n_rounds for name, s in peer.items()}
        title = f"fit {rows:,} x {features}, {ROUNDS} rounds, binning included"
        show(console, title, {n: s * 1e3 for n, s in per_round.items()}, "ms a round")


def bench_bins(console: Console) -> None:
    """Time binning: from values to codes."""
    from pacboost.kernels.threads import using
    from pacboost.samples.bins import fit_bins
    from pacboost.sources.arrays import ArrayTable

    def bin_ours(X: NDArray[np.float64]) -> None:
        with using(None):
            table = ArrayTable(X)
            fit_bins(table).encode(table)

    def bin_lightgbm(X: NDArray[np.float64], y: NDArray[np.int64]) -> None:
        import lightgbm as lgb

        lgb.Dataset(X, y, params={"verbose": -1}).construct()

    for rows, features in SIZES:
        X, y = make_data(rows, features)
        bin_ours(X[:1000])
        seconds = least(
            {
                "pacboost": partial(bin_ours, X),
                "LightGBM": partial(bin_lightgbm, X, y),
            }
        )
        show(console, f"bin {rows:,} x {features}", seconds, "seconds")


def bench_score(console: Console) -> None:
    """Time scoring after 300, 1,000 and 3,000 rounds that use every feature."""
    rows, features = SIZES[0]
    X, y = make_data(rows, features)
    sample = slice(0, 20_000)
    models = {n: ours(X[sample], y[sample], n) for n in (300, 1000, 3000)}
    peer = lightgbm(X[sample], y[sample], 1000)
    runs: dict[str, Callable[[], object]] = {
        f"pacboost, {n} rounds": partial(m.decision_function, X) for n, m in models.items()
    }
    runs["LightGBM, 1000 rounds"] = partial(peer.predict, X, raw_score=True)
    used = {n: int(np.count_nonzero(m.feature_importances_)) for n, m in models.items()}
    seconds = least(runs)
    show(console, f"score {rows:,} x {features} (features used: {used})", seconds, "seconds")


MEMORY = """
import sys
import numpy as np
from pacboost import AdaBoostClassifier
rows, features = int(sys.argv[1]), int(sys.argv[2])
X = np.empty((rows, features))
for block in np.array_split(X, 100):
    block[:] = np.random.default_rng(0).normal(size=block.shape)
y = (X[:, 0] > 0.3).astype(np.int8) ^ (np.arange(rows) % 7 == 0)
AdaBoostClassifier(n_estimators=2).fit(X[:100_000], y[:100_000])
open("/proc/self/clear_refs", "w").write("5")
peak = lambda key: int(next(l for l in open("/proc/self/status") if l.startswith(key)).split()[1])
before = peak("VmRSS")
AdaBoostClassifier(n_estimators=20).fit(X, y)
print((peak("VmHWM") - before) * 1024)
"""


def bench_memory(console: Console) -> None:
    """Measure the peak beyond the input."""
    if not Path("/proc/self/clear_refs").exists():
        console.print("memory: needs Linux's /proc, skipped")
        return
    for rows, features in SIZES:
        command = [sys.executable, "-c", MEMORY, str(rows), str(features)]
        extra = int(subprocess.run(command, capture_output=True, check=True).stdout)
        allowed = rows * (2 * features + 40)
        console.print(
            f"memory beyond the input, {rows:,} x {features}: {extra / 1e6:.1f} MB; "
            f"2 bytes a cell + 40 a row would be {allowed / 1e6:.1f} MB"
        )


STARTUP = """
import time
start = time.perf_counter()
import sklearn.base, sklearn.utils.validation
sklearn_ready = time.perf_counter()
from pacboost import AdaBoostClassifier
imported = time.perf_counter()
import numpy as np
X = np.random.default_rng(0).normal(size=(300, 5))
y = (X[:, 0] > 0.1) ^ (np.arange(300) % 5 == 0)
AdaBoostClassifier().fit(X, y).predict(X)
fitted = time.perf_counter()
print(sklearn_ready - start, imported - sklearn_ready, fitted - imported)
"""


def bench_startup(console: Console) -> None:
    """Time the imports and the first fit of a process."""
    run = subprocess.run([sys.executable, "-c", STARTUP], capture_output=True, check=True)
    sklearn, ours, fit = (float(part) for part in run.stdout.split())
    console.print(
        f"import scikit-learn {sklearn:.2f} s, import pacboost {ours:.2f} s more, "
        f"first fit and predict {fit:.2f} s"
    )
    command = [
        sys.executable,
        "-c",
        "import time; t = time.perf_counter(); import pacboost; print(time.perf_counter() - t)",
    ]
    alone = float(subprocess.run(command, capture_output=True, check=True).stdout)
    console.print(f"import pacboost alone: {alone:.3f} s")


def show(console: Console, title: str, figures: dict[str, float], unit: str) -> None:
    """Print a table with ratios to the first row."""
    table = Table(title=title, title_justify="left")
    table.add_column("")
    table.add_column(unit, justify="right")
    table.add_column("times pacboost", justify="right")
    first = next(iter(figures.values()))
    for name, value in figures.items():
        table.add_row(name, f"{value:,.4g}", f"{value / first:,.1f}")
    console.print(table)


PARTS = {
    "fit": bench_fit,
    "bins": bench_bins,
    "score": bench_score,
    "memory": bench_memory,
    "startup": bench_startup,
}

if __name__ == "__main__":
    for part in sys.argv[1:] or PARTS:
        PARTS[part](Console())
