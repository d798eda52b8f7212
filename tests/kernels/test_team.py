"""Teams: all members do their share, meet at barriers, sleep when idle, and can be stopped."""

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from pacboost.kernels.runtime import Wholes, board, entry, jit, team, threads
from pacboost.kernels.runtime.board import STOP, last_to_arrive, meet, own_share, release
from pacboost.kernels.runtime.team import together

MIN_BUSY_SHARE = team.MIN_BUSY_SHARE


@pytest.fixture(autouse=True)
def more_members_than_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(team, "cores", lambda: 32)
    monkeypatch.setattr(team, "MIN_BUSY_SHARE", 0.0)  # no team is ever halved


@jit.team_kernel()
def add_up(member: entry.Member, numbers: Wholes, sums: Wholes, phases: int) -> None:
    """Add shares of the numbers to ``sums[member]``; then pass the sums on, once for each phase."""
    for phase in range(phases):
        first, last = own_share(numbers.size, member)
        own = np.int64(0)
        for k in range(first, last):
            own += numbers[k]
        sums[1 + member.number] = own
        if last_to_arrive(member):
            for k in range(member.team):
                sums[0] += sums[1 + k]
            release(member)
        if sums[0] % (phase + 1) == -1:  # never: the sum is read by all, and not optimised away
            meet(member)


@jit.team_kernel()
def add_up_pair(member: entry.Member, numbers_and_sums: tuple[Wholes, Wholes]) -> None:
    """Add shares of the numbers to the sums, once."""
    numbers, sums = numbers_and_sums
    add_up(member, numbers, sums, 1)


@jit.team_kernel()
def until_stopped(member: entry.Member, started: Wholes) -> None:
    """Meet again and again until somebody stops it."""
    going = True
    while going:
        if last_to_arrive(member):
            started[0] += 1
            started[1] = member.board[STOP]
            release(member)
        going = started[1] == 0
        meet(member)


def added(numbers: Wholes, phases: int, members: int) -> int:
    sums = np.zeros(members + 1, dtype=np.int64)
    with threads.using(members):
        together(add_up, numbers, sums, phases)
    return int(sums[0])


def stress(turns: int, seed: int) -> None:
    """Run teams of random sizes on random work."""
    generator = np.random.default_rng(seed)
    for _ in range(turns):
        members, phases = int(generator.integers(1, 33)), int(generator.integers(1, 12))
        numbers = generator.integers(-99, 99, int(generator.integers(0, 20_000)))
        assert added(numbers, phases, members) == phases * int(numbers.sum())
        if generator.random() < 0.02:
            time.sleep(0.05)  # so that members fall asleep


@pytest.mark.parametrize("members", [1, 2, 3, 7, 16, 32])
def test_every_member_does_its_share(members: int) -> None:
    numbers = np.arange(10_001)
    assert added(numbers, 20, members) == 20 * int(numbers.sum())


def test_teams_of_random_sizes_on_random_work() -> None:
    stress(300, 0)


@pytest.mark.slow
def test_teams_of_random_sizes_for_minutes() -> None:
    stress(60_000, 1)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="cores cannot be chosen here")
def test_teams_share_a_single_core() -> None:
    program = (
        "import os; os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})\n"
        "from pacboost.kernels.runtime import team; team.cores = lambda: 32\n"
        "from tests.kernels.test_team import stress; stress(3_000, 2)"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=3_000)


def test_no_team_is_larger_than_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(team, "cores", lambda: 2)
    with threads.using(16):
        assert team.largest_team() == 2
    with threads.using(1):
        assert team.largest_team() == 1


