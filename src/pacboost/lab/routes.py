"""All questions that the page can ask, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from pacboost import __version__
from pacboost.lab import answers, certificates, filtering, instruments, planner, reproduce
from pacboost.lab.choices import described
from pacboost.lab.files import MOST_BYTES
from pacboost.lab.knobs import KINDS
from pacboost.lab.session import LabSession
from pacboost.lab.spec import MOST_POINTS, MOST_ROUNDS, text

if TYPE_CHECKING:
    from pacboost.lab.app import Lab

Answer = Callable[["Lab", Mapping[str, Any]], Any]


def catalog(session: LabSession, boot: Any = None) -> dict[str, Any]:
    """Describe everything that can be chosen."""
    boosters, learners = described()
    return {
        "version": __version__,
        "data": [
            {
                "kind": name, "title": kind.title, "about": kind.about, "plane": kind.plane,
                "knobs": [knob.plain() for knob in kind.knobs],
            }
            for name, kind in KINDS.items()
        ],
        "boosters": boosters,
        "learners": learners,
        "plans": [question.plain(name) for name, question in planner.ASKED.items()],
        "filtering": {"boosters": list(filtering.BOOSTERS), "learners": ["stump", "tree"]},
        "limits": {
            "points": MOST_POINTS, "rounds": MOST_ROUNDS, "rounds_per_request": answers.AT_ONCE,
            "upload_bytes": MOST_BYTES,
        },
        "boot": boot,
        "files": [file.info() for file in session.files.files.values()],
    }  # fmt: skip


def levels(session: LabSession, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Give the values of a column of a file."""
    file = session.files.get(asked.get("digest"))
    found = file.levels(text("target", asked.get("target")))
    return {"levels": [list(pair) for pair in found]}


def _of_session(answer: Callable[[LabSession, Mapping[str, Any]], Any]) -> Answer:
    return lambda lab, asked: answer(lab.session, asked)


ROUTES: dict[str, Answer] = {
    "catalog": lambda lab, asked: catalog(lab.session, lab.boot),
    "levels": _of_session(levels),
    "data": _of_session(answers.data),
    "run": _of_session(answers.rounds),
    "surface": _of_session(answers.surfaces),
    "edges": _of_session(answers.edges),
    "weigh": _of_session(answers.weigh),
    "certificates": _of_session(certificates.certificates),
    "code": _of_session(reproduce.code),
    "filtering": _of_session(filtering.filtering),
    "plan": lambda lab, asked: planner.plan(asked),
    "game": _of_session(instruments.game),
    "hard_core": _of_session(instruments.hard_core),
    "pac": _of_session(instruments.pac),
    "shatters": _of_session(instruments.shatters),
}
