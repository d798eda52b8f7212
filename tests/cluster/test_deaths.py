"""Workers that die, stop or are slow, and a scheduler that is lost: the same model, or an error."""

from __future__ import annotations

import logging
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

import pytest
from distributed import Client

from pacboost import FilterBoostClassifier
from pacboost.errors import ClusterError
from pacboost.parallel import cluster
from pacboost.parallel.cluster import Cluster
from pacboost.parallel.remote_task import SILENT, worker_name
from tests.cluster.clusters import QUIET, bytes_of, forgets, kill, local, process_ids
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


def at_refill(number: int, act: Callable[[], None]) -> Callable[[Any], None]:
    """Call a function when a refill is done."""

    def watch(event: Any) -> None:
        if hasattr(event, "draws") and event.number == number:
            act()

    return watch


@pytest.fixture(scope="module")
def alone(folder: Path) -> FilterBoostClassifier:
    return small(n_estimators=20).fit_source(folder, "y", client=False)


def test_a_worker_that_is_killed_changes_nothing(
    folder: Path, alone: FilterBoostClassifier, processes: Client
) -> None:
    before, workers = set(processes.futures), process_ids(processes)

    def kill_one() -> None:
        kill(next(iter(workers.values())))

    with within(LIMIT):
        model = small(n_estimators=20, callbacks=[at_refill(0, kill_one)])
        model.fit_source(folder, "y", client=processes, timeout=60)
        assert bytes_of(model) == bytes_of(alone)
        assert forgets(processes, before=before)
        processes.wait_for_workers(2, timeout=LIMIT)  # for other tests: it is started again
    assert process_ids(processes) != workers


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


@pytest.mark.slow
@pytest.mark.parametrize(("fits", "nanny"), [(70, True), (30, False)])
def test_a_hundred_fits_with_workers_killed_at_random_moments(
    folder: Path, alone: FilterBoostClassifier, fits: int, nanny: bool
) -> None:
    """A nanny starts a dead worker again while the fit goes on; without one it stays dead."""
    expected = bytes_of(alone)
    chance, deaths = random.Random(nanny), list[float]()
    with (nannies if nanny else strangers)(3) as (client, alive, start_again):
        small(n_estimators=2).fit_source(folder, "y", client=client)  # everything is loaded then
        for fit in range(fits):
            model, died = fit_while_workers_die(folder, client, chance, alive)
            deaths += died
            assert bytes_of(model) == expected, fit
            assert forgets(client), fit
            with within(LIMIT):
                start_again()
    logging.getLogger(__name__).warning("%d fits, %d workers killed", fits, len(deaths))
    assert len(deaths) >= 0.7 * fits


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


@pytest.mark.slow
def test_one_worker_is_enough(folder: Path) -> None:
    """Without a nanny nobody starts a worker again."""
    alone = small().fit_source(folder, "y", client=False)
    with scheduler_and_workers(2) as (client, _, workers, _), within(LIMIT):
        model = small(callbacks=[at_refill(0, workers[0].kill)])
        model.fit_source(folder, "y", client=client, timeout=600)
        assert bytes_of(model) == bytes_of(alone)
        workers[1].kill()
        with pytest.raises(ClusterError, match=r"no worker|after 3 s"):
            small().fit_source(folder, "y", client=client, timeout=3)


@pytest.mark.slow
def test_a_worker_that_stands_still(folder: Path) -> None:
    alone = small().fit_source(folder, "y", client=False)
    with local(2) as client, within(LIMIT):
        small(n_estimators=2).fit_source(folder, "y", client=client)  # everything is loaded then
        stopped = next(iter(process_ids(client).values()))
        try:
            model = small(callbacks=[at_refill(0, lambda: os.kill(stopped, signal.SIGSTOP))])
            model.fit_source(folder, "y", client=client, timeout=10)
        finally:
            os.kill(stopped, signal.SIGCONT)
        assert bytes_of(model) == bytes_of(alone)


def test_a_worker_that_stood_still_before_the_fit_gets_no_tasks(
    processes: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All are asked at once: whoever is asked after it has answered, too."""
    Cluster(processes)  # everything is loaded then
    monkeypatch.setattr(cluster, "ANSWER_SECONDS", 5.0)
    first, *others = Cluster(processes).workers()
    stopped = process_ids(processes)[first]
    os.kill(stopped, signal.SIGSTOP)
    try:
        asked = Cluster(processes)
        assert asked.unusable == {first: SILENT}
        assert asked.submit(worker_name).result() in others
    finally:
        os.kill(stopped, signal.SIGCONT)


def test_a_lost_scheduler_is_an_error_and_the_checkpoint_goes_on(
    folder: Path, alone: FilterBoostClassifier, tmp_path: Path
) -> None:
    settings: dict[str, Any] = {"n_estimators": 20, "checkpoint": tmp_path / "run.pac"}
    with scheduler_and_workers(1) as (client, scheduler, _, _), within(LIMIT):
        model = small(**settings, callbacks=[at_refill(1, scheduler.kill)])
        with pytest.raises(ClusterError, match=r"tcp.* was lost.*checkpoint") as caught:
            model.fit_source(folder, "y", client=client, timeout=100)
        assert "run.pac" in caught.value.__notes__[0]
    assert not hasattr(model, "model_")
    resumed = small(**settings).fit_source(folder, "y", client=False)
    assert resumed.ledger_.vote_digest == alone.ledger_.vote_digest
    assert len(resumed.ledger_.refills) == len(alone.ledger_.refills)


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
        subprocess.Popen([*dask, "--port", "0", "--dashboard-address", ":0", *named], **options)
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
