"""All questions that the page can ask, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pacboost import __version__
from pacboost.bounds import holdout
from pacboost.bounds.certificate import Certificate
from pacboost.bounds.holdout import clopper_pearson
from pacboost.bounds.shift import largest_error
from pacboost.bounds.training import training_error
from pacboost.bounds.wording import NEW_EXAMPLES, TRAINING_ROWS
from pacboost.errors import NotCertified, PacboostError
from pacboost.hypotheses.stump import StumpRule
from pacboost.lab import answers, filtering, instruments, reproduce
from pacboost.lab.answers import interval
from pacboost.lab.choices import KINDS, LEARNERS, OFFERS
from pacboost.lab.engine import BagRun, BoostRun, LabRun
from pacboost.lab.files import MOST_BYTES
from pacboost.lab.reproduce import code, fitted
from pacboost.lab.server import whole_page
from pacboost.lab.session import LabSession, check_done, read_size
from pacboost.lab.spec import (
    MOST_POINTS,
    MOST_ROUNDS,
    LimitError,
    mapping,
    number,
    read_run,
    sequence,
    text,
    whole,
)
from pacboost.numerics.exact import wrong_margins
from pacboost.questions.certify import certify
from pacboost.theory import vc
from pacboost.theory.compression import compress

# All certificates of a vote side by side, each with what it assumes, and those that are refused.
#
# Test rows of the page are other draws of the same world, or rows of the file that were set apart,
# so their certificate holds. The truth beside it comes from many more fresh draws.

NO_TEST = (
    "There are no test rows: these points were painted, and nobody knows which distribution they "
    "come from. Draw points of a world, or set rows of a file apart."
)
ON_PURPOSE = (
    "The adversary answers for the training points only, so there is no classifier of new examples."
)


def certificates(session: LabSession, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return every certificate of the vote after a round."""
    spec = read_run(asked.get("run"))
    done = whole("round", asked.get("round"), 1, MOST_ROUNDS)
    delta = number("delta", asked.get("delta", 0.05), 1e-9, 0.5)
    run = session.run(spec)
    check_done(run, done)
    ways: list[tuple[str, str, str, Callable[[LabRun, int, float], Certificate]]] = [
        ("training", "Training error by the product of Z", "training", _training),
        ("holdout", "Test rows", "holdout", _holdout),
        ("vc", "Training rows and the size of the class", "growth", _vc),
        ("compression", "Training rows and a short description", "compression", _compression),
        ("training_rows", "Training rows, as if they were test rows", "training_rows", _forbidden),
    ]
    found = [_described(way, run, done, delta) for way in ways]
    return {"round": done, "delta": delta, "truth": truth(run, done), "certificates": found}


def truth(run: LabRun, done: int) -> dict[str, Any] | None:
    """Measure the error on many fresh draws of the world, if there is one."""
    if run.points.truth is None or not run.answers_elsewhere:
        return None
    X, y = run.points.truth
    return interval(int(wrong_margins(run.scores(X, done) * y).sum()), len(y))


def _described(
    way: tuple[str, str, str, Callable[[LabRun, int, float], Certificate]],
    run: LabRun,
    done: int,
    delta: float,
) -> dict[str, Any]:
    name, title, link, make = way
    given: dict[str, Any] = {"id": name, "title": title, "link": link, "would_say": None}
    if name == "training_rows":
        given["would_say"] = clopper_pearson(
            _training_mistakes(run, done), len(run.points.y), delta
        )
    try:
        made = make(run, done, delta)
    except PacboostError as refusal:
        return {**given, **NOTHING, "refused": str(refusal)}
    return {
        **given, "value": made.value, "vacuous": made.vacuous,
        "holds_for": "training rows" if made.of_what == TRAINING_ROWS else "new examples",
        "claim": made.claim, "theorem": made.theorem, "reference": made.reference,
        "sample": made.sample, "size": made.size, "independent_of": made.independent_of,
        "assumes": list(made.assumptions), "fails_with": made.delta, "refused": None,
        "valid_after_looking": made.valid_after_looking,
        "moved": [
            largest_error(made.value, "contamination", share / 100)
            for share in range(31 if made.of_what == NEW_EXAMPLES and not made.vacuous else 0)
        ],
    }  # fmt: skip


NOTHING: dict[str, Any] = {
    "value": None, "vacuous": True, "holds_for": "new examples", "claim": "", "theorem": "",
    "reference": "", "sample": "", "size": 0, "independent_of": "", "assumes": [],
    "fails_with": None, "valid_after_looking": False, "moved": [],
}  # fmt: skip


def _training_mistakes(run: LabRun, done: int) -> int:
    return round(run.frames[done - 1].entry.training_error * len(run.points.y))


def _training(run: LabRun, done: int, delta: float) -> Certificate:
    return training_error(run.ledger(done))


