"""Attack pacboost for some minutes, and count what was tried and what held: ``make faults``.

    python -m tests.faults.run                        all attacks, 18 minutes in all
    python -m tests.faults.run --minutes 120          for longer (FAULTS_MINUTES of make)
    python -m tests.faults.run inputs --seed 7 --case 31   one case again

A case is made from the seed, the name of the attack and its number, so that each failure can be
repeated. Cases run in a process of their own: one that crashes, takes longer than it may, or raises
what is not an error of ours has failed. The figures are appended to docs/reliability.md.
"""

from __future__ import annotations

import argparse
import inspect
import json
import math
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pandas as pd

import pacboost
from tests.estimators.filter_sources import noisy, write_parquet
from tests.faults import mutations, test_at_once, test_full_disk, test_kills, test_odd_files
from tests.faults.test_odd_inputs import (
    CELLS,
    GOOD,
    LABELS,
    MAKERS,
    WEIGHTS,
    WHOLE,
    raises_only_ours,
)
from tests.models.kinds import saved
from tests.public import estimators

PAGE = Path(__file__).parents[2] / "docs" / "reliability.md"
MINUTES = 18.0
ODD: list[Any] = [
    np.float64(0.5), np.float32(0.5), np.int8(3), np.bool_(True), np.str_("no such word"),
    np.array(0.5), np.array([1, 2]), np.array(["a", "b"]), np.eye(2), np.datetime64("2020-01-01"),
    10**30, 10**5000, math.inf, math.nan, 1e308, -1, 0, "", b"x", 1j, Decimal("0.5"), {"a": 1},
    [1, "a"], {1}, object(), int, None, True,
]  # fmt: skip
SMALL: dict[str, Any] = {
    "n_estimators": 3, "random_state": 0, "n_bags": 3, "max_members": 9, "n_jobs": 1,
    "verbose": False,
}  # fmt: skip
CONVENTIONS = (
    "is not an estimator instance", "is a class, not an instance", "os.PathLike",
    "Expected 2D array", "should be a 1d array", "features as input",
)  # fmt: skip
"""What scikit-learn says of odd estimators and shapes, and Python of what is no path."""
KEEPING = ("_", "fit", "partial_fit", "set_", "save", "get_")
"""Names of methods that change a model, or write files."""
TEXTS = ["good day" if label else "bad luck" for label in LABELS]
Case = Callable[[Random, Path], object]


def ours(use: Callable[[], object]) -> None:
    """Use something; an error of ours, or of scikit-learn's conventions, is an answer."""
    try:
        raises_only_ours(use)
    except (TypeError, ValueError) as problem:
        if not any(words in str(problem) for words in CONVENTIONS):
            raise


# What is given to estimators and functions.


def parameters(random: Random, folder: Path) -> None:
    """Fit an estimator with an odd value of a parameter."""
    name, kind = random.choice(list(estimators().items()))
    known = inspect.signature(kind).parameters
    quick = {key: value for key, value in SMALL.items() if key in known}
    if not known:
        return
    odd = {random.choice(list(known)): random.choice(ODD)}
    ours(lambda: kind(**quick | odd).fit(TEXTS if name.startswith("Text") else GOOD, LABELS))


def inputs(random: Random, folder: Path) -> None:
    """Give odd tables, labels and weights to a method of an estimator."""
    name = random.choice(list(MAKERS))
    rows: Any = TEXTS if name == "text" else GOOD
    table = np.array(rows, dtype=object)
    for _ in range(random.randint(1, 4)):
        table.reshape(-1)[random.randrange(table.size)] = random.choice(CELLS)
    labels: Any = LABELS.tolist()
    labels[random.randrange(len(labels))] = random.choice(CELLS)
    X = random.choice([rows, table, table.tolist(), random.choice(list(WHOLE.values()))])
    y = random.choice([LABELS, labels, random.choice(WEIGHTS)])
    weights = random.choice([{}, {"sample_weight": random.choice(WEIGHTS)}])
    if random.random() < 0.4:
        ours(lambda: MAKERS[name]().fit(X, y, **weights).predict(X))
        return
    model = fitted(name)
    methods = [m for m in dir(model) if not m.startswith(KEEPING)]
    method = getattr(model, random.choice(methods), None)
    if callable(method):
        own = [p for p in inspect.signature(method).parameters.values() if p.default is p.empty]
        given = [X, y, *[random.choice(ODD) for _ in own]]
        ours(lambda: used(method(*given[: sum(p.kind is not p.VAR_KEYWORD for p in own)])))


