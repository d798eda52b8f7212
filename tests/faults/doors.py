"""Attacks by whoever shares the machine, the folder or the files: what they may read, run or claim.

Each takes a random generator and a folder, tries one case, and raises if it fails (see cases.py).
"""

import os
import re
import signal
import subprocess
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from functools import cache
from http.client import HTTPConnection
from pathlib import Path
from random import Random
from typing import Any

from pacboost import pacboost_check as checker
from pacboost.bounds import wording
from pacboost.bounds.certificate import Certificate
from pacboost.errors import PacboostError
from pacboost.models.file import container
from pacboost.questions import verify
from tests.attacks.forging import MADE, consistent, stands
from tests.faults import mutations
from tests.kernels.hostile_folders import (
    CALLS,
    FIT_A_MODEL,
    ON_A_CLUSTER,
    SOURCE,
    console_script,
    hostile_folder,
)
from tests.model_files import forged
from tests.models.kinds import DECISIONS
from tests.questions.measured import every_measure

MODULES = (
    "numpy", "pacboost", "json", "encodings", "random", "multiprocessing", "tempfile",
    "sitecustomize", "usercustomize", "scipy", "sklearn", "narwhals", "pandas",
    "polars", "pyarrow", "click", "rich", "starlette", "uvicorn", "dask", "distributed",
    "matplotlib", "yaml", "webbrowser", "pickle", "socket", "selectors", "tornado", "cloudpickle",
    "secrets", "hashlib",
)  # fmt: skip
"""Names that pacboost, its libraries or the processes that it starts import."""


def hostile_folders(random: Random, folder: Path) -> None:
    """Run a command in a folder whose modules have the names of others; none may be executed."""
    work, command = folder / "work", console_script(folder)
    hostile_folder(work, random.sample(MODULES, random.randint(1, len(MODULES))), random)
    every = [line for lines in CALLS.values() for line in lines if line != FIT_A_MODEL]
    variables = {**os.environ, "PYTHONPATH": str(SOURCE)}
    for line in (FIT_A_MODEL, random.choice([ON_A_CLUSTER, *random.sample(every, 3)])):
        done = subprocess.run(
            [*command, *line.split()], cwd=work, env=variables, capture_output=True, text=True,
            check=False, timeout=280,
        )  # fmt: skip
        assert not list(work.rglob("*.ran")), (line, list(work.rglob("*.ran")))
        absent = "absent" in line or "No such file" in done.stderr  # an earlier line writes it
        refused = done.returncode == 2 and (absent or line == ON_A_CLUSTER)
        assert refused or done.returncode in (0, 1, 3), (line, done.stderr[-1500:])


CLAIMED = (
    "stumps", "filtered", "mixed", "forest", "many_classes", "compressed", "answered", "strong",
    "certified_three", "bagged_trees",
)  # fmt: skip
"""Kinds of models with a claim of each sort."""
FREE = {"model_digest", *wording.ABOUT_ROWS}
"""Fields that nothing else in a file says: what was seen of the rows, and no bound computes."""


