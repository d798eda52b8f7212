"""Teams of threads that stay inside compiled code: called in microseconds, joined at barriers.

A Python thread that returns from a kernel waits for the interpreter's lock, and waking it takes
about 0.1 ms. So the threads of a team wait inside a kernel, ``serve``, where they look for work on
a *board* that they share, and return to Python only after a while without work. A waiting thread
spins some thousand times, and then yields its core at every look; so a team that is larger than the
machine is slow but never stuck.
"""

from __future__ import annotations

import sys

import numpy as np
from numba import types
from numpy.typing import NDArray

from pacboost.kernels.runtime import Wholes, jit
from pacboost.kernels.runtime.entry import Member
from pacboost.kernels.runtime.jit import kernel, part_of_kernels, team_kernel, uncounted

give_way = types.ExternalFunction(
    "SwitchToThread" if sys.platform == "win32" else "sched_yield", types.int32()
)
"""Let another thread run on this core."""

LINE = 16
"""Numbers between what two members write; cores take turns at a cache line and its neighbour."""
Place = np.int64
"""The type of places on the board: ``wait_while`` would be compiled for every literal place."""
JOB, DONE, CALLED, FUNCTION, ARGUMENTS, ARRIVED, PHASE, STOP, TICKET, MEMBERS = (
    Place(line * LINE) for line in range(10)
)
"""Places on the board; from MEMBERS on, each member has a line: whether it sleeps, its last job."""
SLEEPS, LAST_JOB = 0, 1
SIZES = 10  # bits of a job's number that hold the size of its team
CLOSED = -1
SPINS = 2_000
FOR_EVER = np.int64(-1)
LOOKS = np.int64(4_000)  # yields before a member without work returns to Python: some milliseconds


def board_for(members: int) -> Wholes:
    """Create the board of a team; all members but the first are asleep."""
    board = np.zeros(MEMBERS + members * LINE, dtype=np.int64)
    board[MEMBERS + LINE + SLEEPS :: LINE] = 1
    return board


@part_of_kernels
def wait_while(board: Wholes, place: Place, value: int, looks: np.int64) -> bool:
    """Wait until a number changes; return False if it has not after looking ``looks`` times."""
    for _ in range(SPINS):
        if jit.load(board, place) != value:
            return True
        jit.pause()
    while looks != 0:
        if jit.load(board, place) != value:
            return True
        give_way()
        looks -= 1
    return False


@part_of_kernels
def last_to_arrive(member: Member) -> bool:
    """Arrive at a barrier; return True for the last member, which must ``release`` the others.

    Between the two calls, the last member does what only one member may do.
    """
    if member.team == 1:
        return True
    phase = jit.load(member.board, PHASE)
    if jit.add(member.board, ARRIVED, 1) == member.team - 1:
        return True
    wait_while(member.board, PHASE, phase, FOR_EVER)
    return False


@part_of_kernels
def release(member: Member) -> None:
    """Let the members that wait at the barrier continue."""
    if member.team > 1:
        jit.exchange(member.board, ARRIVED, 0)
        jit.add(member.board, PHASE, 1)


@part_of_kernels
def meet(member: Member) -> None:
    """Wait until all members of a team are here."""
    if last_to_arrive(member):
        release(member)


@team_kernel(allocates=False)
def meet_repeatedly(member: Member, times: int) -> None:
    """Meet without work between the barriers, to test how long members wait for each other."""
    for _ in range(times):
        meet(member)


@kernel
def serve(board: Wholes, member: int) -> None:
    """Do this member's share of every job, until there has been none for a while."""
    line = MEMBERS + member * LINE
    job = board[line + LAST_JOB]
    while True:
        if wait_while(board, JOB, job, LOOKS):
            job = jit.load(board, JOB)
            board[line + LAST_JOB] = job
            if job == CLOSED:
                return
            team = job & ((1 << SIZES) - 1)
            if member < team:  # the board does not change before all members are done
                jit.enter(board[FUNCTION], member, team, board[ARGUMENTS])
                jit.add(board, DONE, 1)
            continue
        jit.exchange(board, line + SLEEPS, 1)
        if jit.load(board, CALLED) == 0 and jit.load(board, JOB) == job:
            return
        if jit.exchange(board, line + SLEEPS, 0) == 0:  # it was woken: return for its bell
            return


@kernel
def rouse(board: Wholes, team: int, asleep: NDArray[np.bool_]) -> int:
    """Keep members awake; write which were asleep and must be woken, and return how many."""
    count = 0
    jit.exchange(board, CALLED, 1)
    for member in range(1, team):
        asleep[member] = jit.exchange(board, MEMBERS + member * LINE + SLEEPS, 0) == 1
        count += asleep[member]
    return count


@uncounted
def lead(board: Wholes, team: int, function: int, arguments: int) -> None:
    """Let every member of the team enter a kernel, and wait until all have returned.

    ``function`` is the address of its entry: see kernels/runtime/entry.py.
    """
    board[FUNCTION], board[ARGUMENTS], board[DONE] = function, arguments, 0
    number = (jit.load(board, JOB) >> SIZES) + 1
    jit.exchange(board, JOB, (number << SIZES) + team)
    jit.enter(function, 0, team, arguments)
    done = jit.load(board, DONE)
    while done < team - 1:
        wait_while(board, DONE, done, FOR_EVER)
        done = jit.load(board, DONE)
    jit.exchange(board, CALLED, 0)


@kernel
def share(size: int, piece: int, pieces: int) -> tuple[int, int]:
    """Return where one of ``pieces`` equal pieces begins and ends."""
    return size * piece // pieces, size * (piece + 1) // pieces


@part_of_kernels
def own_share(size: int, member: Member) -> tuple[int, int]:
    """Return where the piece of a member begins and ends."""
    return share(size, member.number, member.team)


@part_of_kernels
def share_of_spans(size: int, span: int, member: Member) -> tuple[int, int]:
    """Return the piece of a member, cut between spans of a fixed size."""
    first, last = own_share((size + span - 1) // span, member)
    return min(size, first * span), min(size, last * span)