@cache
def fitted(name: str) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return MAKERS[name]().fit(TEXTS if name == "text" else GOOD, LABELS)


def used(answer: Any) -> None:
    """Walk through what comes bit by bit, and put an answer into words."""
    if inspect.isgenerator(answer):
        list(answer)
    repr(answer)


def functions(random: Random, folder: Path) -> None:
    """Call a public function, or a method of a fitted model, with odd arguments."""
    rooms = (pacboost, pacboost.theory)
    every = [getattr(room, name) for room in rooms for name in sorted(room.__all__)]
    every = [own for own in every if inspect.isfunction(own) and own.__name__ not in ("export",)]
    model = fitted(random.choice(list(MAKERS)))
    methods = (getattr(model, m, None) for m in dir(model) if not m.startswith(KEEPING))
    function = random.choice(random.choice([every, [own for own in methods if callable(own)]]))
    usual = [fitted("boost"), GOOD, LABELS, GOOD[:, 0], 0.1, 100]
    own = list(inspect.signature(function).parameters.values())
    needed = [p for p in own if p.default is p.empty and p.kind in (p.POSITIONAL_OR_KEYWORD,)]
    kept = [p for p in own if p.default is p.empty and p.kind is p.KEYWORD_ONLY]
    more = [p for p in own if p.default is not p.empty]
    chosen = random.sample(more, min(len(more), random.randint(0, 1)))
    odd = [random.choice(usual if random.random() < 0.7 else [*ODD, *CELLS]) for _ in needed]
    named = {p.name: random.choice(ODD) for p in [*chosen, *kept]}
    os.chdir(folder)  # whoever writes a file by an odd name writes it here
    ours(lambda: used(function(*odd, **named)))


def questions(random: Random, folder: Path) -> None:
    """Ask the lab for odd things, by HTTP that is whole and by bytes that are not."""
    lab, cookie = serving_lab()
    address = ("127.0.0.1", lab.port)
    if random.random() < 0.2:
        pieces = [b"GET / HTTP/1.1\r\n", b"POST ", b"\r\n\r\n", b"Host: x\r\n", b"\0" * 99]
        with socket.create_connection(address, timeout=30) as raw:
            raw.sendall(b"".join(random.choice(pieces) for _ in range(random.randint(1, 5))))
        return
    run: dict[str, Any] = {"data": {"kind": "lecture"}, "booster": {"name": "adaboost"}}
    asked: Any = {
        "run": run, "data": {"kind": "xor", "n": 40}, "to": 3, "round": 1, "after": 1, "rounds": 10,
        "rule": {"feature": 0, "threshold": 0.5, "above": 1}, "points": [[0, 0], [1, 1]],
        "question": "holdout", "values": {}, "runs": [{"run": run, "rounds": 2}], "trials": 10,
        "learner": {"name": "stump"}, "surface": 8, "digest": "0", "target": "x",
    }  # fmt: skip
    others = [0, -1, 1.5, 10**400, "", "x" * 300, None, True, [], {}, [[]], "\ud800", math.nan]
    for _ in range(random.randint(0, 3)):
        holder, key = random.choice(list(mutations.places(asked)))
        holder[key] = random.choice(others)
    from pacboost.lab.app import NAMES

    name = random.choice([*NAMES, "offline", "none", "x" * 300])
    body = json.dumps(asked).encode()
    if random.random() < 0.1:
        body = test_odd_files.damaged(body, random)
    head = [
        f"POST /api/{name} HTTP/1.1", f"Host: 127.0.0.1:{lab.port}", f"Origin: {lab.origin}",
        f"Cookie: {cookie}", "Content-Type: application/json", f"Content-Length: {len(body)}",
        "Connection: close", "", "",
    ]  # fmt: skip
    with socket.create_connection(address, timeout=60) as asking:
        asking.sendall("\r\n".join(head).encode() + body)
        if random.random() < 0.1:
            return  # and leave
        answer = b"".join(iter(lambda: asking.recv(2**16), b""))
    status = int(answer.split(b" ", 2)[1])
    assert status in (200, 400, 401, 403, 404, 413), (name, asked, answer[-300:])
    assert b"nosniff" in answer


@cache
def serving_lab() -> tuple[Any, str]:
    from tests.lab.serving import serving

    serving_lab.kept = context = serving()  # type: ignore[attr-defined]
    lab = context.__enter__()
    return lab, f"pacboost_lab_{lab.port}={lab.token}"


# Files.


def changed_files(random: Random, folder: Path) -> None:
    """Change a file of a model, a checkpoint or a monitor, with right checksums, and use it."""
    kind = random.choice(mutations.all_kinds())
    mutations.tried(kind, random.randrange(10**9), "faults", folder)


