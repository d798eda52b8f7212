"""Attacks: each takes a random generator and a folder, tries one case, and raises if it fails."""

import copy
import gzip
import inspect
import json
import math
import os
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pandas as pd

import pacboost
from tests.estimators.filter_sources import noisy, write_parquet
from tests.faults import at_once, kills, mutations, odd_files, writers
from tests.faults.full_disk import writing_fails_as_a_whole
from tests.faults.odd_inputs import CELLS, GOOD, LABELS, MAKERS, WEIGHTS, WHOLE, raises_only_ours
from tests.models.kinds import saved
from tests.public import estimators

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


def parameters(random: Random, folder: Path) -> None:
    """Fit an estimator with an odd value of a parameter."""
    name, kind = random.choice(list(estimators().items()))
    signature = inspect.signature(kind).parameters
    quick = {key: value for key, value in SMALL.items() if key in signature}
    if not signature:
        return
    odd = {random.choice(list(signature)): random.choice(ODD)}
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
        required = [
            p for p in inspect.signature(method).parameters.values() if p.default is p.empty
        ]
        arguments = [X, y, *[random.choice(ODD) for _ in required]]
        ours(lambda: used(method(*arguments[: sum(p.kind is not p.VAR_KEYWORD for p in required)])))


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
    every = [one for one in every if inspect.isfunction(one) and one.__name__ != "export"]
    model = fitted(random.choice(list(MAKERS)))
    methods = (getattr(model, m, None) for m in dir(model) if not m.startswith(KEEPING))
    function = random.choice(random.choice([every, [one for one in methods if callable(one)]]))
    ordinary = [fitted("boost"), GOOD, LABELS, GOOD[:, 0], 0.1, 100]
    declared = list(inspect.signature(function).parameters.values())
    needed = [p for p in declared if p.default is p.empty and p.kind in (p.POSITIONAL_OR_KEYWORD,)]
    keyword_only = [p for p in declared if p.default is p.empty and p.kind is p.KEYWORD_ONLY]
    optional = [p for p in declared if p.default is not p.empty]
    chosen = random.sample(optional, min(len(optional), random.randint(0, 1)))
    odd = [random.choice(ordinary if random.random() < 0.7 else [*ODD, *CELLS]) for _ in needed]
    named = {p.name: random.choice(ODD) for p in [*chosen, *keyword_only]}
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
        holder[key] = copy.deepcopy(random.choice(others))  # one list may not end up within itself
    from pacboost.lab.app import NAMES

    name = random.choice([*NAMES, "offline", "none", "x" * 300])
    body = json.dumps(asked).encode()
    if random.random() < 0.1:
        body = odd_files.damaged(body, random)
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
    from tests.lab.lab_browser import serving

    serving_lab.kept = context = serving()  # type: ignore[attr-defined]
    lab = context.__enter__()
    return lab, f"pacboost_lab_{lab.port}={lab.token}"


def limit_memory(size: int) -> None:
    """Let this process allocate no more bytes; a sanitizer's own tables take more than that."""
    if "san.so" not in os.environ.get("LD_PRELOAD", ""):
        most = resource.getrlimit(resource.RLIMIT_DATA)[1]
        resource.setrlimit(resource.RLIMIT_DATA, (size, most))


def changed_files(random: Random, folder: Path) -> None:
    """Change a file of a model, a checkpoint or a monitor, with right checksums, and use it."""
    limit_memory(3_000_000_000)  # no file may take more
    kind = random.choice(mutations.all_kinds())
    mutations.tried(kind, random.randrange(10**9), "faults", folder)


@cache
def whole_files() -> dict[str, bytes]:
    return odd_files.whole_files(Path(tempfile.mkdtemp()))


def data_files(random: Random, folder: Path) -> None:
    """Damage a CSV, JSON lines, Parquet or svmlight file, and fit, predict and certify with it."""
    intact, suffix = whole_files(), random.choice(odd_files.SUFFIXES)
    content = odd_files.damaged(intact[suffix], random)
    if random.random() < 0.2:
        content, suffix = gzip.compress(content), f"{suffix}.gz"
    odd_files.commands_survive(content, suffix, intact["model"], folder)


