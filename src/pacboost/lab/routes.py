"""The routes of the page, its certificates, and recordings of runs.

Test rows are other draws of the same world, or held-out rows of the file, so their certificate
holds. The true error comes from many more fresh draws.
"""

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
from pacboost.bounds.wording import NEW_EXAMPLES, TRAINING_ROWS, claim_beside_others
from pacboost.errors import NotCertified, PacboostError
from pacboost.hypotheses.stump import StumpRule
from pacboost.lab import answers, filtering, instruments, reproduce, spec
from pacboost.lab.answers import interval
from pacboost.lab.choices import KINDS, LEARNERS, OFFERS
from pacboost.lab.engine import BagRun, BoostRun, LabRun
from pacboost.lab.files import MAX_BYTES
from pacboost.lab.page_files import whole_page
from pacboost.lab.reproduce import fitted
from pacboost.lab.session import LabSession, check_done, read_size
from pacboost.lab.spec import MAX_POINTS, MAX_ROUNDS, number, read_run, text, whole
from pacboost.numerics.exact import wrong_margins
from pacboost.questions.certify import certify
from pacboost.theory import vc
from pacboost.theory.compression import compress

NO_TEST = (
    "There are no test rows, because the distribution of painted points is unknown. Draw points of "
    "a world, or hold out rows of a file."
)
NO_CLASSIFIER = (
    "The adversary answers for the training points only, so there is no classifier of new examples."
)


def certificates(session: LabSession, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return every certificate of the vote after a round."""
    done = whole("round", asked.get("round"), 1, MAX_ROUNDS)
    delta = number("delta", asked.get("delta", 0.05), 1e-9, 0.5)
    run = session.run(read_run(asked.get("run")))
    check_done(run, done)
    descriptions = [_described(way, run, done, delta) for way in WAYS]
    return {"round": done, "delta": delta, "truth": truth(run, done), "certificates": descriptions}


def truth(run: LabRun, done: int) -> dict[str, Any] | None:
    """Measure the error on many fresh draws of the world, if any."""
    if run.points.truth is None or not run.answers_elsewhere:
        return None
    X, y = run.points.truth
    return interval(int(wrong_margins(run.scores(X, done) * y).sum()), len(y))


Way = tuple[str, str, str, Callable[[LabRun, int, float], Certificate]]
"""The name, the title and the page of a certificate, and the function that makes it."""


def _described(way: Way, run: LabRun, done: int, delta: float) -> dict[str, Any]:
    name, title, link, make = way
    description: dict[str, Any] = {"id": name, "title": title, "link": link, "would_say": None}
    if name == "training_rows":
        mistakes = _training_mistakes(run, done)
        description["would_say"] = clopper_pearson(mistakes, len(run.points.y), delta)
    try:
        bound = make(run, done, delta)
    except PacboostError as refusal:
        return {**description, **NOTHING, "refused": str(refusal)}
    return {
        **description, "value": bound.value, "vacuous": bound.vacuous,
        "holds_for": "training rows" if bound.of_what == TRAINING_ROWS else "new examples",
        "claim": str(claim_beside_others(bound)), "theorem": bound.theorem,
        "reference": bound.reference,
        "sample": bound.rows_in_words, "size": bound.size, "independent_of": bound.independent_of,
        "assumes": list(bound.assumptions), "fails_with": bound.delta, "refused": None,
        "valid_after_looking": bound.valid_after_looking,
        "moved": [
            largest_error(bound.value, "contamination", share / 100)
            for share in range(31 if bound.of_what == NEW_EXAMPLES and not bound.vacuous else 0)
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
        raise NotCertified(NO_CLASSIFIER)
    if run.spec.data["kind"] == "csv":  # a file may have equal rows
        return certify(fitted(run, done), *run.points.test, delta=delta)
    return holdout.certificate(mistakes, len(run.points.test[1]), delta, sample={"rows": "test"})


def _vc(run: LabRun, done: int, delta: float) -> Certificate:
    rules = [frame.rule.unvalued for frame in run.frames[:done]]
    stumps = [rule for rule in rules if isinstance(rule, StumpRule)]
    cells = isinstance(run, BoostRun) and run.run.cells
    if len(stumps) < len(rules) or cells or isinstance(run, BagRun):
        raise NotCertified("Labelings can be counted only for votes of stumps.")
    distinct = len({(rule.feature, rule.threshold) for rule in stumps})
    growth = vc.growth_of_stump_votes(run.points.X.shape[1], distinct)
    return vc.certificate(_training_mistakes(run, done), len(run.points.y), delta, growth)


def _compression(run: LabRun, done: int, delta: float) -> Certificate:
    if not isinstance(run, BoostRun):
        raise NotCertified("Only boosted votes of stumps can be compressed.")
    if run.run.cells or not all(isinstance(f.rule, StumpRule) for f in run.frames[:done]):
        raise NotCertified("Only votes of stumps can be compressed.")
    small = compress(fitted(run, done), run.points.X, run.points.y, delta)
    return small.certificate_  # type: ignore[no-any-return]


def _forbidden(run: LabRun, done: int, delta: float) -> Certificate:
    """Try to certify by training rows, which the library rejects."""
    if not isinstance(run, BoostRun):
        raise NotCertified("Rows in a bag are training rows, so they certify nothing.")
    one = fitted(run, 1)  # votes of all lengths have the same training rows
    certify(one, run.points.X, run.points.y, delta=delta)
    raise NotCertified("These are training rows; a certificate needs held-out rows.")


WAYS: list[Way] = [
    ("training", "Training error by the product of Z", "training", _training),
    ("holdout", "Test rows", "holdout", _holdout),
    ("vc", "Training rows and the size of the class", "growth", _vc),
    ("compression", "Training rows and a short description", "compression", _compression),
    ("training_rows", "Training rows, as if they were test rows", "training_rows", _forbidden),
]


def catalog(session: LabSession, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Describe all choices of the page."""
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
            "points": MAX_POINTS, "rounds": MAX_ROUNDS,
            "rounds_per_request": answers.MAX_ROUNDS_PER_REQUEST, "upload_bytes": MAX_BYTES,
        },
        "boot": session.boot,
        "files": [file.info() for file in list(session.files.files.values())],
    }  # fmt: skip


