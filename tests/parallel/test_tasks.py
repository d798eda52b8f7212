"""Tasks: results in order, few in flight, errors as they are, and an end on Ctrl-C."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator

import pytest

from pacboost.parallel.cores import in_order

WAYS = [(1, None), (1, 1), (2, 3), (7, None)]


def slow_first(block: int) -> int:
    """Take longer for earlier blocks."""
    time.sleep(max(0.0, 0.02 - 0.004 * block))
    return block * block


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

    seen: list[int] = []
    with pytest.raises(KeyError, match="3"):
        seen.extend(in_order(task, range(10), *tasks))
    assert seen == [0, 1, 2]


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


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
def test_a_forked_process_has_threads_of_its_own() -> None:
    program = (
        "import os, warnings; warnings.simplefilter('ignore')\n"
        "from pacboost.parallel.cores import in_order\n"
        "assert list(in_order(abs, range(9), 2)) == list(range(9))\n"
        "child = os.fork()\n"
        "assert list(in_order(abs, range(9), 2)) == list(range(9))\n"
        "if child: assert os.waitpid(child, 0)[1] == 0\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=600)
