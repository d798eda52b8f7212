"""Attack pacboost for some minutes, and count what was tried and what held: ``make faults``.

    python -m tests.faults.run                        all attacks, 18 minutes in all
    python -m tests.faults.run --minutes 120          for longer (FAULTS_MINUTES of make)
    python -m tests.faults.run changed_files --cases 5000   so many, or for as long
    python -m tests.faults.run inputs --seed 7 --case 31   one case again

A case is made from the seed, the name of the attack and its number, so that each failure can be
repeated. Cases run in a process of their own: one that crashes, takes longer than it may, or raises
what is not an error of ours has failed. The figures are appended to docs/reliability.md.
"""

import argparse
import os
import signal
import sys
import tempfile
import time
import traceback
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from random import Random

from tests.faults import cases, doors, supplies

PAGE = Path(__file__).parents[2] / "docs" / "reliability.md"
MINUTES = 18.0


@dataclass(frozen=True)
class Attack:
    """Cases of one kind: their share of the time, their maximum number, and seconds for each."""

    case: cases.Case
    share: float
    max_cases: int = 10**9
    seconds: float = 120


ATTACKS = {
    attack.case.__name__: attack
    for attack in (
        Attack(cases.parameters, 2),
        Attack(cases.inputs, 2, 20_000),
        Attack(cases.functions, 1),
        Attack(cases.questions, 1),
        Attack(cases.changed_files, 2),
        Attack(cases.data_files, 1),
        Attack(cases.full_disk, 0.5),
        Attack(cases.killed_writers, 1),
        Attack(cases.killed_fits, 2, seconds=400),
        Attack(cases.interrupts, 2, seconds=600),
        Attack(cases.threads, 0.5),
        Attack(cases.cluster, 2, max_cases=5, seconds=900),
        Attack(cases.sizes, 2, max_cases=8, seconds=600),
        Attack(doors.hostile_folders, 1, max_cases=2000, seconds=600),
        Attack(doors.forged_claims, 1),
        Attack(doors.lab_tokens, 0.5),
        Attack(supplies.large_models, 1, seconds=300),
        Attack(supplies.bombs, 1, seconds=300),
        Attack(supplies.other_libraries, 1, seconds=600),
    )
}


def tried(name: str, seed: str, number: int) -> str:
    """Try one case; return how it failed, or nothing."""
    try:
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            ATTACKS[name].case(Random(f"{seed} {name} {number}"), Path(folder))
    except BaseException:  # whatever it is, it is not one of ours
        return traceback.format_exc(limit=-5)
    finally:
        os.chdir(PAGE.parents[1])
    return ""


def worker(name: str, seed: str, first: int, parent: Connection) -> None:
    """Try cases one after the other, and tell each to the parent; it ends this process."""
    os.setpgid(0, 0)
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)
    for number in range(first, ATTACKS[name].max_cases):
        parent.send(tried(name, seed, number))
    os._exit(0)


def attacked(name: str, seed: str, seconds: float, cases: int) -> tuple[int, int]:
    """Try cases until the time is over; return how many, and how many failed."""
    attack, until, done, failed = ATTACKS[name], time.monotonic() + seconds, 0, 0
    most = min(attack.max_cases, cases)
    while done < most and (time.monotonic() < until or not done):
        here, there = Pipe(duplex=False)
        child = os.fork()
        if child == 0:
            worker(name, seed, done, there)
        there.close()
        problem = ""
        while done < most and (time.monotonic() < until or not done) and not problem:
            try:
                waited = here.poll(attack.seconds)
                failure = here.recv() if waited else f"no answer after {attack.seconds:g} s"
                problem = "" if waited else failure
            except EOFError:
                failure = problem = "its process died"
            if failure:
                failed += 1
                tell(f"{name} --seed {seed} --case {done}\n{failure}")
            done += 1
        with suppress(OSError):
            os.killpg(child, signal.SIGKILL)
        os.waitpid(child, 0)
        here.close()
    return done, failed


def tell(words: str) -> None:
    """Print at once, whatever letters there are."""
    print(words.encode("utf-8", "backslashreplace").decode(), flush=True)  # noqa: T201


def main() -> int:
    """Attack, print what failed, and append the figures to the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("attacks", nargs="*", choices=[*ATTACKS, []])
    parser.add_argument("--minutes", type=float, default=MINUTES)
    parser.add_argument("--cases", type=int, default=10**9)
    parser.add_argument("--seed", default=time.strftime("%Y-%m-%d"))
    parser.add_argument("--case", type=int)
    asked = parser.parse_args()
    names = asked.attacks or list(ATTACKS)
    if asked.case is not None:
        problem = tried(names[0], asked.seed, asked.case)
        tell(problem or "held")
        return bool(problem)
    shares, lines, bad = sum(ATTACKS[name].share for name in names), [], 0
    tell(f"seed {asked.seed}")
    for name in names:
        started = time.monotonic()
        seconds = asked.minutes * 60 * ATTACKS[name].share / shares
        done, failed = attacked(name, asked.seed, seconds, asked.cases)
        bad += failed
        lines.append(f"| {name} | {done:,} | {done - failed:,} |")
        took = time.monotonic() - started
        tell(f"{name}: {done:,} tried, {failed} failed, {took:.0f} s")
    if not asked.attacks:
        with PAGE.open("a", encoding="utf-8") as page:
            page.write(f"\n`make faults`, {time.strftime('%d %B %Y')}, seed {asked.seed}:\n\n")
            page.write("\n".join(["| attack | tried | held |", "|---|---|---|", *lines, ""]))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