def full_disk(random: Random, folder: Path) -> None:
    """Write with room for a part of the file; the old one stays."""
    name = random.choice(list(writers.WRITERS))
    writing_fails_as_a_whole(name, random.random() * 0.999, folder)


def killed_writers(random: Random, folder: Path) -> None:
    """Kill a process that saves, reports, exports, predicts or monitors."""
    seed, name = random.randrange(10**9), random.choice([*writers.WRITERS, "predict", "monitor"])
    if name == "predict":
        models: list[Any] = [saved(kind) for kind in ("stumps", "regressor")]
        write: Any = lambda model, path: writers.predictions(model, path, folder)  # noqa: E731
        kills.outlives_kills(folder / "answers.csv", write, models, 1, seed)
    elif name == "monitor":
        monitors = [pacboost.Monitor(error=0.05).update_mistakes([0, 1] * n) for n in (5, 400)]
        kills.outlives_kills(folder / "m.json", lambda own, path: own.save(path), monitors, 1, seed)
    else:
        file, write = writers.WRITERS[name]
        models = [pacboost.load(saved(kind)) for kind in ("stumps", "regressor")]
        kills.outlives_kills(folder / file, write, models, 1, seed)


def killed_fits(random: Random, folder: Path) -> None:
    """Kill fits with checkpoints; those that go on end with the same model."""
    source, seed = random.choice(kills.SOURCES), random.randrange(10**9)
    with mutations.small_refills():
        kills.fits_outlive_kills(source, folder, 2, seed)


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


def threads(random: Random, folder: Path) -> None:
    """Fit, predict and save to one path on threads at once; all have to agree."""
    alone, workers = at_once.votes(0), random.randint(2, 6)
    with ThreadPoolExecutor(workers) as pool:
        assert all(result == alone for result in pool.map(at_once.votes, range(workers)))
    model, rows = fitted(random.choice(["boost", "forest", "regressor"])), np.tile(GOOD, (50, 1))
    expected = model.predict(rows)
    with ThreadPoolExecutor(workers) as pool:
        assert all(
            (result == expected).all() for result in pool.map(model.predict, [rows] * workers)
        )

        def saved_and_loaded(path: Path) -> Any:
            model.save(path)
            return pacboost.load(path).predict(rows)

        paths = [folder / "model.pacb"] * workers
        assert all((result == expected).all() for result in pool.map(saved_and_loaded, paths))


def cluster(random: Random, folder: Path) -> None:
    """Fit on a cluster whose workers are killed, stopped and started again."""
    from tests.cluster.clusters import bytes_of, process_ids
    from tests.cluster.deaths import fit_while_workers_die, nannies
    from tests.estimators.filter_sources import small

    rows = write_parquet(folder / "rows", *noisy(6000), group=700)
    expected = bytes_of(small(n_estimators=20).fit_source(rows, "y", client=False))
    with nannies(3) as (client, alive, start_again):
        for _ in range(2):
            asleep = random.choice([*process_ids(client).values(), None])
            if asleep is not None:
                os.kill(asleep, signal.SIGSTOP)
                subprocess.Popen(["/bin/sh", "-c", f"sleep 3; kill -CONT {asleep}"])
            model, _ = fit_while_workers_die(rows, client, random, alive)
            assert bytes_of(model) == expected
            start_again()


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
        model_path = folder / "made.pacb"
        failure = odd_files.run("fit", rows, "--target", "t", "--rounds", 2, "--output", model_path)
        assert not failure, failure
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = pacboost.BoostClassifier(n_estimators=3, random_state=0, verbose=False).fit(X, y)
        model.save(folder / "m.pacb")
        reloaded = pacboost.load(folder / "m.pacb")
        assert (reloaded.predict(X[:1000]) == model.predict(X[:1000])).all()
