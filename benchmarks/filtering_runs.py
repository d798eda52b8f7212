"""The runs behind bench_filtering.py, each in its own process, so that memory is freed.

``python filtering_runs.py '[what, spec]'`` does one and prints what came of it as a line of JSON.
"""

from __future__ import annotations

import json
import math
import statistics
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks import filtering_worlds as worlds

TEST_ROWS = 200_000
LEAVES = {"tree": 31, "stump": 2}
FILE_ROWS, GROUP_ROWS = 1_000_000, 200_000
MAX_ROUNDS = 20_000
"""No peer is followed further: looking at test rows would take longer than the race."""
REACHED, TIME_UP = "reached", "time is up"

Spec = dict[str, Any]
Result = dict[str, Any]
Floats = NDArray[np.float64]


def log_loss(margins: Floats) -> float:
    """Mean of ln(1 + exp(-margin)), for margins y·(log odds)."""
    return float(np.logaddexp(0, -margins).mean())


def test_rows(world: str) -> tuple[worlds.X32, Floats]:
    """Fresh rows and their signs."""
    X, y = worlds.make(world, TEST_ROWS, worlds.TEST)
    return X, 2.0 * y.astype(np.float64) - 1


def our_odds(model: Any, X: Any) -> Floats:
    """Log odds: twice our score."""
    return 2 * np.asarray(model.decision_function(X))


def ours(spec: Spec, rounds: int, **changes: Any) -> Any:
    """Our estimator, to be fitted."""
    from pacboost import FilterBoostClassifier

    settings = {"learner": spec["learner"], "learning_rate": spec["rate"], "random_state": 0}
    if spec["learner"] == "tree":
        settings["max_leaves"] = LEAVES["tree"]
    return FilterBoostClassifier(**{**settings, **spec["ours"], "n_estimators": rounds, **changes})


def warm_up(spec: Spec) -> float:
    """Load all modules by a small fit; return the seconds."""
    X, y = worlds.make("additive", 3000, 2)
    started = time.perf_counter()
    ours(spec, 5).fit(X, y)
    return time.perf_counter() - started


def run_ours(spec: Spec) -> Result:
    """Find the round that reaches the target, then time whole fits up to it."""
    X, y = worlds.read(spec["world"], spec["rows"], Path(spec["cache"]))
    X_test, signs = test_rows(spec["world"])
    warm = warm_up(spec)
    rounds, best_rounds, loss, before = 25, 0, 100.0, math.inf
    while not best_rounds and loss < before and rounds < spec["most_rounds"]:
        rounds = min(2 * rounds, spec["most_rounds"])
        model = ours(spec, rounds).fit(X, y)
        loss, before = log_loss(signs * our_odds(model, X_test)), loss
        if loss <= spec["target"]:
            best_rounds = _first_round(model, X_test, signs, spec["target"])
    seconds = []
    for _ in range(spec["repeats"] if best_rounds else 0):
        started = time.perf_counter()
        model = ours(spec, best_rounds).fit(X, y)
        seconds.append(time.perf_counter() - started)
    margins = signs * our_odds(model, X_test)
    refills = model.ledger_.refills
    return {
        "seconds": statistics.median(seconds) if best_rounds else None,
        "all_seconds": seconds,
        "rounds": len(model.ledger_),
        "loss": log_loss(margins),
        "error": float((margins <= 0).mean()),
        "drawing": sum(refill.seconds for refill in refills),
        "draws": sum(refill.draws for refill in refills),
        "refills": len(refills),
        "warm_up": warm,
        "stopped": model.ledger_.stopped,
    }


def _first_round(model: Any, X_test: Any, signs: Floats, target: float) -> int:
    """The first round after which the loss is at or below the target."""
    for number, scores in enumerate(model.staged_decision_function(X_test), start=1):
        if log_loss(signs * 2 * scores) <= target:
            return number
    return len(model.ledger_)


def run_lightgbm(spec: Spec) -> Result:
    """Boost with LightGBM to the target."""
    import lightgbm as lgb

    X, y = worlds.read(spec["world"], round(spec["rows"] * spec["fraction"]), Path(spec["cache"]))
    settings = {"objective": "binary", "num_leaves": LEAVES[spec["learner"]], "verbose": -1}
    settings |= {"learning_rate": spec["rate"], **spec["settings"]}
    started = time.perf_counter()
    booster = lgb.Booster(settings, lgb.Dataset(X, y, params=settings).construct())
    setup = time.perf_counter() - started

    def added(first: int, last: int) -> Floats:
        """Log odds by some rounds; the first holds the intercept."""
        some = {"start_iteration": first, "num_iteration": last - first}
        return np.asarray(booster.predict(X_test, raw_score=True, **some))

    X_test, signs = test_rows(spec["world"])
    return chase(spec, setup, booster.update, added, signs)


