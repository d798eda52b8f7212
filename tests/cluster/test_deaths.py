"""Workers that die, stop or are slow, and a scheduler that is lost: the same model, or an error."""

import logging
import os
import random
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from distributed import Client

from pacboost import FilterBoostClassifier
from pacboost.errors import ClusterError
from pacboost.parallel import workers
from pacboost.parallel.cluster import Cluster
from pacboost.parallel.remote_task import worker_name
from pacboost.parallel.workers import SILENT
from tests.cluster.clusters import bytes_of, forgets, kill, local, process_ids
from tests.cluster.deaths import (
    LIMIT,
    fit_while_workers_die,
    nannies,
    scheduler_and_workers,
    strangers,
    within,
)
from tests.estimators.filter_sources import small


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


def waits_on(worker: str, released: Path, number: int) -> int:
    """On one worker, wait for a file; on others, answer at once."""
    while worker_name() == worker and not released.exists():
        time.sleep(0.02)
    return number


def test_a_slow_worker_holds_nobody_up(processes: Client, tmp_path: Path) -> None:
    """The first answer to a task or to its copy counts, in the order of the tasks."""
    tasks, released = Cluster(processes, timeout=600), tmp_path / "released"
    slow, fast = tasks.workers()
    try:
        with within(LIMIT / 2):
            numbers = tasks.each(waits_on, ((slow, released, k) for k in range(30)))
            assert list(numbers) == list(range(30))
        assert set(tasks.done) == {fast}
    finally:
        released.touch()


def test_a_value_that_a_slow_worker_computes_is_computed_again(
    processes: Client, tmp_path: Path
) -> None:
    tasks, released = Cluster(processes, timeout=600), tmp_path / "released"
    slow, _ = tasks.workers()
    try:
        with within(LIMIT / 2):
            for number in range(6):  # workers take turns
                value = tasks.share(waits_on, slow, released, number)
                assert tasks.submit(pow, value, 2).result() == number**2
    finally:
        released.touch()


def test_a_fast_worker_gets_no_second_copies(
    processes: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    tasks = Cluster(processes, timeout=60)
    started = Counter[str]()
    plain_start = tasks.start

    def start(*arguments: Any) -> Any:
        started["tasks"] += 1
        return plain_start(*arguments)

    monkeypatch.setattr(tasks, "start", start)
    assert list(tasks.each(abs, zip(range(30)))) == list(range(30))
    assert started["tasks"] == 30


def test_a_cluster_whose_only_worker_dies_as_the_fit_begins(folder: Path) -> None:
    """Its nanny starts another one."""
    alone = small().fit_source(folder, "y", client=False)
    with local(1) as client, within(LIMIT):
        for moment in (0.0, 0.3):
            (process,) = process_ids(client).values()
            killer = threading.Timer(moment, kill, [process])
            killer.start()
            if not moment:
                killer.join()
            model = small().fit_source(folder, "y", client=client, timeout=60)
            assert bytes_of(model) == bytes_of(alone)
            killer.join()
            client.wait_for_workers(1, timeout=LIMIT)


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
    monkeypatch.setattr(workers, "ANSWER_SECONDS", 5.0)
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
