"""Workers and schedulers that die or stop while a fit goes on."""

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from distributed import Client

from tests.cluster.clusters import QUIET, kill, local, process_ids
from tests.estimators.filter_sources import small

Process = subprocess.Popen[bytes]
LIMIT = 240
"""Seconds that a fit may take in these tests: none may hang."""


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Fail if a block takes longer, by a signal: it may hang."""

    def over(number: int, frame: Any) -> None:
        raise AssertionError(f"not done after {seconds} s")

    before = signal.signal(signal.SIGALRM, over)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def fit_while_workers_die(
    folder: Path, client: Client, chance: random.Random, alive: Callable[[], list[int]]
) -> tuple[Any, list[float]]:
    """Fit while one or two workers are killed; give the model, and the moments of the deaths."""
    stop, deaths, started = threading.Event(), list[float](), time.monotonic()

    def kill_some(moments: list[float]) -> None:
        for moment in moments:
            if stop.wait(max(0.0, started + moment - time.monotonic())):
                return
            if len(processes := alive()) > 1:
                kill(chance.choice(processes))
                deaths.append(time.monotonic() - started)

    moments = sorted(chance.uniform(0, 1.5) for _ in range(chance.randint(1, 2)))
    killer = threading.Thread(target=kill_some, args=(moments,))
    with within(LIMIT):
        killer.start()
        try:
            model = small(n_estimators=20).fit_source(folder, "y", client=client, timeout=60)
        finally:
            stop.set()
            killer.join()
    return model, deaths


Clustered = tuple[Client, Callable[[], list[int]], Callable[[], None]]
"""A client, the processes of workers that live, and a function that waits for those that died."""


@contextmanager
def nannies(count: int) -> Iterator[Clustered]:
    """Start workers that are started again when they die."""
    with local(count) as client:
        cluster = client.cluster

        def alive() -> list[int]:
            started = [own.process for own in cluster.workers.values() if own.process]
            return [own.pid for own in started if own.status.name == "running"]

        def start_again() -> None:
            while len(process_ids(client)) < count:
                try:
                    client.wait_for_workers(count, timeout=30)
                except TimeoutError:  # a nanny gives up when its worker dies while it starts
                    cluster.scale(len(cluster.worker_spec) + 1)

        yield client, alive, start_again


@contextmanager
def strangers(count: int) -> Iterator[Clustered]:
    """Start workers that stay dead until the test starts others in their place."""
    with scheduler_and_workers(count) as (client, _, workers, start_worker):

        def alive() -> list[int]:
            return [own.pid for own in workers if own.poll() is None]

        def start_again() -> None:
            workers[:] = [own if own.poll() is None else start_worker() for own in workers]
            while set(process_ids(client).values()) != set(alive()):
                time.sleep(0.1)

        yield client, alive, start_again


@contextmanager
def scheduler_and_workers(
    count: int,
) -> Iterator[tuple[Client, Process, list[Process], Callable[[], Process]]]:
    """Start a scheduler and workers, each a process of its own that nobody starts again.

    The function that is given with them starts another worker.
    """
    dask = [sys.executable, "-m", "distributed.cli.dask_scheduler"]
    worker = [sys.executable, "-m", "distributed.cli.dask_worker"]
    watching = {f"DASK_{name.upper().replace('.', '__')}": str(own) for name, own in QUIET.items()}
    quiet = {
        "stdout": subprocess.DEVNULL,
        "stderr": subprocess.DEVNULL,
        "env": os.environ | {name.replace("-", "_"): own for name, own in watching.items()},
    }
    file = Path(os.environ.get("TMPDIR", "/tmp")) / f"scheduler-{os.getpid()}-{time.time_ns()}.json"
    named = ["--scheduler-file", str(file)]
    options: dict[str, Any] = quiet
    started = [
        subprocess.Popen(
            [*dask, "--port", "0", "--dashboard-address", "127.0.0.1:0", *named], **options
        )
    ]
    plain = ["--no-nanny", "--nthreads", "1", "--no-dashboard", *named]

    def start_worker() -> Process:
        started.append(subprocess.Popen([*worker, *plain], **options))
        return started[-1]

    workers = [start_worker() for _ in range(count)]
    try:
        while not file.exists():
            time.sleep(0.1)
        with Client(scheduler_file=str(file), set_as_default=False, timeout=600) as client:
            client.wait_for_workers(count, timeout=600)
            yield client, started[0], workers, start_worker
    finally:
        for process in reversed(started):
            process.kill()
            process.wait()
        file.unlink(missing_ok=True)