def test_a_team_is_halved_for_a_while_where_its_members_have_no_cores(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(team, "SECONDS_TO_JUDGE", 0.0)
    members, own = [], team.Team()

    def run(least_used: float) -> None:
        monkeypatch.setattr(team, "MIN_BUSY_SHARE", least_used)
        sums = np.zeros(5, dtype=np.int64)
        own.run(add_up, 4, np.ones(40, dtype=np.int64), sums, 1)
        assert sums[0] == 40
        members.append(np.count_nonzero(sums[1:]))

    for least_used in (np.inf, np.inf, np.inf, 0.0):
        run(least_used)
    monkeypatch.setattr(own, "_until", 0.0)
    run(0.0)
    own.close()
    assert members == [2, 1, 1, 1, 4]  # tested before the first run and the last


@pytest.mark.parametrize(
    ("wall", "used", "size"),
    [(1.0, 0.1, 2), (1.0, 1.2, 2), (1.0, 1.4, team.MAX_MEMBERS), (0.001, 0.0, team.MAX_MEMBERS)],
)
def test_a_team_whose_members_wait_for_cores_is_halved(
    wall: float, used: float, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(team, "MIN_BUSY_SHARE", MIN_BUSY_SHARE)
    own = team.Team()
    own._judge(4, wall, used)
    assert own._max_size == size


def test_a_team_is_tested_again_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    now, own = [0.0], team.Team()
    called: list[tuple[Any, int]] = []
    monkeypatch.setattr(team, "time", SimpleNamespace(perf_counter=lambda: now[0]))
    monkeypatch.setattr(own, "_call", lambda body, size, *_: called.append((body, size)))
    for now[0], size in ((0.1, 1), (0.2, 2), (0.6, 2), (0.8, 2)):
        own.run(add_up, size)
    barriers = board.meet_repeatedly
    expected = [(add_up, 1), (barriers, 2), (add_up, 2), (add_up, 2), (barriers, 2), (add_up, 2)]
    assert called == expected


def test_two_teams_at_once() -> None:
    numbers = np.arange(5_000)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda k: added(numbers, 10, 1 + k % 4), range(40)))
    assert found == [10 * int(numbers.sum())] * 40


def test_members_without_work_sleep() -> None:
    added(np.arange(10), 1, 3)
    own = team._idle[-1].board
    places = [board.MEMBERS + member * board.LINE + board.SLEEPS for member in (1, 2)]
    end = time.monotonic() + 600
    while not own[places].all() and time.monotonic() < end:
        time.sleep(0.01)
    assert own[places].all()
    assert added(np.arange(10), 1, 3) == 45  # and they wake up again


@pytest.mark.parametrize("members", [1, 3, 16])
def test_ctrl_c_ends_a_team(members: int) -> None:
    started = np.zeros(2, dtype=np.int64)

    def interrupt() -> None:
        while started[0] < 3:
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    with threads.using(members):
        other = threading.Thread(target=interrupt)
        other.start()
        with pytest.raises(KeyboardInterrupt):
            together(until_stopped, started, stoppable=True)
        other.join()
        assert added(np.arange(10), 2, members) == 90  # nothing is left of the interruption


def test_two_fits_that_take_the_last_idle_team_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    class Taken(list[team.Team]):
        """Seems to hold a team, but another fit has just taken it."""

        def __bool__(self) -> bool:
            return True

    taken = Taken()
    monkeypatch.setattr(team, "_idle", taken)
    assert added(np.arange(10), 2, 3) == 90
    while len(taken):
        taken.pop().close()


def test_ctrl_c_while_members_are_started_leaves_no_member_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    teams: list[team.Team] = []
    monkeypatch.setattr(team, "_idle", teams)

    def interrupted(self: threading.Thread) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", interrupted)
        with pytest.raises(KeyboardInterrupt):
            added(np.arange(10), 2, 3)
    assert added(np.arange(10), 2, 3) == 90
    while teams:
        teams.pop().close()


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="cores cannot be chosen here")
def test_a_forked_process_has_teams_of_its_own_and_two_large_ones_share_one_core() -> None:
    program = (
        "import os, warnings\n"
        "from concurrent.futures import ThreadPoolExecutor\n"
        "import numpy as np\n"
        "from pacboost import BoostClassifier\n"
        "from tests.kernels.test_team import added\n"
        "with warnings.catch_warnings(action='ignore'):  # of forks\n"
        "    assert added(np.arange(10), 3, 3) == 135\n"
        "    child = os.fork()\n"
        "assert added(np.arange(10), 3, 3) == 135\n"
        "if not child: os._exit(0)\n"
        "assert os.waitpid(child, 0)[1] == 0\n"
        "os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})\n"
        "from pacboost.kernels.runtime import team; team.cores = lambda: 16\n"
        "from tests.kernels.test_team import stress; stress(10, 3)\n"
        "X = np.random.default_rng(0).normal(size=(9000, 5)); y = X[:, 0] * X[:, 1] > 0\n"
        "def fit(k):\n"
        "    model = BoostClassifier(n_estimators=2, n_jobs=(16, 1)[k], random_state=0)\n"
        "    return model.fit(X, y).decision_function(X).tobytes()\n"
        "with ThreadPoolExecutor(2) as pool: found = list(pool.map(fit, [0, 0, 1]))\n"
        "assert len(set(found)) == 1\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=3_000)