def run_xgboost(spec: Spec) -> Result:
    """Boost with XGBoost to the target."""
    import xgboost as xgb

    X, y = worlds.read(spec["world"], round(spec["rows"] * spec["fraction"]), Path(spec["cache"]))
    shape = {"grow_policy": "lossguide", "max_leaves": LEAVES["tree"], "max_depth": 0}
    if spec["learner"] == "stump":
        shape = {"max_depth": 1}
    settings = {**shape, "learning_rate": spec["rate"], **spec["settings"]}
    started = time.perf_counter()
    return _chase_xgboost(spec, xgb.QuantileDMatrix(X, y), settings, started)


def run_xgboost_external(spec: Spec) -> Result:
    """Boost with XGBoost's external memory to the target, one file per batch, cache on disk.

    Depth by depth, as its manual advises: leaf by leaf reads everything once a leaf.
    """
    import xgboost as xgb

    files = sorted(Path(spec["folder"]).glob("*.parquet"))

    class Batches(xgb.DataIter):  # type: ignore[misc]
        def __init__(self, cache: str) -> None:
            self.at = 0
            super().__init__(cache_prefix=f"{cache}/pages")

        def reset(self) -> None:
            self.at = 0

        def next(self, input_data: Callable[..., Any]) -> bool:
            if self.at == len(files):
                return False
            X, y = worlds.read_parquet(files[self.at])
            input_data(data=X, label=y)
            self.at += 1
            return True

    shape = {"max_depth": 1 if spec["learner"] == "stump" else 5, "grow_policy": "depthwise"}
    with tempfile.TemporaryDirectory(dir=spec["cache"]) as cache:
        started = time.perf_counter()
        matrix = xgb.ExtMemQuantileDMatrix(Batches(cache))
        result = _chase_xgboost(spec, matrix, {**shape, "learning_rate": spec["rate"]}, started)
        del matrix
    return result | {"peak": peak()}


def _chase_xgboost(spec: Spec, matrix: Any, settings: Spec, started: float) -> Result:
    import xgboost as xgb

    settings = {"objective": "binary:logistic", "tree_method": "hist", **settings}
    booster = xgb.Booster(settings, [matrix])
    setup = time.perf_counter() - started
    numbers = iter(range(10**9))
    X_test, signs = test_rows(spec["world"])
    X_test = xgb.DMatrix(X_test)

    def raw(first: int, last: int) -> Floats:
        scores = booster.predict(X_test, output_margin=True, iteration_range=(first, last))
        return np.asarray(scores, dtype=np.float64)

    def added(first: int, last: int) -> Floats:
        """Log odds by some rounds; every answer has the intercept in it, one should."""
        return (
            raw(0, last) if first == 0 else raw(first, last) - (raw(0, 1) + raw(1, 2) - raw(0, 2))
        )

    return chase(spec, setup, lambda: booster.update(matrix, next(numbers)), added, signs)


def chase(
    spec: Spec,
    setup: float,
    update: Callable[[], Any],
    added: Callable[[int, int], Floats],
    signs: Floats,
) -> Result:
    """Boost until the target is reached, time is up, or the loss no longer falls.

    Test rows are looked at after 4, 5, 6, … rounds, ever more rarely, and off the clock.
    """
    clock = [setup]
    odds, looked, look = np.zeros(signs.size), 0, 4
    best, best_round, error = math.inf, 0, 1.0
    outcome = ""
    while not outcome:
        started = time.perf_counter()
        update()
        clock.append(clock[-1] + time.perf_counter() - started)
        rounds = len(clock) - 1
        over = clock[-1] >= spec["seconds"]
        if rounds < look and not over:
            continue
        now = odds + added(looked, rounds)
        loss = log_loss(signs * now)
        if loss < best:
            best, best_round, error = loss, rounds, float((signs * now <= 0).mean())
        if loss <= spec["target"]:
            outcome = REACHED
        elif over or rounds >= MAX_ROUNDS:
            outcome = TIME_UP if over else "gave up"
        elif rounds > 2 * best_round + 20:
            outcome = "no longer falls"
        else:
            odds, looked, look = now, rounds, max(rounds + 1, int(1.25 * rounds))
    while outcome == REACHED and best_round - looked > 1:
        middle = (best_round + looked) // 2
        now = odds + added(looked, middle)
        if (loss := log_loss(signs * now)) <= spec["target"]:
            best, best_round, error = loss, middle, float((signs * now <= 0).mean())
        else:
            odds, looked = now, middle
    at = best_round if outcome == REACHED else len(clock) - 1
    figures = {"seconds": clock[at], "rounds": at, "loss": best, "error": error}
    return {"outcome": outcome, **figures, "setup": setup}


