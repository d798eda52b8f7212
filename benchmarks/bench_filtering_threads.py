"""How boosting by filtering scales with threads, from an array and from Parquet files.

    python benchmarks/bench_filtering_threads.py           array and Parquet, 1, 2, 4, … threads
    python benchmarks/bench_filtering_threads.py array --learner stump --threads 1 16 --repeats 5

Every figure is the least of several whole fits. Besides the seconds of a fit, the parts of it are
shown: drawing (reading, coding, scoring and keeping rows), boosting, and the rest (bins, dividing
rows, certificates). The models of all numbers of threads are compared, too.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.bench_threads import Case, Data
from pacboost import FilterBoostClassifier
from pacboost.models.file.format import model_bytes
from pacboost.parallel.cores import usable_cores

ROWS_PER_GROUP = 65_536
PARTS = ("fit", "drawing", "boosting", "rest")
Seconds = dict[str, float]


def write(folder: Path, data: Data, name: str) -> Path:
    """Write rows as a Parquet file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    X, y = data
    path = folder / f"{name}.parquet"
    columns = {f"x{j}": X[:, j] for j in range(X.shape[1])}
    pq.write_table(pa.table({**columns, "y": y}), path, row_group_size=ROWS_PER_GROUP)
    return path


def fitted(source: Any, threads: int, **options: Any) -> Any:
    """Fit on an array and its labels, or on a file."""
    model = FilterBoostClassifier(n_jobs=threads, random_state=0, **options)
    return model.fit_source(source, "y") if isinstance(source, Path) else model.fit(*source)


def timed(source: Any, threads: int, **options: Any) -> tuple[Seconds, str]:
    """Return the seconds of a fit by part, and a digest of the model."""
    started = time.perf_counter()
    model = fitted(source, threads, **options)
    seconds = time.perf_counter() - started
    drawing = sum(refill.seconds for refill in model.ledger_.refills)
    boosting = sum(entry.seconds for entry in model.ledger_.rounds)
    parts = (seconds, drawing, boosting, seconds - drawing - boosting)
    digest = hashlib.sha256(model_bytes(model.model_)).hexdigest()
    return dict(zip(PARTS, parts, strict=True)), digest


def measure(source: Any, threads: list[int], repeats: int, **options: Any) -> list[Seconds]:
    """Return, for every number of threads, the seconds of the fastest fit by part."""
    best: list[Seconds] = [dict.fromkeys(PARTS, float("inf")) for _ in threads]
    digests = set()
    for _ in range(repeats):
        for k, count in enumerate(threads):
            seconds, digest = timed(source, count, **options)
            digests.add(digest)
            best[k] = min(best[k], seconds, key=lambda times: times["fit"])
    if len(digests) > 1:
        raise AssertionError("the model depends on the number of threads")
    return best


def main() -> None:
    """Run the measurements that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sources", nargs="*", help="array, parquet, or both without a name")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--learner", default="tree")
    parser.add_argument("--threads", nargs="*", type=int, help="1, 2, 4, … up to all cores if none")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--json", type=Path, help="write the seconds to this file, too")
    chosen = parser.parse_args()
    threads = chosen.threads or [2**k for k in range(12) if 2**k <= usable_cores()]
    options = {"n_estimators": chosen.rounds, "learner": chosen.learner}
    data = Case(chosen.rows, 28, chosen.rounds).data()
    console, results = Console(), {}
    with tempfile.TemporaryDirectory() as folder:
        small_data = (data[0][:20_000], data[1][:20_000])
        fitted(
            small_data, max(threads), **options | {"n_estimators": 3}
        )  # loads modules and threads
        for name in chosen.sources or ("array", "parquet"):
            source = data if name == "array" else write(Path(folder), data, "rows")
            seconds = measure(source, threads, chosen.repeats, **options)
            table = Table("seconds on … threads", title=f"{name}: {chosen.rows:,} rows, {options}")
            for count in threads:
                table.add_column(str(count), justify="right")
            for part in PARTS:
                table.add_row(part, *(f"{times[part]:.3g}" for times in seconds))
            console.print(table)
            results[name] = {"threads": threads, "seconds": seconds}
            if chosen.json:
                chosen.json.write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
