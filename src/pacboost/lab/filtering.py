"""Boosting by filtering on the page: what was drawn, what was kept, and what the plan allows."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from pacboost.boosters.base.choose import as_booster
from pacboost.boosters.base.filtering_booster import FilteringBooster
from pacboost.errors import PacboostError, ParameterError
from pacboost.estimators.boosting.filtering.filter_boost import FilterBoostClassifier
from pacboost.lab.answers import interval
from pacboost.lab.choices import make_learner
from pacboost.lab.data import TRUTH_ROWS, TRUTH_SEED
from pacboost.lab.knobs import knob_values, world_of
from pacboost.lab.planner import described
from pacboost.lab.session import LabSession
from pacboost.lab.spec import choice, mapping, number, whole
from pacboost.ledgers.refill import Refill
from pacboost.numerics.mistakes import wrong_margins
from pacboost.questions import needs
from pacboost.questions.plan import QUESTIONS
from pacboost.sources.oracles.worlds import WorldOracle

BOOSTERS = ("logit", "measure", "smooth", "mada")
KEPT = 400
OFFERED = 4000
SAMPLE_ROWS, CERTIFYING = 2000, 2000
PARTS = (
    "number", "rounds", "draws", "fresh", "accepted", "acceptance", "scale", "mean", "lower",
    "upper", "error", "error_upper", "smoothness", "tested",
)  # fmt: skip


def filtering(session: LabSession, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Boost by filtering from a world without end."""
    data = mapping("data", asked.get("data"))
    world = world_of(data)
    seed = whole("seed", asked.get("seed", 0), 0, 2**31)
    model = _model(asked, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # the record says what they would
        model.fit_source(WorldOracle(world, int(knob_values(data)["seed"]) + seed))
    ledger = model.ledger_
    X, y = world.draw(TRUTH_ROWS, seed + TRUTH_SEED)
    scores = model.decision_function(X)
    return {
        "refills": [_refill(entry) for entry in ledger.refills],
        "rounds": [
            {"number": e.number, "rule": e.rule, "edge": e.edge, "vote": e.vote}
            for e in ledger.rounds
        ],
        "draws_total": sum(entry.draws + entry.tested for entry in ledger.refills),
        "plan": _plan(model),
        "certificate": _certificate(model),
        "truth": interval(int(wrong_margins(scores * y).sum()), len(y)),
        "stopped": ledger.stopped,
        "kept": _kept(model, X[:OFFERED], y[:OFFERED], scores[:OFFERED]),
    }


def _model(asked: Mapping[str, Any], seed: int) -> FilterBoostClassifier:
    name = asked.get("booster", "logit")
    if name not in BOOSTERS:
        raise ParameterError(f"booster is {name!r}; for filtering it may be {', '.join(BOOSTERS)}")
    edge = asked.get("edge")
    learner = choice("learner", asked.get("learner", {"name": "stump"}))
    if learner.name not in ("stump", "tree"):
        raise ParameterError(f"learner is {learner.name!r}; for filtering take 'stump' or 'tree'")
    return FilterBoostClassifier(
        name, make_learner(learner),
        edge=None if edge is None else number("edge", edge, 0.05, 0.9),
        epsilon=number("epsilon", asked.get("epsilon", 0.2), 0.02, 0.5),
        delta=number("delta", asked.get("delta", 0.05), 1e-6, 0.5),
        n_rounds=whole("rounds", asked.get("rounds", 30), 1, 100),
        sample_rows=SAMPLE_ROWS, n_certify=CERTIFYING, time_limit=20, random_state=seed,
        verbose=False,
    )  # fmt: skip


def _refill(entry: Refill) -> dict[str, Any]:
    found = {name: getattr(entry, name) for name in PARTS}
    return {name: value if np.isfinite(value) else None for name, value in found.items()}


def _plan(model: FilterBoostClassifier) -> dict[str, Any] | None:
    """What the theorem says suffices, for the edge that rules are tested for."""
    if model.edge is None or model.epsilon is None:
        return None
    with needs.skipped():
        found = QUESTIONS["filtering"](
            epsilon=model.epsilon, delta=model.delta, edge=0.4 * model.edge
        )
    return described(found, "draws")


def _certificate(model: FilterBoostClassifier) -> dict[str, Any] | None:
    try:
        made = model.certificate_
    except PacboostError:
        return None
    return {
        "value": made.value, "claim": made.claim, "theorem": made.theorem, "size": made.size,
        "sample": made.sample, "assumes": list(made.assumptions), "fails_with": made.delta,
    }  # fmt: skip


def _kept(model: FilterBoostClassifier, X: Any, y: Any, scores: Any) -> list[list[float]]:
    """Filter fresh draws by the final vote, with the chances that the booster gives."""
    booster = as_booster(model.booster)
    if not isinstance(booster, FilteringBooster):
        return []
    chances = booster.chances((scores * y)[:, None], len(model.ledger_.rounds))
    kept = np.random.default_rng(0).random(len(y)) < chances
    places = np.flatnonzero(kept)[:KEPT]
    return [[float(X[i, 0]), float(X[i, 1]), int(y[i])] for i in places]