@cache
def whole_files() -> dict[str, bytes]:
    class Folders:
        def mktemp(self, name: str) -> Path:
            return Path(tempfile.mkdtemp())

    return test_odd_files.whole.__wrapped__(Folders())  # type: ignore[attr-defined,no-any-return]


def data_files(random: Random, folder: Path) -> None:
    """Damage a CSV, JSON lines, Parquet or svmlight file, and fit, predict and certify with it."""
    whole, suffix = whole_files(), random.choice(test_odd_files.SUFFIXES)
    content = test_odd_files.damaged(whole[suffix], random)
    test_odd_files.commands_survive(content, suffix, whole["model"], folder)


def full_disk(random: Random, folder: Path) -> None:
    """Write with room for a part of the file; the old one stays."""
    name = random.choice(list(test_kills.WRITERS))
    test_full_disk.test_writing_fails_as_a_whole(name, random.random() * 0.999, folder)


# Ends of processes.


def killed_writers(random: Random, folder: Path) -> None:
    """Kill a process that saves, reports, exports, predicts or monitors."""
    seed, name = random.randrange(10**9), random.choice([*test_kills.WRITERS, "predict", "monitor"])
    if name == "predict":
        models: list[Any] = [saved(kind) for kind in ("stumps", "regressor")]
        write: Any = lambda model, path: test_kills.predictions(model, path, folder)  # noqa: E731
        test_kills.outlives_kills(folder / "answers.csv", write, models, 1, seed)
    elif name == "monitor":
        monitors = [pacboost.Monitor(error=0.05).update_mistakes([0, 1] * n) for n in (5, 400)]
        test_kills.outlives_kills(
            folder / "m.json", lambda own, path: own.save(path), monitors, 1, seed
        )
    else:
        file, write = test_kills.WRITERS[name]
        models = [pacboost.load(saved(kind)) for kind in ("stumps", "regressor")]
        test_kills.outlives_kills(folder / file, write, models, 1, seed)


def killed_fits(random: Random, folder: Path) -> None:
    """Kill fits with checkpoints; those that go on end with the same model."""
    source, seed = random.choice(test_kills.SOURCES), random.randrange(10**9)
    with mutations.small_refills():
        test_kills.fits_outlive_kills(source, folder, 2, seed)


INTERRUPTED = """
import sys, numpy as np
X = np.random.default_rng(0).normal(size=(4000, 6)); y = X[:, 0] + X[:, 1] * X[:, 2] > 0
try:
    import pacboost
    make = lambda: pacboost.{kind}(n_estimators=300, random_state=0, verbose=False)
    if {warm}: make().fit(X, y)
    print("begun", flush=True)
    make().fit(X, y)
except KeyboardInterrupt:
    pass
import pacboost
model = pacboost.{kind}(n_estimators=5, random_state=0, verbose=False)
print(float(np.sum(model.fit(X, y).predict(X))))
"""


@cache
def uninterrupted(kind: str) -> float:
    return float(run_interrupted(kind, warm=False, seconds=None)[1].split()[-1])


def run_interrupted(kind: str, *, warm: bool, seconds: float | None) -> tuple[int, str, str]:
    """Fit in a new process, interrupt it, and fit again in it."""
    command = [sys.executable, "-W", "ignore", "-c", INTERRUPTED.format(kind=kind, warm=warm)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as running:
        assert running.stdout is not None
        first = running.stdout.readline() if warm else ""
        if seconds is not None:
            time.sleep(seconds)
            running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=300)
        return running.returncode, first + out, err


def interrupts(random: Random, folder: Path) -> None:
    """Press Ctrl-C at a random moment, in a process that is new or has fitted before."""
    kind = random.choice(["BoostClassifier", "AdaBoostClassifier", "RandomForestClassifier"])
    warm = random.random() < 0.5
    expected = uninterrupted(kind)
    code, out, err = run_interrupted(kind, warm=warm, seconds=random.uniform(0.0, 1.5))
    if code == -signal.SIGINT or (code == 1 and "KeyboardInterrupt" in err.splitlines()[-1]):
        return  # it came before or after all, when nobody was there to catch it
    assert code == 0, (code, err[-1500:])
    assert float(out.split()[-1]) == expected, out
    assert "Traceback" not in err, err[-1500:]


# At the same time.


