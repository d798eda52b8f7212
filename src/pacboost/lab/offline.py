"""A recorded run as one HTML file: the same page, which reads its answers from inside itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pacboost.lab import answers, routes
from pacboost.lab.reproduce import code
from pacboost.lab.routes import certificates
from pacboost.lab.server import whole_page
from pacboost.lab.session import LabSession
from pacboost.lab.spec import LimitError, mapping, read_run, sequence, text, whole
from pacboost.lab.surface import read_size

MOST_RUNS = 4
MOST_ROUNDS = 300
STEPS = (1, 2, 5, 10, 20, 50, 100, 200)


def offline_page(session: LabSession, asked: Mapping[str, Any]) -> str:
    """Write the page with the recording of some runs."""
    return whole_page(recorded(session, asked))


def write_page(
    path: str | Path,
    runs: Sequence[tuple[Mapping[str, Any], int]],
    title: str = "pacboost lab",
    *,
    surface: int = 40,
) -> None:
    """Write a page that shows recorded runs, side by side, and needs no server.

    ``runs`` are pairs of a run, as the lab's links describe it, and its number of rounds.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     page = Path(folder) / "toy.html"
    ...     write_page(page, [({"data": {"kind": "lecture"}}, 3)], "The toy example")
    ...     "The toy example" in page.read_text(encoding="utf-8")
    True
    """
    asked = {
        "title": title, "surface": surface, "state": None,
        "runs": [{"run": complete(run), "rounds": rounds} for run, rounds in runs],
    }  # fmt: skip
    Path(path).write_text(offline_page(LabSession(), asked), encoding="utf-8")


def complete(run: Mapping[str, Any]) -> dict[str, Any]:
    """Return a run with everything that it leaves to the defaults."""
    return read_run(dict(run)).plain()


def recorded(session: LabSession, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Collect everything that the page shows of some runs."""
    runs = sequence("runs", asked.get("runs"))
    if not 1 <= len(runs) <= MOST_RUNS:
        raise LimitError(f"{len(runs)} runs are asked for; a page records 1 to {MOST_RUNS}")
    surface = read_size(asked.get("surface", 40))
    entries = [_run(session, mapping("a run", entry), surface) for entry in runs]
    return {
        "version": 1,
        "title": text("title", asked.get("title", "pacboost lab"))[:200],
        "state": asked.get("state"),
        "catalog": {**routes.catalog(session), "files": []},
        "runs": entries,
    }


def _run(session: LabSession, entry: Mapping[str, Any], surface: int) -> dict[str, Any]:
    spec = dict(mapping("run", entry.get("run")))  # as it came: the page looks it up by that
    read_run(spec)
    last = whole("rounds", entry.get("rounds"), 1, MOST_ROUNDS)
    answer: dict[str, Any] = {}
    for first in range(1, last + 1, answers.AT_ONCE):
        to = min(last, first + answers.AT_ONCE - 1)
        part = answers.rounds(session, {"run": spec, "from": first, "to": to, "surface": surface})
        answer = {**part, "rounds": [*answer.get("rounds", []), *part["rounds"]]}
    done = min(answer["done"], last)
    answer["done"] = done
    shown = sorted({step for step in (*STEPS, done) if 1 <= step <= done})
    return {
        "run": spec,
        "data": answers.data(session, {"data": spec["data"]}),
        "start": answers.rounds(session, {"run": spec, "to": 0}),
        "answer": answer,
        "certificates": {
            str(step): certificates(session, {"run": spec, "round": step}) for step in shown
        },
        "code": code(session, {"run": spec, "rounds": done}) if done else None,
    }
