"""Cores: masks, quotas of control groups, environment variables, workers of Dask."""

import _thread
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pacboost.errors import ParameterError
from pacboost.kernels import team
from pacboost.kernels.threads import using
from pacboost.parallel import cores
from pacboost.parallel.cores import in_order
from tests.grids import each_value


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """A machine of 16 cores without limits."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(16)), raising=False)
    monkeypatch.setattr(cores, "_quota", lambda: None)
    for name in cores.LIMITS:
        monkeypatch.delenv(name, raising=False)
    yield monkeypatch
    cores.usable_cores.cache_clear()


QUOTAS = [
    ("0::/\n", {"cpu.max": "200000 100000\n"}, 2),
    ("0::/\n", {"cpu.max": "max 100000\n"}, None),
    ("0::/\n", {"cpu.max": "150000 100000"}, 2),  # a part of a core is a core
    ("0::/\n", {"cpu.max": "1000 100000"}, 1),
    ("0::/a/b\n", {"a/b/cpu.max": "400000 100000"}, 4),
    # a group is limited by those around it, too
    ("0::/a/b\n", {"a/b/cpu.max": "max 9", "a/cpu.max": "3 1", "cpu.max": "800000 100000"}, 3),
    # the path of the host is not to be seen inside a container
    ("0::/host/pod\n", {"cpu.max": "200000 100000"}, 2),
    ("0::/../../pod\n", {"cpu.max": "200000 100000"}, 2),
    (
        "5:memory:/x\n3:cpu,cpuacct:/job\n0::/\n",
        {
            f"cpu,cpuacct/job/cpu.cfs_{k}_us": f"{v}00000\n"
            for k, v in (("quota", 5), ("period", 1))
        },
        5,
    ),
    ("1:cpu:/\n", {"cpu/cpu.cfs_quota_us": "-1", "cpu/cpu.cfs_period_us": "100000"}, None),
    ("0::/\n", {"cpu.max": "nonsense"}, None),
    ("0::/\n", {"cpu.max": "100000 0"}, None),
    ("what is this", {}, None),
    (None, {}, None),
]


@pytest.mark.parametrize(("groups", "files", "expected"), QUOTAS)
def test_quota_of_control_groups(
    tmp_path: Path, groups: str | None, files: dict[str, str], expected: int | None
) -> None:
    for name, text in files.items():
        path = tmp_path / "sys/fs/cgroup" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    if groups is not None:
        (tmp_path / "proc/self").mkdir(parents=True)
        (tmp_path / "proc/self/cgroup").write_text(groups)
    assert cores.cgroup_quota(tmp_path) == expected


@pytest.mark.parametrize(
    ("mask", "quota", "variables", "expected"),
    [
        (16, None, {}, 16),
        (2, None, {}, 2),
        (16, 3, {}, 3),
        (16, None, {"OMP_NUM_THREADS": "64"}, 16),  # none is added
        (16, None, {"OMP_NUM_THREADS": "8,2"}, 8),  # a number for each level
        *((16, None, {"OMP_NUM_THREADS": text}, 16) for text in ("", "0", "-3", "many", "1.5")),
    ],
)
def test_the_smallest_limit_counts(
    machine: pytest.MonkeyPatch,
    mask: int,
    quota: int | None,
    variables: dict[str, str],
    expected: int,
) -> None:
    machine.setattr(os, "sched_getaffinity", lambda _: set(range(mask)), raising=False)
    machine.setattr(cores, "_quota", lambda: quota)
    for name, text in variables.items():
        machine.setenv(name, text)
    assert cores.cores() == expected


def test_a_mask_that_changes_counts_from_the_next_fit_on(machine: pytest.MonkeyPatch) -> None:
    with using(8):
        assert team.largest_team() == 8
    machine.setattr(os, "sched_getaffinity", lambda _: {3, 7}, raising=False)
    with using(8):
        assert team.largest_team() == 2


@pytest.mark.parametrize("available", [0, 1])
def test_without_a_thread_to_spare_the_work_is_done_all_the_same(
    available: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    started = list[int]()

    def start(*arguments: Any) -> int:
        if len(started) >= available:
            raise RuntimeError("can't start new thread")
        started.append(1)
        return _thread.start_new_thread(*arguments)

    monkeypatch.setattr(cores, "start_new_thread", start)
    assert list(in_order(abs, range(-9, 0), 4)) == list(range(9, 0, -1))
    assert len(started) == available


def test_without_masks_the_machine_counts(machine: pytest.MonkeyPatch) -> None:
    machine.delattr(os, "sched_getaffinity")
    machine.setattr(os, "cpu_count", lambda: 6)
    assert cores.cores() == 6


@pytest.mark.parametrize("name", ["OMP_NUM_THREADS", "LOKY_MAX_CPU_COUNT"])
def test_variables_of_joblib_limit(machine: pytest.MonkeyPatch, name: str) -> None:
    machine.setenv(name, "4")
    assert cores.cores() == 4
    assert cores.thread_count(None) == 4
    assert cores.thread_count(-2) == 3
    assert cores.thread_count(12) == 12


def test_an_explicit_number_is_larger_than_what_openmp_may_have(
    machine: pytest.MonkeyPatch,
) -> None:
    machine.setenv("OMP_NUM_THREADS", "1")
    with using(8):
        assert team.largest_team() == 8
    with using(None):
        assert team.largest_team() == 1


IN_DASK = """
import os
from pacboost import AdaBoostClassifier
from pacboost.kernels.threads import threads, using
from pacboost.parallel import cores

