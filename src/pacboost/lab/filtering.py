"""Plans, and boosting by filtering, on the page."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.boosters.bounded_weights import FilteringBooster
from pacboost.boosters.choose import as_booster
from pacboost.errors import PacboostError, invalid
from pacboost.estimators.filtering.filter_boost import FilterBoostClassifier
from pacboost.lab import stopping
from pacboost.lab.answers import interval
from pacboost.lab.choices import knob_values, make_learner, read_knobs, world_of
from pacboost.lab.data import TRUTH_ROWS, TRUTH_SEED
from pacboost.lab.session import LabSession
from pacboost.lab.spec import Knob, choice, mapping, number, whole
from pacboost.ledgers.ledger import Refill
from pacboost.numerics.exact import wrong_margins
from pacboost.theory import needs
from pacboost.theory.plan import QUESTIONS
from pacboost.theory.plan_learning import Plan
from pacboost.theory.world_oracle import WorldOracle

CURVE_POINTS = 16
UNITS = ("examples", "rounds", "draws", "runs")


@dataclass(frozen=True)
class Question:
    """A planning question on the page."""

    title: str
    unit: str
    fields: tuple[Knob, ...]
    along: tuple[str, ...]
    """The knobs along which a curve can be drawn."""

    def plain(self, name: str) -> dict[str, Any]:
        fields = [{**field.plain(), "log": field.name in LOG} for field in self.fields]
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
    """Answer a planning question, with a curve along one knob if requested."""
    name = asked.get("question")
    if not isinstance(name, str) or name not in ASKED:
        raise invalid("question", name, f"may be {', '.join(ASKED)}")
    question = ASKED[name]
    values = read_knobs(question.fields, mapping("values", asked.get("values", {})))
    along = asked.get("along")
    if along is not None and along not in question.along:
        raise invalid("along", along, f"may be {', '.join(question.along)}")
    answer = _answer(name, tuple(sorted(values.items())))
    curve = None if along is None else _curve(name, question, values, str(along))
    return {**described(answer, question.unit), "values": values, "curve": curve}


def described(answer: Plan, unit: str) -> dict[str, Any]:
    """Return a plan as a JSON object."""
    return {
        "question": answer.question, "unit": unit, "number": getattr(answer, unit),
        "lower": answer.lower, "lower_for": answer.lower_for, "simulated": answer.simulated,
        "theorem": answer.theorem, "details": dict(answer.details),
        "numbers": {name: getattr(answer, name) for name in UNITS if getattr(answer, name)},
    }  # fmt: skip


@lru_cache(maxsize=2048)
def _answer(name: str, values: tuple[tuple[str, float], ...], *, simulated: bool = True) -> Plan:
    """Answer a question; curves omit the simulation, which takes longest."""
    with nullcontext() if simulated else needs.skipped():
        return QUESTIONS[name](**dict(values))


def _curve(
    name: str, question: Question, values: Mapping[str, float], along: str
) -> dict[str, Any]:
    """Answer the question for several values of one knob; None if it has no answer."""
    knob = next(field for field in question.fields if field.name == along)
    # rounds and rows grow like 1/epsilon or 1/edge²: even steps would leave out the steep part
    spread = np.geomspace if knob.low > 0 else np.linspace
    values_along = spread(knob.low, knob.high, CURVE_POINTS)
    places: list[float] = [float(f"{place:.4g}") for place in values_along]
    if knob.whole:
        places = [int(place) for place in np.unique(np.rint(values_along))]
    answers: list[Plan | None] = []
    for place in places:
        point = tuple(sorted({**values, along: place}.items()))
        try:
            answers.append(_answer(name, point, simulated=False))
        except PacboostError:
            answers.append(None)
    return {
        "name": along, "values": places,
        "lower": [getattr(plan, "lower", None) for plan in answers],
        "numbers": [getattr(plan, question.unit, None) for plan in answers],
    }  # fmt: skip


BOOSTERS = ("logit", "measure", "smooth", "mada")
MAX_KEPT_POINTS = 400
FILTERED_POINTS = 4000
SAMPLE_ROWS, CERTIFYING_ROWS = 2000, 2000
REFILL_FIELDS = (
    "number", "rounds", "draws", "fresh", "accepted", "acceptance", "scale", "mean", "lower",
    "upper", "error", "error_upper", "smoothness", "tested",
)  # fmt: skip


class StoppableOracle(WorldOracle):
    """Draws from a world until nobody waits for the answer."""

    def _drawn_block(self, block: int) -> tuple[NDArray[np.float64], NDArray[np.int8]]:
        stopping.check()
        return super()._drawn_block(block)


def filtering(session: LabSession, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Boost by filtering from a world that can be sampled without limit."""
    data = mapping("data", asked.get("data"))
    world = world_of(data)
    seed = whole("seed", asked.get("seed", 0), 0, 2**31)
    model = _model(asked, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # the ledger has the same information
        model.fit_source(StoppableOracle(world, int(knob_values(data)["seed"]) + seed))
    ledger = model.ledger_
    X, y = world.draw(TRUTH_ROWS, seed + TRUTH_SEED)
    scores = model.decision_function(X)
    first = slice(FILTERED_POINTS)
    return {
        "refills": [_refill(entry) for entry in ledger.refills],
        "rounds": [
            {"number": e.number, "rule": e.rule, "edge": e.edge, "vote": e.vote}
            for e in ledger.rounds
        ],
        "draws_total": sum(entry.draws + entry.tested for entry in ledger.refills),
        "plan": _plan(model), "certificate": _certificate(model), "stopped": ledger.stopped,
        "truth": interval(int(wrong_margins(scores * y).sum()), len(y)),
        "kept": _kept(model, X[first], y[first], scores[first]),
    }  # fmt: skip


def _model(asked: Mapping[str, Any], seed: int) -> FilterBoostClassifier:
    name = asked.get("booster", "logit")
    if name not in BOOSTERS:
        raise invalid("booster", name, f"may be {', '.join(BOOSTERS)} for filtering")
    edge = asked.get("edge")
    learner = choice("learner", asked.get("learner", {"name": "stump"}))
    if learner.name not in ("stump", "tree"):
        raise invalid("learner", learner.name, "may be 'stump' or 'tree' for filtering")
    return FilterBoostClassifier(
        name, make_learner(learner),
        edge=None if edge is None else number("edge", edge, 0.05, 0.9),
        epsilon=number("epsilon", asked.get("epsilon", 0.2), 0.02, 0.5),
        delta=number("delta", asked.get("delta", 0.05), 1e-6, 0.5),
        n_estimators=whole("rounds", asked.get("rounds", 30), 1, 100),
        sample_rows=SAMPLE_ROWS, n_certify=CERTIFYING_ROWS, time_limit=20, random_state=seed,
        verbose=False,
    )  # fmt: skip


def _refill(entry: Refill) -> dict[str, Any]:
    values = {name: getattr(entry, name) for name in REFILL_FIELDS}
    return {name: value if np.isfinite(value) else None for name, value in values.items()}


def _plan(model: FilterBoostClassifier) -> dict[str, Any] | None:
    """Return the plan of the theorem for the edge that rules are tested for."""
    if model.edge is None or model.epsilon is None:
        return None
    # a rule that passes its test has 0.4 times the promised edge (docs/proofs/filtering.md)
    values = {"epsilon": model.epsilon, "delta": model.delta, "edge": 0.4 * model.edge}
    return described(_answer("filtering", tuple(values.items()), simulated=False), "draws")


def _certificate(model: FilterBoostClassifier) -> dict[str, Any] | None:
    try:
        bound = model.certificate_
    except PacboostError:
        return None
    return {
        "value": bound.value, "claim": bound.claim, "theorem": bound.theorem, "size": bound.size,
        "sample": bound.rows_in_words,
        "assumes": list(bound.assumptions), "fails_with": bound.delta,
    }  # fmt: skip


def _kept(
    model: FilterBoostClassifier,
    X: NDArray[np.float64],
    y: NDArray[np.int8],
    scores: NDArray[np.float64],
) -> list[list[float]]:
    """Filter fresh draws by the final vote, with the chances of the booster."""
    booster = as_booster(model.booster)
    if not isinstance(booster, FilteringBooster):
        return []
    chances = booster.chances((scores * y)[:, None], len(model.ledger_.rounds))
    # the same numbers for every vote: what changes in the picture is due to the vote
    passed = np.random.default_rng(0).random(len(y)) < chances
    places = np.flatnonzero(passed)[:MAX_KEPT_POINTS]
    return [[float(X[i, 0]), float(X[i, 1]), int(y[i])] for i in places]