def levels(session: LabSession, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of a column of a file."""
    file = session.files.get(asked.get("digest"))
    values = file.levels(text("target", asked.get("target")))
    return {"levels": [list(pair) for pair in values]}


ROUTES: dict[str, Callable[[LabSession, Mapping[str, Any]], Any]] = {
    "catalog": catalog, "levels": levels, "data": answers.data, "run": answers.rounds,
    "surface": answers.surfaces, "edges": answers.edges, "weigh": answers.weigh,
    "certificates": certificates, "code": reproduce.code, "filtering": filtering.filtering,
    "plan": lambda _, asked: filtering.plan(asked), "pac": instruments.pac,
    "shatters": instruments.shatters, "measure": instruments.measure,
}  # fmt: skip


MAX_RUNS = 4
MAX_ROUNDS_OFFLINE = 300
STEPS = (1, 2, 5, 10, 20, 50, 100, 200)


def write_page(
    path: str | Path,
    runs: Sequence[tuple[Mapping[str, Any], int]],
    title: str = "pacboost lab",
    *,
    surface: int = 40,
) -> None:
    """Write a page of recorded runs that needs no server.

    Parameters
    ----------
    path : str or Path
    runs : sequence of pairs
        Runs, as in the links of the lab, and their numbers of rounds.
    title : str, default="pacboost lab"
    surface : int, default=40
        The size of the grid of scores.

    Examples
    --------
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
    """Return the recording of some runs."""
    runs = spec.sequence("runs", asked.get("runs"))
    if not 1 <= len(runs) <= MAX_RUNS:
        raise spec.LimitError(f"{len(runs)} runs are requested; a page records 1 to {MAX_RUNS}")
    surface = read_size(asked.get("surface", 40))
    entries = [_run(session, spec.mapping("a run", entry), surface) for entry in runs]
    return {
        "version": 1, "title": text("title", asked.get("title", "pacboost lab"))[:200],
        "state": asked.get("state"), "catalog": {**catalog(session, {}), "files": []},
        "runs": entries,
    }  # fmt: skip


def _run(session: LabSession, entry: Mapping[str, Any], surface: int) -> dict[str, Any]:
    run = dict(spec.mapping("run", entry.get("run")))  # unchanged: the page looks it up by this
    read_run(run)
    last = whole("rounds", entry.get("rounds"), 1, MAX_ROUNDS_OFFLINE)
    answer: dict[str, Any] = {}
    for first in range(1, last + 1, answers.MAX_ROUNDS_PER_REQUEST):
        to = min(last, first + answers.MAX_ROUNDS_PER_REQUEST - 1)
        part = answers.rounds(session, {"run": run, "from": first, "to": to, "surface": surface})
        answer = {**part, "rounds": [*answer.get("rounds", []), *part["rounds"]]}
    done = min(answer["done"], last)
    answer["done"] = done
    shown = sorted({step for step in (*STEPS, done) if 1 <= step <= done})
    return {
        "run": run, "data": answers.data(session, {"data": run["data"]}),
        "start": answers.rounds(session, {"run": run, "to": 0}), "answer": answer,
        "certificates": {
            str(step): certificates(session, {"run": run, "round": step}) for step in shown
        },
        "code": reproduce.code(session, {"run": run, "rounds": done}) if done else None,
    }  # fmt: skip
