"""Teams: all members do their share, meet at barriers, sleep when idle, and can be stopped."""

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from pacboost.kernels import team, threads
from pacboost.kernels.native import native
from pacboost.kernels.team import together


@pytest.fixture(autouse=True)
def more_members_than_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(team, "cores", lambda: 32)


def added(numbers: np.ndarray, phases: int, members: int) -> int:
    sums = np.zeros(members + 1, dtype=np.int64)
    with threads.using(members):
        together(native.testing.add_up, numbers, sums, phases)
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
        "from pacboost.kernels import team; team.cores = lambda: 32\n"
        "from tests.kernels.test_team import stress; stress(3_000, 2)"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=3_000)


def test_no_team_is_larger_than_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(team, "cores", lambda: 2)
    with threads.using(16):
        assert team.largest_team() == 2
    with threads.using(1):
        assert team.largest_team() == 1


@pytest.mark.parametrize(
    ("size", "wall", "used", "halved"),
    [(4, 1.0, 0.1, True), (4, 1.0, 1.2, True), (4, 1.0, 1.4, False), (2, 1.0, 0.8, False)],
)
def test_a_team_whose_members_wait_for_cores_is_halved(
    size: int, wall: float, used: float, halved: bool
) -> None:
    assert native.testing.is_to_be_halved(size, wall, used) is halved


def test_teams_at_once() -> None:
    numbers = np.arange(5_000)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda k: added(numbers, 10, 1 + k % 4), range(40)))
    assert found == [10 * int(numbers.sum())] * 40


def test_members_without_work_sleep() -> None:
    added(np.arange(10), 1, 3)
    least = float("inf")
    for _ in range(40):  # other threads of this process may compute now and then
        used = time.process_time()
        time.sleep(0.05)
        least = min(least, time.process_time() - used)
    assert least < 0.02
    assert added(np.arange(10), 1, 3) == 45  # and they wake up again


@pytest.mark.parametrize("members", [1, 3, 16])
def test_ctrl_c_ends_a_team(members: int) -> None:
    meetings = np.zeros(2, dtype=np.int64)

    def interrupt() -> None:
        while meetings[0] < 3:
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    with threads.using(members):
        other = threading.Thread(target=interrupt)
        other.start()
        with pytest.raises(KeyboardInterrupt):
            together(native.testing.meet_until_stopped, meetings)
        other.join()
        assert added(np.arange(10), 2, members) == 90  # nothing is left of the interruption


def test_a_wrong_argument_is_refused() -> None:
    sums = np.zeros(2, dtype=np.int64)
    for numbers in (np.arange(3.0), np.zeros((2, 2), dtype=np.int64), np.arange(8)[::2], [1, 2]):
        with pytest.raises(TypeError, match="add_up"):
            together(native.testing.add_up, numbers, sums, 1)
    frozen = np.zeros(2, dtype=np.int64)
    frozen.flags.writeable = False
    assert added(frozen, 1, 1) == 0  # an array that is only read may be read-only
    with pytest.raises(TypeError, match="add_up"):
        together(native.testing.add_up, np.arange(3), frozen, 1)


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
        "from pacboost.kernels import team; team.cores = lambda: 16\n"
        "from tests.kernels.test_team import stress; stress(10, 3)\n"
        "X = np.random.default_rng(0).normal(size=(9000, 5)); y = X[:, 0] * X[:, 1] > 0\n"
        "def fit(k):\n"
        "    model = BoostClassifier(n_estimators=2, n_jobs=(16, 1)[k], random_state=0)\n"
        "    return model.fit(X, y).decision_function(X).tobytes()\n"
        "with ThreadPoolExecutor(2) as pool: found = list(pool.map(fit, [0, 0, 1]))\n"
        "assert len(set(found)) == 1\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=3_000)