def threads(random: Random, folder: Path) -> None:
    """Fit and predict on threads at once; all have to agree."""
    alone, workers = test_at_once.votes(0), random.randint(2, 6)
    with ThreadPoolExecutor(workers) as pool:
        assert all(own == alone for own in pool.map(test_at_once.votes, range(workers)))
    model, rows = fitted(random.choice(["boost", "forest", "regressor"])), np.tile(GOOD, (50, 1))
    expected = model.predict(rows)
    with ThreadPoolExecutor(workers) as pool:
        assert all((own == expected).all() for own in pool.map(model.predict, [rows] * workers))


def compiling(random: Random, folder: Path) -> None:
    """Start two processes at once with an empty cache."""
    running = [test_at_once.started(folder) for _ in range(2)]
    answers = [process.communicate(timeout=900)[0].strip() for process in running]
    assert answers == ["1.0", "1.0"], answers


def cluster(random: Random, folder: Path) -> None:
    """Fit on a cluster whose workers are killed, stopped and started again."""
    from tests.cluster.clusters import bytes_of, process_ids
    from tests.cluster.test_deaths import fit_while_workers_die, nannies
    from tests.estimators.filter_sources import small

    rows = write_parquet(folder / "rows", *noisy(6000), group=700)
    expected = bytes_of(small(n_estimators=20).fit_source(rows, "y", client=False))
    with nannies(3) as (client, alive, start_again):
        for _ in range(4):
            asleep = random.choice([*process_ids(client).values(), None])
            if asleep is not None:
                os.kill(asleep, signal.SIGSTOP)
                subprocess.Popen(["/bin/sh", "-c", f"sleep 3; kill -CONT {asleep}"])
            model, _ = fit_while_workers_die(rows, client, random, alive)
            assert bytes_of(model) == expected
            start_again()


# Sizes.


def sizes(random: Random, folder: Path) -> None:
    """Fit to many columns, classes or levels, or to long cells; save, load and predict."""
    generator = np.random.default_rng(random.randrange(2**32))
    case = random.choice(["wide", "classes", "levels", "cells"])
    X: Any = generator.normal(size=(1000, 20_000 if case == "wide" else 5))
    y: Any = X[:, 0] > 0
    if case == "classes":
        X, y = X.repeat(5, axis=0), np.arange(5000) % 1000
    if case == "levels":
        X = pd.DataFrame({"a": generator.integers(0, 10**6, 10**6).astype(str)})
        X["b"] = generator.normal(size=len(X))
        y = X["b"] > 0
    if case == "cells":
        lines = [f"{'x' * 10**7 if k % 20 == 0 else 'y'},{k},{k % 2}" for k in range(40)]
        rows = folder / "long.csv"
        rows.write_text("\n".join(["a,b,t", *lines]), encoding="utf-8")
        made = folder / "made.pacb"
        failure = test_odd_files.run("fit", rows, "--target", "t", "--rounds", 2, "--output", made)
        assert not failure, failure
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = pacboost.BoostClassifier(n_estimators=3, random_state=0, verbose=False).fit(X, y)
        model.save(folder / "m.pacb")
        again = pacboost.load(folder / "m.pacb")
        assert (again.predict(X[:1000]) == model.predict(X[:1000])).all()


@dataclass(frozen=True)
class Attack:
    """Cases of one kind: their share of the time, how many at most, and seconds for one."""

    case: Case
    share: float
    most: int = 10**9
    seconds: float = 120


ATTACKS = {
    attack.case.__name__: attack
    for attack in (
        Attack(parameters, 2),
        Attack(inputs, 2, 20_000),
        Attack(functions, 1),
        Attack(questions, 1),
        Attack(changed_files, 2),
        Attack(data_files, 1),
        Attack(full_disk, 0.5),
        Attack(killed_writers, 1),
        Attack(killed_fits, 2, seconds=400),
        Attack(interrupts, 2, seconds=600),
        Attack(threads, 0.5),
        Attack(compiling, 1, most=1, seconds=900),
        Attack(cluster, 2, most=5, seconds=600),
        Attack(sizes, 2, most=8, seconds=600),
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
    for number in range(first, ATTACKS[name].most):
        parent.send(tried(name, seed, number))
    os._exit(0)


def attacked(name: str, seed: str, seconds: float) -> tuple[int, int]:
    """Try cases until the time is over; return how many, and how many failed."""
    attack, until, done, failed = ATTACKS[name], time.monotonic() + seconds, 0, 0
    while done < attack.most and (time.monotonic() < until or not done):
        here, there = Pipe(duplex=False)
        child = os.fork()
        if child == 0:
            worker(name, seed, done, there)
        there.close()
        problem = ""
        while done < attack.most and (time.monotonic() < until or not done) and not problem:
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
        done, failed = attacked(name, asked.seed, seconds)
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