def _holdout(run: LabRun, done: int, delta: float) -> Certificate:
    if run.points.test is None:
        raise NotCertified(NO_TEST)
    mistakes = run.frames[done - 1].wrong_test
    if mistakes is None:
        raise NotCertified(ON_PURPOSE)
    if run.spec.data["kind"] == "csv":  # which says if rows equal rows learned from
        return certify(fitted(run, done), *run.points.test, delta=delta)
    rows = len(run.points.test[1])
    return holdout.certificate(mistakes, rows, delta, sample="test rows, ties counted as errors")


def _vc(run: LabRun, done: int, delta: float) -> Certificate:
    rules = [frame.rule.unvalued for frame in run.frames[:done]]
    stumps = [rule for rule in rules if isinstance(rule, StumpRule)]
    cells = isinstance(run, BoostRun) and run.run.cells
    if len(stumps) < len(rules) or cells or isinstance(run, BagRun):
        raise NotCertified("The labelings are counted for votes of stumps only.")
    distinct = len({(rule.feature, rule.threshold) for rule in stumps})
    growth = vc.growth_of_stump_votes(run.points.X.shape[1], distinct)
    return vc.certificate(_training_mistakes(run, done), len(run.points.y), delta, growth)


def _compression(run: LabRun, done: int, delta: float) -> Certificate:
    if not isinstance(run, BoostRun):
        raise NotCertified("Votes of stumps that were boosted can be compressed; bags cannot.")
    if run.run.cells or not all(isinstance(f.rule, StumpRule) for f in run.frames[:done]):
        raise NotCertified("Votes of stumps can be compressed to the few points that define them.")
    small = compress(fitted(run, done), run.points.X, run.points.y, delta)
    found: Certificate = small.certificate_
    return found


def _forbidden(run: LabRun, done: int, delta: float) -> Certificate:
    """Ask for what must not be had: the library refuses rows that the fit has seen."""
    if not isinstance(run, BoostRun):
        raise NotCertified("Rows in a bag have been learned from, so they certify nothing.")
    one = fitted(run, 1)  # a vote of any length remembers the same rows
    certify(one, run.points.X, run.points.y, delta=delta)
    raise NotCertified(
        "These are the rows that the vote was trained on; a certificate needs rows that had no "
        "part in fitting."
    )


def catalog(session: LabSession, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Describe everything that can be chosen."""
    return {
        "version": __version__,
        "data": [
            {
                "kind": name, "title": kind.title, "about": kind.about, "plane": kind.plane,
                "knobs": [knob.plain() for knob in kind.knobs],
            }
            for name, kind in KINDS.items()
        ],
        "boosters": [offer.plain(name) for name, offer in OFFERS.items()],
        "learners": [offer.plain(name) for name, offer in LEARNERS.items()],
        "plans": [question.plain(name) for name, question in filtering.ASKED.items()],
        "filtering": {"boosters": list(filtering.BOOSTERS), "learners": ["stump", "tree"]},
        "limits": {
            "points": MOST_POINTS, "rounds": MOST_ROUNDS, "rounds_per_request": answers.AT_ONCE,
            "upload_bytes": MOST_BYTES,
        },
        "boot": session.boot,
        "files": [file.info() for file in list(session.files.files.values())],
    }  # fmt: skip


def levels(session: LabSession, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of a column of a file."""
    file = session.files.get(asked.get("digest"))
    found = file.levels(text("target", asked.get("target")))
    return {"levels": [list(pair) for pair in found]}


ROUTES: dict[str, Callable[[LabSession, Mapping[str, Any]], Any]] = {
    "catalog": catalog,
    "levels": levels,
    "data": answers.data,
    "run": answers.rounds,
    "surface": answers.surfaces,
    "edges": answers.edges,
    "weigh": answers.weigh,
    "certificates": certificates,
    "code": reproduce.code,
    "filtering": filtering.filtering,
    "plan": lambda _, asked: filtering.plan(asked),
    "pac": instruments.pac,
    "shatters": instruments.shatters,
}


# A recorded run as one HTML file: the same page, which reads its answers from inside itself.


MOST_RUNS = 4
MOST_ROUNDS_OFFLINE = 300
STEPS = (1, 2, 5, 10, 20, 50, 100, 200)


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
        "runs": [{"run": read_run(dict(run)).plain(), "rounds": rounds} for run, rounds in runs],
    }  # fmt: skip
    Path(path).write_text(whole_page(recorded(LabSession(), asked)), encoding="utf-8")


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
        "catalog": {**catalog(session, {}), "files": []},
        "runs": entries,
    }


def _run(session: LabSession, entry: Mapping[str, Any], surface: int) -> dict[str, Any]:
    spec = dict(mapping("run", entry.get("run")))  # as it came: the page looks it up by that
    read_run(spec)
    last = whole("rounds", entry.get("rounds"), 1, MOST_ROUNDS_OFFLINE)
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
