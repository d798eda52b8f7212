"""A fit whose rows are read by workers of a cluster on this machine, beside one without a cluster.

    python benchmarks/bench_cluster.py [--rows 10000000] [--workers 2]

Times are of the fit alone; workers are running and have loaded everything. Bytes are those of the
pickled results that the client fetched in refills; rows that are kept take their codes, label,
margin, chance, odds and number in the client's memory, and bytes are compared with that. Where
other programs keep the machine busy, seconds of the processors tell more than those of the clock;
those that Dask's processes take while they wait are measured, too.
"""

from __future__ import annotations

import argparse
import os
import pickle
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pyarrow as pa
import pyarrow.parquet as pq
from distributed import Client, LocalCluster

from pacboost import FilterBoostClassifier
from pacboost.models.file.format import model_bytes
from pacboost.parallel import cluster as clusters
from pacboost.parallel.cluster import Cluster
from pacboost.training.filtering.remote import SentRows

COLUMNS, GROUP, ROWS_PER_FILE = 20, 122_880, 2_000_000


def write(folder: Path, rows: int) -> None:
    """Write rows whose classes follow three features, with noise."""
    for number, first in enumerate(range(0, rows, ROWS_PER_FILE)):
        generator = np.random.default_rng(number)
        count = min(ROWS_PER_FILE, rows - first)
        X = generator.normal(size=(count, COLUMNS)).astype(np.float32)
        score = X[:, 0] + X[:, 1] * X[:, 2] + 0.4 * generator.normal(size=count)
        columns = {f"x{j}": X[:, j] for j in range(COLUMNS)}
        table = pa.table({**columns, "y": (score > 0).astype(np.int8)})
        pq.write_table(table, folder / f"part{number}.parquet", row_group_size=GROUP)


def fitted(source: Any, rounds: int, client: Any = False) -> tuple[FilterBoostClassifier, float]:
    """Fit, and return the model and the seconds."""
    model = FilterBoostClassifier(n_estimators=rounds, random_state=0, verbose=False)
    started = time.perf_counter()
    model.fit_source(source, "y", client=client)
    return model, time.perf_counter() - started


def processor_seconds(processes: list[psutil.Process]) -> float:
    """Return the processor time that processes have taken so far."""
    return sum(sum(process.cpu_times()[:2]) for process in processes)


def seconds_when_idle(processes: list[psutil.Process], wait: float = 10.0) -> float:
    """Return the processor time per second of idle processes."""
    before = processor_seconds(processes)
    time.sleep(wait)
    return (processor_seconds(processes) - before) / wait


class Traffic:
    """Counts the tasks of a fit, and the rows and bytes that they return."""

    def __init__(self) -> None:
        self.bytes = self.kept = 0
        self.seconds: list[float] = []
        self.all_seconds: list[float] = []
        self._wait = Cluster.wait

    def __enter__(self) -> Traffic:
        def wait(cluster: Cluster, *arguments: Any, **named: Any) -> Any:
            outcome: Any = self._wait(cluster, *arguments, **named)
            value = getattr(outcome, "value", None)
            if outcome is not None:
                self.all_seconds.append(getattr(outcome, "seconds", 0.0))
            if isinstance(value, list) and value and isinstance(value[0], SentRows):
                self.bytes += len(pickle.dumps(value, protocol=5))
                self.kept += sum(part.kept.n_rows for part, *_ in value)
                self.seconds.append(outcome.seconds)
            return outcome

        clusters.Cluster.wait = wait  # type: ignore[method-assign, assignment]
        return self

    def __exit__(self, *_: object) -> None:
        clusters.Cluster.wait = self._wait  # type: ignore[method-assign]


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=100)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write(folder, asked.rows)
        first_file = [str(path) for path in sorted(folder.iterdir())[:1]]
        fitted(first_file, 3)
        processes = [psutil.Process()]
        before = processor_seconds(processes)
        alone, seconds = fitted(folder, asked.rounds)
        taken = processor_seconds(processes) - before
        refills = alone.ledger_.refills
        draws = sum(refill.draws for refill in refills)
        print(f"{asked.rows:,} rows of {COLUMNS}, {len(refills)} refills, {draws:,} draws")
        print(f"no cluster     {seconds:7.1f} s, {taken:.1f} s of processors")
        with (
            LocalCluster(
                n_workers=asked.workers, threads_per_worker=1, dashboard_address="127.0.0.1:0"
            ) as local,
            Client(local, set_as_default=False) as client,
        ):
            fitted(first_file, 3, client)
            every = processes + [psutil.Process(pid) for pid in client.run(os.getpid).values()]
            idle, before = seconds_when_idle(every), processor_seconds(every)
            with Traffic() as traffic:
                model, slower = fitted(folder, asked.rounds, client)
            cpu_seconds = processor_seconds(every) - before
            tasks, busy = len(traffic.all_seconds), sum(traffic.all_seconds)
            same = model_bytes(model.model_) == model_bytes(alone.model_)
            print(f"{asked.workers} workers      {slower:7.1f} s, {slower / seconds:.2f} times")
            print(f"of processors  {cpu_seconds:7.1f} s, {cpu_seconds / taken:.2f} times")
            print(f"less waiting   {cpu_seconds - idle * slower:7.1f} s ({idle:.3f} s per second)")
            print(f"the same model: {same}")
            print(f"{tasks} tasks, {1000 * busy / tasks:.0f} ms each")
            looks = np.array(traffic.seconds) * 1000
            low, middle, high = np.quantile(looks, [0.1, 0.5, 0.9])
            print(f"looking: {looks.size} tasks, {low:.0f} / {middle:.0f} / {high:.0f} ms")
            pace = draws / sum(traffic.seconds)
            print(f"draws a second and worker: {pace:,.0f}")
            per_row = traffic.bytes / max(1, traffic.kept)
            print(f"bytes fetched for a kept row: {per_row:.0f}; in memory {COLUMNS + 33}")
            print(f"bytes fetched in a refill: {traffic.bytes / len(refills):,.0f}")


if __name__ == "__main__":
    main()
