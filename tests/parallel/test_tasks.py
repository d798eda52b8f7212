"""Tasks: results in order, few in flight, errors as they are, and an end on Ctrl-C."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator

import pytest

from pacboost.parallel.tasks import Serial, Tasks, Threaded, tasks_on

WAYS = [Serial(), Threaded(1, 1), Threaded(2, 3), Threaded(7, 14)]


def slow_first(block: int) -> int:
    """Take longer for earlier blocks."""
    time.sleep(max(0.0, 0.02 - 0.004 * block))
    return block * block


@pytest.mark.parametrize("tasks", WAYS)
@pytest.mark.parametrize("blocks", [0, 1, 5, 30])
def test_results_come_in_the_order_of_blocks(tasks: Tasks, blocks: int) -> None:
    assert list(tasks.map(slow_first, range(blocks))) == [k * k for k in range(blocks)]


@pytest.mark.parametrize(("tasks", "most"), [(Serial(), 1), (Threaded(2, 3), 3)])
def test_blocks_in_flight_are_few(tasks: Tasks, most: int) -> None:
    asked = used = 0

    def blocks() -> Iterator[int]:
        nonlocal asked
        for k in range(20):
            asked += 1
            assert asked - used <= most
            yield k

    for _ in tasks.map(abs, blocks()):
        used += 1
    assert used == 20


def test_threads_work_at_the_same_time() -> None:
    both = threading.Barrier(2, timeout=600)

    def task(block: int) -> int:
        both.wait()
        return block

    assert list(Threaded(2, 2).map(task, range(4))) == [0, 1, 2, 3]


@pytest.mark.parametrize("tasks", WAYS)
def test_an_error_comes_in_its_turn_and_as_it_is(tasks: Tasks) -> None:
    def task(block: int) -> int:
        if block in {3, 4}:
            raise KeyError(block)
        return block

    seen: list[int] = []
    with pytest.raises(KeyError, match="3"):
        seen.extend(tasks.map(task, range(10)))
    assert seen == [0, 1, 2]


@pytest.mark.parametrize("tasks", WAYS)
def test_an_error_of_the_blocks_comes_out(tasks: Tasks) -> None:
    def blocks() -> Iterator[int]:
        yield 1
        raise OSError("no more")

    with pytest.raises(OSError, match="no more"):
        list(tasks.map(abs, blocks()))


def test_nothing_is_under_way_when_results_are_no_longer_wanted() -> None:
    begun, ended = threading.Semaphore(0), threading.Semaphore(0)

    def task(block: int) -> int:
        begun.release()
        time.sleep(0.01)
        ended.release()
        return block

    results = iter(Threaded(2, 8).map(task, range(100)))
    assert next(results) == 0
    results.close()  # type: ignore[attr-defined]
    assert begun._value == ended._value < 20


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="there are no such signals here")
def test_ctrl_c_ends_at_once() -> None:
    program = (
        "import itertools, os, signal\n"
        "from pacboost.parallel.tasks import Threaded\n"
        "def task(k):\n"
        "    if k == 20: os.kill(os.getpid(), signal.SIGINT)\n"
        "try:\n"
        "    for _ in Threaded(2, 1000).map(task, itertools.count()): pass  # else without an end\n"
        "except KeyboardInterrupt:\n"
        "    raise SystemExit(7)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], check=False, timeout=600)
    assert done.returncode == 7


def test_ways_to_do_tasks_can_be_pickled() -> None:
    assert pickle.loads(pickle.dumps(tasks_on(3))) == tasks_on(3)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
def test_a_forked_process_has_threads_of_its_own() -> None:
    program = (
        "import os, warnings; warnings.simplefilter('ignore')\n"
        "from pacboost.parallel.tasks import Threaded\n"
        "assert list(Threaded(2, 4).map(abs, range(9))) == list(range(9))\n"
        "child = os.fork()\n"
        "assert list(Threaded(2, 4).map(abs, range(9))) == list(range(9))\n"
        "if child: assert os.waitpid(child, 0)[1] == 0\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=600)