def run_source(spec: Spec) -> Result:
    """Fit our estimator on a folder, or on all of its rows in memory, and watch the memory."""
    sizes: list[int] = []

    def watch(event: Any) -> None:
        if hasattr(event, "draws"):
            sizes.append(resident())

    warm = warm_up(spec)
    folder = Path(spec["folder"])
    model = ours(spec, spec["ours"].get("n_estimators", 300), callbacks=[watch])
    if spec["in_memory"]:
        X, y = _read_all(folder)
        started = time.perf_counter()
        model.fit(X, y)
    else:
        started = time.perf_counter()
        model.set_params(memory=f"{spec['memory']}GB").fit_source(folder, target="y")
    seconds = time.perf_counter() - started
    highest = peak()
    X_test, signs = test_rows(spec["world"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # arrays have no names, files have
        margins = signs * our_odds(model, X_test)
    refills = model.ledger_.refills
    return {
        "seconds": seconds,
        "rounds": len(model.ledger_),
        "loss": log_loss(margins),
        "error": float((margins <= 0).mean()),
        "peak": highest,
        "after_refills": sizes,
        "draws": sum(refill.draws for refill in refills),
        "drawing": sum(refill.seconds for refill in refills),
        "warm_up": warm,
        "stopped": model.ledger_.stopped,
    }


def _read_all(folder: Path) -> worlds.Chunk:
    import pyarrow.parquet as pq

    files = sorted(folder.glob("*.parquet"))
    rows = sum(pq.read_metadata(file).num_rows for file in files)
    columns = pq.read_metadata(files[0]).num_columns - 1
    X, y = np.empty((rows, columns), dtype=np.float32), np.empty(rows, dtype=np.int8)
    first = 0
    for file in files:
        part, labels = worlds.read_parquet(file)
        X[first : first + len(part)], y[first : first + len(part)] = part, labels
        first += len(part)
    return X, y


def run_reader(spec: Spec) -> Result:
    """Read a folder again and again, and nothing else; note the memory after each pass."""
    from pacboost.sources.oracles.choose import as_oracle

    with as_oracle(spec["folder"], "y", 0) as oracle:
        sizes, started = [], time.perf_counter()
        for _ in range(spec["passes"]):
            rows = 0
            while rows < (oracle.n_rows or 0):
                rows += oracle.draw(65_536).n_rows
            sizes.append(resident())
        seconds = (time.perf_counter() - started) / spec["passes"]
    return {"after_passes": sizes, "seconds_a_pass": seconds, "peak": peak()}


def resident() -> int:
    """Return the resident bytes of this process."""
    import psutil

    return int(psutil.Process().memory_info().rss)


def peak() -> int:
    """Return the peak of resident bytes of this process.

    What ``getrusage`` tells would include the process that started this one.
    """
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return int(next(line for line in lines if line.startswith("VmHWM")).split()[1]) * 1024


def run_parquet(spec: Spec) -> Result:
    """Write the folder."""
    folder = Path(spec["folder"])
    worlds.save_parquet(spec["world"], spec["rows"], folder, FILE_ROWS, GROUP_ROWS)
    return {"bytes": sum(file.stat().st_size for file in folder.iterdir())}


def run_arrays(spec: Spec) -> Result:
    """Write the arrays."""
    worlds.save(spec["world"], spec["rows"], Path(spec["cache"]))
    return {}


WORK: dict[str, Callable[[Spec], Result]] = {
    "arrays": run_arrays,
    "parquet": run_parquet,
    "ours": run_ours,
    "lightgbm": run_lightgbm,
    "xgboost": run_xgboost,
    "xgboost_external": run_xgboost_external,
    "source": run_source,
    "reader": run_reader,
    "warm_up": lambda spec: {"seconds": warm_up(spec)},
}


if __name__ == "__main__":
    chosen, request = json.loads(sys.argv[1])
    print(json.dumps(WORK[chosen](request)))
