"""How many examples, rounds or draws? The planner's answers, and a curve along one of its knobs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from pacboost.errors import PacboostError, ParameterError
from pacboost.lab.knobs import Knob
from pacboost.lab.spec import mapping, number, whole
from pacboost.questions import needs
from pacboost.questions.answer import Plan
from pacboost.questions.plan import QUESTIONS

POINTS = 16
UNITS = ("examples", "rounds", "draws", "runs")
WHOLE = ("rows", "dimension", "dimensions", "features", "size", "domain", "rounds")


@dataclass(frozen=True)
class Question:
    """A question of planning on the page."""

    title: str
    unit: str
    fields: tuple[Knob, ...]
    along: tuple[str, ...]
    """The knobs along which a curve can be drawn."""

    def plain(self, name: str) -> dict[str, Any]:
        """Describe it to the page."""
        fields = [{**own.plain(), "log": own.name in LOG} for own in self.fields]
        return {
            "name": name, "title": self.title, "unit": self.unit, "fields": fields,
            "along": list(self.along),
        }  # fmt: skip


EPSILON = Knob("epsilon", "error to reach, ε", 0.1, 0.01, 0.4, 0.01)
DELTA = Knob("delta", "chance of failure, δ", 0.05, 0.001, 0.2, 0.001)
EDGE = Knob("edge", "edge of every rule", 0.2, 0.05, 0.8, 0.01)
LOG = ("size", "rows", "domain", "delta")
ASKED: dict[str, Question] = {
    "holdout": Question(
        "How many test rows certify an error of ε?", "examples",
        (EPSILON, DELTA, Knob("error", "true error of the classifier", 0.05, 0.0, 0.35, 0.01)),
        ("epsilon", "delta", "error")),
    "rectangle": Question(
        "How many examples does the tightest box need?", "examples",
        (EPSILON, DELTA, Knob("dimensions", "features", 2, 1, 20, 1)),
        ("epsilon", "delta", "dimensions")),
    "vc": Question(
        "How many examples does a class of VC dimension d need?", "examples",
        (EPSILON, DELTA, Knob("dimension", "VC dimension", 3, 1, 50, 1)),
        ("epsilon", "delta", "dimension")),
    "finite": Question(
        "How many examples does a finite class need?", "examples",
        (EPSILON, DELTA, Knob("size", "hypotheses", 1000, 2, 1_000_000, 1)),
        ("epsilon", "delta", "size")),
    "rounds": Question(
        "How many rounds until no training error is left?", "rounds",
        (EDGE, Knob("rows", "training rows", 200, 10, 100_000, 1)), ("edge", "rows")),
    "filtering": Question(
        "How many draws does filtering need?", "draws", (EPSILON, DELTA, EDGE),
        ("epsilon", "edge")),
    "confidence": Question(
        "How many runs, if one run often fails?", "runs",
        (Knob("failure", "chance that one run fails", 0.5, 0.05, 0.95, 0.05), DELTA,
         EPSILON, Knob("gap", "loss in error allowed", 0.1, 0.01, 0.3, 0.01)),
        ("failure", "delta")),
}  # fmt: skip


def plan(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Answer a question of planning, with a curve along one knob if it is asked for."""
    name = asked.get("question")
    if name not in ASKED:
        raise ParameterError(f"question is {name!r}; it may be {', '.join(ASKED)}")
    question = ASKED[name]
    values = _values(question, mapping("values", asked.get("values", {})))
    along = asked.get("along")
    if along is not None and along not in question.along:
        raise ParameterError(f"along is {along!r}; it may be {', '.join(question.along)}")
    found = _answer(str(name), tuple(sorted(values.items())))
    curve = None if along is None else _curve(str(name), question, values, str(along))
    return {**described(found, question.unit), "values": values, "curve": curve}


def described(found: Plan, unit: str) -> dict[str, Any]:
    """Give a plan as JSON has it."""
    return {
        "question": found.question, "unit": unit, "number": getattr(found, unit),
        "lower": found.lower, "lower_for": found.lower_for, "simulated": found.simulated,
        "theorem": found.theorem, "details": dict(found.details),
        "numbers": {name: getattr(found, name) for name in UNITS if getattr(found, name)},
    }  # fmt: skip


def _values(question: Question, given: Mapping[str, Any]) -> dict[str, float]:
    found: dict[str, float] = {}
    for knob in question.fields:
        own = given.get(knob.name, knob.default)
        if knob.name in WHOLE:
            found[knob.name] = whole(knob.name, own, int(knob.low), int(knob.high))
        else:
            found[knob.name] = number(knob.name, own, knob.low, knob.high)
    return found


@lru_cache(maxsize=2048)
def _answer(name: str, values: tuple[tuple[str, float], ...], *, simulated: bool = True) -> Plan:
    """Answer once; on a curve without the simulation, which takes longest."""
    if simulated:
        return QUESTIONS[name](**dict(values))
    with needs.skipped():
        return QUESTIONS[name](**dict(values))


def _curve(
    name: str, question: Question, values: Mapping[str, float], along: str
) -> dict[str, Any]:
    """Answer the question for several values of one knob; None where it has no answer."""
    knob = next(own for own in question.fields if own.name == along)
    numbers: list[int | None] = []
    lower: list[int | None] = []
    places = _places(knob)
    for place in places:
        try:
            own = tuple(sorted({**values, along: place}.items()))
            found = _answer(name, own, simulated=False)
        except PacboostError:
            numbers.append(None)
            lower.append(None)
            continue
        numbers.append(getattr(found, question.unit))
        lower.append(found.lower)
    return {"name": along, "values": places, "numbers": numbers, "lower": lower}


def _places(knob: Knob) -> list[float]:
    if knob.low > 0:
        places = np.geomspace(knob.low, knob.high, POINTS)
    else:
        places = np.linspace(knob.low, knob.high, POINTS)
    if knob.name in WHOLE:
        return [int(place) for place in np.unique(np.rint(places))]
    return [float(f"{place:.4g}") for place in places]