def threads_in_use(n_jobs):
    with using(n_jobs):
        return threads()

if __name__ == "__main__":
    import numpy as np
    from dask.distributed import Client, LocalCluster

    for name in cores.LIMITS:
        os.environ.pop(name, None)
    os.sched_getaffinity = lambda process: range(16)
    cores._quota = lambda: None
    shape = {"n_workers": 1, "threads_per_worker": 2, "dashboard_address": None}
    with LocalCluster(processes=PROCESSES, **shape) as cluster, Client(cluster) as client:
        found = [client.submit(threads_in_use, n, pure=False).result() for n in (None, -1, 1, 3)]
        print(found)
        print(threads_in_use(None))
        X, y = np.arange(40.0).reshape(20, 2), np.arange(20) > 10
        print(client.submit(AdaBoostClassifier().fit, X, y).result().score(X, y))
"""


def in_dask(folder: Path, *, processes: bool) -> list[str]:
    """Run the program above in a cluster on this machine; give the lines that it prints."""
    program = folder / "program.py"  # a file, since workers that are processes read it again
    program.write_text(IN_DASK.replace("PROCESSES", str(processes)))
    command = [sys.executable, str(program)]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=600)
    return done.stdout.splitlines()


def test_tasks_of_a_dask_worker_have_its_threads(tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    assert in_dask(tmp_path, processes=False) == ["[2, 2, 1, 3]", "16", "1.0"]


@pytest.mark.slow
def test_dask_gives_the_tasks_of_worker_processes_one_thread(tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    inside, _, score = in_dask(tmp_path, processes=True)  # Dask limits the process around it, too
    assert (inside, score) == ("[1, 1, 1, 3]", "1.0")


@pytest.mark.parametrize(("n_jobs", "count"), [(None, 16), (-1, 16), (-2, 15), (-99, 1), (3, 3)])
def test_what_n_jobs_means(machine: pytest.MonkeyPatch, n_jobs: int | None, count: int) -> None:
    assert cores.thread_count(n_jobs) == count


@pytest.mark.parametrize("n_jobs", [0, True])
def test_what_n_jobs_cannot_be(n_jobs: int) -> None:
    with pytest.raises(ParameterError, match="n_jobs is"):
        cores.thread_count(n_jobs)


def test_workers_of_joblib_are_limited() -> None:
    program = (
        "from joblib import Parallel, delayed, parallel_config\n"
        "from pacboost.parallel.cores import cores\n"
        "with parallel_config(backend='loky', inner_max_num_threads=1):\n"
        "    assert Parallel(n_jobs=2)(delayed(cores)() for _ in range(2)) == [1, 1]\n"
    )
    environment = {k: v for k, v in os.environ.items() if k not in cores.LIMITS}
    subprocess.run([sys.executable, "-c", program], check=True, timeout=600, env=environment)


WAYS = [(1, None), (1, 1), (2, 3), (7, None)]


def slow_first(block: int) -> int:
    """Take longer for earlier blocks."""
    time.sleep(max(0.0, 0.02 - 0.004 * block))
    return block * block


@each_value
@pytest.mark.parametrize("tasks", WAYS)
@pytest.mark.parametrize("blocks", [0, 1, 5, 30])
def test_results_come_in_the_order_of_blocks(tasks: tuple[int, int | None], blocks: int) -> None:
    assert list(in_order(slow_first, range(blocks), *tasks)) == [k * k for k in range(blocks)]


@pytest.mark.parametrize(("tasks", "most"), [((1, None), 1), ((2, 3), 3)])
def test_blocks_in_flight_are_few(tasks: tuple[int, int | None], most: int) -> None:
    asked = used = 0

    def blocks() -> Iterator[int]:
        nonlocal asked
        for k in range(20):
            asked += 1
            assert asked - used <= most
            yield k

    for _ in in_order(abs, blocks(), *tasks):
        used += 1
    assert used == 20


def test_threads_work_at_the_same_time() -> None:
    both = threading.Barrier(2, timeout=600)

    def task(block: int) -> int:
        both.wait()
        return block

    assert list(in_order(task, range(4), 2, 2)) == [0, 1, 2, 3]


@pytest.mark.parametrize("tasks", WAYS)
def test_an_error_comes_in_its_turn_and_as_it_is(tasks: tuple[int, int | None]) -> None:
    def task(block: int) -> int:
        if block in {3, 4}:
            raise KeyError(block)
        return block

    observed: list[int] = []
    with pytest.raises(KeyError, match="3"):
        observed.extend(in_order(task, range(10), *tasks))
    assert observed == [0, 1, 2]


@pytest.mark.parametrize("tasks", WAYS)
def test_an_error_of_the_blocks_comes_out(tasks: tuple[int, int | None]) -> None:
    def blocks() -> Iterator[int]:
        yield 1
        raise OSError("no more")

    with pytest.raises(OSError, match="no more"):
        list(in_order(abs, blocks(), *tasks))


def test_nothing_is_under_way_when_results_are_no_longer_wanted() -> None:
    begun, ended = threading.Semaphore(0), threading.Semaphore(0)

    def task(block: int) -> int:
        begun.release()
        time.sleep(0.01)
        ended.release()
        return block

    results = in_order(task, range(100), 2, 8)
    assert next(results) == 0
    results.close()
    assert begun._value == ended._value < 20


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="there are no such signals here")
def test_ctrl_c_ends_at_once() -> None:
    program = (
        "import itertools, os, signal\n"
        "from pacboost.parallel.cores import in_order\n"
        "def task(k):\n"
        "    if k == 20: os.kill(os.getpid(), signal.SIGINT)\n"
        "try:\n"
        "    for _ in in_order(task, itertools.count(), 2, 1000): pass  # else without an end\n"
        "except KeyboardInterrupt:\n"
        "    raise SystemExit(7)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], check=False, timeout=600)
    assert done.returncode == 7


def test_what_nobody_wants_any_more_is_told_to_end() -> None:
    """Nothing else ends the second item: closing would wait for it for ever."""
    unwanted = threading.Event()

    def until_unwanted(item: int) -> int:
        if item:
            unwanted.wait()
        return item

    results = in_order(until_unwanted, range(3), 2, 3, unwanted)
    assert next(results) == 0
    assert not unwanted.is_set()
    results.close()
    assert unwanted.is_set()
