"""Tasks on a cluster: results in order, values that are shared, and errors that name a worker."""

import threading
import time
from pathlib import Path
from typing import Any

import pytest
from distributed import Client

import pacboost
from pacboost.errors import ClusterError, DataError, FileError
from pacboost.parallel.cluster import Cluster
from pacboost.parallel.remote_task import Failed, run, versions
from tests.cluster.clusters import local

RELEASED = threading.Event()


def when_released() -> bool:
    return RELEASED.wait()


def later(seconds: float) -> float:
    time.sleep(seconds)
    return seconds


def refuse(number: int) -> int:
    if number == 3:
        raise DataError("row 3 is bad")
    return number


def not_on(worker: str, problem: Exception) -> str:
    """Do what one worker cannot do."""
    from distributed import get_worker

    if get_worker().address == worker:
        raise problem
    return str(get_worker().address)


def fill_memory() -> None:
    held = []
    while True:
        held.append(bytearray(b"x") * 2**24)
        time.sleep(0.02)  # a nanny looks every tenth of a second


def of_version(version: str) -> None:
    pacboost.__version__ = version


def test_results_come_in_the_order_of_blocks(processes: Client) -> None:
    waits = [0.2, 0.0, 0.1, 0.0]
    cluster = Cluster(processes, timeout=60)
    assert list(cluster.each(later, zip(waits))) == waits
    assert sum(cluster.done.values()) == len(waits)


def test_no_more_tasks_are_open_than_two_for_each_thread(threads: Client) -> None:
    asked = []

    def blocks() -> Any:
        for block in range(20):
            asked.append(block)
            yield block

    results = Cluster(threads).each(abs, zip(blocks()))
    next(results)
    assert len(asked) == 2


def test_a_value_is_made_once_for_many_tasks(threads: Client, tmp_path: Path) -> None:
    cluster, notes = Cluster(threads), tmp_path / "notes"

    def make() -> int:
        with notes.open("a", encoding="ascii") as file:
            return file.write("made it")

    shared = cluster.share(make)
    assert [cluster.submit(pow, shared, k).result() for k in (1, 2, 3)] == [7, 49, 343]
    assert notes.read_text(encoding="ascii") == "made it"


def test_an_error_of_the_data_is_raised_in_its_turn(processes: Client) -> None:
    results = Cluster(processes).each(refuse, zip(range(6)))
    assert [next(results) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(DataError, match="row 3 is bad") as caught:
        next(results)
    assert "worker tcp://" in caught.value.__notes__[0]


@pytest.mark.parametrize("kind", [FileError, MemoryError, ModuleNotFoundError, OSError])
def test_what_a_worker_lacks_another_may_have(processes: Client, kind: type[Exception]) -> None:
    cluster = Cluster(processes)
    first, other = cluster.workers()
    for bad, good in ((first, other), (other, first)):
        assert cluster.submit(not_on, bad, kind("it is not here")).result() == good


@pytest.mark.slow
def test_a_task_that_needs_too_much_memory() -> None:
    """Either Dask gives it up after some deaths, or no worker has done it within the time."""
    complaint = r"died repeatedly|no result after 60 s"
    with local(1, memory_limit="400MB") as client, pytest.raises(ClusterError, match=complaint):
        Cluster(client, timeout=60).submit(fill_memory).result()


def test_a_file_that_no_worker_has(processes: Client, tmp_path: Path) -> None:
    cluster = Cluster(processes)
    with pytest.raises(ClusterError, match="No such file") as caught:
        cluster.submit(Path.read_bytes, tmp_path / "none").result()
    assert all(worker in str(caught.value) for worker in cluster.workers())


def test_a_task_that_takes_too_long(threads: Client) -> None:
    cluster = Cluster(threads, timeout=0.3)
    try:
        with pytest.raises(ClusterError, match=r"inproc://.* 0\.3 s"):
            cluster.submit(when_released).result()
    finally:
        RELEASED.set()


def test_a_worker_of_another_version_gets_no_tasks(processes: Client) -> None:
    odd, good = Cluster(processes).workers()
    try:
        processes.run(of_version, "0.0.1", workers=[odd])
        cluster = Cluster(processes)
        assert list(cluster.unusable) == [odd]
        assert "pacboost 0.0.1" in cluster.unusable[odd]
        list(cluster.each(abs, zip(range(6))))
        assert set(cluster.done) == {good}
        processes.run(of_version, "0.0.1")
        with pytest.raises(ClusterError, match=r"pacboost 0\.0\.1"):
            Cluster(processes)
    finally:
        processes.run(of_version, pacboost.__version__)


def test_a_cluster_without_workers() -> None:
    with (
        local(0, processes=False) as client,
        pytest.raises(ClusterError, match="no workers; start some"),
    ):
        Cluster(client, timeout=5)


def test_errors_that_cannot_be_sent_become_words() -> None:
    class OwnError(Exception):
        def __init__(self, one: int, two: int) -> None:
            super().__init__("odd")

    def fail() -> None:
        raise OwnError(1, 2)

    outcome = run(versions(), fail)
    assert isinstance(outcome, Failed)
    assert str(outcome.problem) == "OwnError: odd"
    assert run(versions(), abs, outcome) is outcome