@cache
def claimed(kind: str) -> tuple[bytes, str]:
    """Return the file of a certified model, and its sentence."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.pacb"
        (MADE | DECISIONS)[kind]().save(path)
        assert stands(path)
        return path.read_bytes(), verify.sentence(path)


@cache
def measured() -> list[Certificate]:
    return every_measure()


def forged_measure(random: Random) -> None:
    """Change numbers of a certificate of a measure; if it stands, it says the same."""
    honest = random.choice(measured())
    numbers = {name: getattr(honest, name) for name in ("size", "value", "delta")}
    content: dict[str, Any] = {**numbers, "inputs": dict(honest.inputs)}
    places = list(mutations.places(content))
    mutations.change(*random.choice([(content, "size"), *places]), places, random)
    try:
        forged = replace(honest, **content)
        holds = all(check.holds for check in verify.verify(forged))
        other = forged.sentence
    except (PacboostError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
        return
    says_nothing = forged.value == 0 and forged.bound.endswith("_lower")
    same = (other, forged.size) == (honest.sentence, honest.size)
    assert not holds or says_nothing or same, (honest, forged)


def forged_claims(random: Random, folder: Path) -> None:
    """Change numbers of claims or their evidence, with right checksums; no other claim may stand.

    Some forgers compute the bound again from the numbers that they invented.
    """
    if random.random() < 0.4:
        forged_measure(random)
        return
    path = folder / "model.pacb"
    content, sentence = claimed(random.choice([*CLAIMED, *DECISIONS]))
    path.write_bytes(content)
    computed = random.random() < 0.4

    def forge(document: dict[str, Any]) -> None:
        claims = [document[name] for name in container.CLAIMS if document.get(name)]
        numbers = [
            (holder, key)
            for holder, key in mutations.places(random.choice(claims))
            if key not in FREE and type(holder[key]) in (int, float, bool)
        ]
        for _ in range(random.choice((1, 1, 2))):
            mutations.change(*random.choice(numbers), numbers, random)
        if computed:
            consistent(document, random.choice((2, 10, 10**4, 9_000_000)))

    try:
        forged(path, forge, container.kind_of(path))
        holds = stands(path)
        other = verify.sentence(path)
    except (PacboostError, ArithmeticError, LookupError, TypeError, ValueError):
        return  # refused, or no digest goes with it
    if holds:
        assert other == sentence, (sentence, other)
        answers = checker.check(path.read_bytes())
        assert checker.FAILS not in {answer for _, answer, _ in answers}, answers


BROWSER = """#!/bin/sh
printf '%s' "$1" > {folder}/opened.part
mv {folder}/opened.part {folder}/opened
while [ -d {folder} ]; do sleep 0.1; done
"""


def lab_tokens(random: Random, folder: Path) -> None:
    """Start the lab with a browser; its tokens are in no process list, and one of them works once.

    Askers with the token that the browser got, and with wrong ones, come all at once.
    """
    browser, printed = folder / "browser", folder / "printed"
    browser.write_text(BROWSER.format(folder=folder), encoding="utf-8")
    browser.chmod(0o755)
    variables = {
        **os.environ, "PYTHONPATH": str(SOURCE), "BROWSER": f"{browser} %s &",
        "PYTHONUNBUFFERED": "1",
    }  # fmt: skip
    with (
        printed.open("wb") as output,
        subprocess.Popen(
            [*console_script(folder), "lab"], cwd=folder, env=variables, stdout=output,
            stderr=output, start_new_session=True,
        ) as lab,
    ):  # fmt: skip
        try:
            address, page = wait_for(folder / "opened"), printed.read_text(encoding="utf-8")
            (port, permanent), *_ = re.findall(r":(\d+)/\?token=([\w-]+)", page)
            file = Path(address.removeprefix("file://"))
            content = file.read_text(encoding="utf-8")
            once, *_ = re.findall(r"token=([\w-]+)", content)
            assert permanent not in content
            assert not seen_by_others([permanent, once]), "a token is in a list of processes"
            assert file.parent.stat().st_mode & 0o77 == 0
            wrong = ["", "x", once[:-1], once[::-1], permanent[:-1], f"{once}%00", f" {once}"]
            asked = [once] * random.randint(2, 5) + random.choices(wrong, k=random.randint(0, 9))
            random.shuffle(asked)
            pauses = [random.choice((0, 0, random.uniform(0, 0.05))) for _ in asked]
            with ThreadPoolExecutor(len(asked)) as askers:
                answers = list(askers.map(opens, [port] * len(asked), asked, pauses))
            assert answers.count(True) == 1, list(zip(asked, answers, strict=True))
            assert asked[answers.index(True)] == once
            assert opens(port, permanent, 0)
            assert not seen_by_others([permanent, once]), "a token is in a list of processes"
        finally:
            with suppress(ProcessLookupError):
                os.killpg(lab.pid, signal.SIGINT)
                time.sleep(0.1)
                os.killpg(lab.pid, signal.SIGKILL)


def wait_for(path: Path) -> str:
    """Return what a file holds as soon as it is there."""
    for _ in range(1200):
        if path.exists():
            return path.read_text(encoding="utf-8")
        time.sleep(0.05)
    raise AssertionError(f"{path} was not written")


def seen_by_others(words: list[str]) -> list[str]:
    """Return the lists of processes that hold a word: arguments and environments."""
    seen = []
    for file in [*Path("/proc").glob("[0-9]*/cmdline"), *Path("/proc").glob("[0-9]*/environ")]:
        with suppress(OSError):
            content = file.read_bytes()
            seen += [str(file) for word in words if word.encode() in content]
    return seen


def opens(port: str, token: str, pause: float) -> bool:
    """Check whether a token opens the lab; what it gets otherwise is a refusal."""
    time.sleep(pause)
    asking = HTTPConnection("127.0.0.1", int(port), timeout=60)
    asking.request("GET", f"/?token={token.replace(' ', '%20')}")
    answer = asking.getresponse()
    assert answer.status in (303, 401), answer.status
    assert (answer.status == 303) == ("set-cookie" in {k.lower() for k, _ in answer.getheaders()})
    asking.close()
    return answer.status == 303
