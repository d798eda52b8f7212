"""The theory's instruments on the page's points: games, hard cores, PAC trials, shattering."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from pacboost.errors import ParameterError
from pacboost.hypotheses.hypothesis import Names
from pacboost.hypotheses.vote import Vote
from pacboost.lab.choices import RECTANGLE, make_learner
from pacboost.lab.data import Points
from pacboost.lab.engine import f32
from pacboost.lab.session import LabSession
from pacboost.lab.spec import LimitError, choice, mapping, number, sequence, whole
from pacboost.learners.learner import Learner
from pacboost.theory.games import game as solve
from pacboost.theory.hardness import hard_core as find_core
from pacboost.theory.learners import Rectangle, tightest
from pacboost.theory.pac_learning import pac as try_often
from pacboost.theory.pac_learning import shatters as label_all

MOST_ROWS = 1000
MOST_POINTS = 8
MOST_TRIALS = 1000
RULES_SHOWN = 12


def _rows(session: LabSession, asked: Mapping[str, Any]) -> tuple[Points, Learner]:
    points = session.points(mapping("data", asked.get("data")))
    if len(points.y) > MOST_ROWS:
        raise LimitError(
            f"there are {len(points.y):,} points; this is computed for up to {MOST_ROWS:,}"
        )
    learner = choice("learner", asked.get("learner", {"name": "stump"}))
    if learner.name in ("adversary", "weak_stump"):
        raise ParameterError("a learner that is weak on purpose says nothing here; take 'stump'")
    return points, make_learner(learner)


def game(session: LabSession, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Can this learner be boosted on these points? The value of their game."""
    points, learner = _rows(session, asked)
    found = solve(learner, points.X, points.y,
                  hedge_rounds=whole("rounds", asked.get("rounds", 100), 10, 500),
                  max_rounds=300, tolerance=1e-4)  # fmt: skip
    path = {
        "lower": found.path.lower.tolist(), "upper": found.path.upper.tolist(),
        "bound": found.path.bound,
    }  # fmt: skip
    return {
        "lower": found.lower, "upper": found.upper, "certified": found.certified,
        "sentence": found.sentence, "weights": f32(found.weights),
        "votes": _votes(found.vote, points), "path": path, "rounds": found.rounds,
    }  # fmt: skip


def hard_core(session: LabSession, asked: Mapping[str, Any]) -> dict[str, Any]:
    """What can these features not explain? A hard core, or the vote that shows there is none."""
    points, learner = _rows(session, asked)
    found = find_core(
        learner, points.X, points.y,
        number("edge", asked.get("edge", 0.1), 0.001, 0.999),
        number("density", asked.get("density", 0.2), 0.001, 0.999),
    )  # fmt: skip
    return {
        "sentence": found.sentence,
        "measure": None if found.measure is None else f32(found.measure),
        "vote": None if found.vote is None else _votes(found.vote, points),
        "lower": found.lower, "upper": found.upper, "error": found.error,
        "certified": found.certified,
    }  # fmt: skip


def _votes(vote: Vote, points: Points) -> list[dict[str, Any]]:
    names = Names(lambda column: points.names[column], points.classes)
    order = np.argsort(-np.abs(vote.votes), kind="stable")[:RULES_SHOWN]
    return [
        {"rule": vote.hypotheses[place].words(names), "vote": float(vote.votes[place])}
        for place in order
    ]


def pac(session: LabSession, asked: Mapping[str, Any]) -> dict[str, Any]:
    """How often is the tightest box too wrong? Many samples, and the bounds on that."""
    m = whole("m", asked.get("m", 76), 1, 5000)
    seed = whole("seed", asked.get("seed", 0), 0, 2**31)
    found = try_often(
        Rectangle(), RECTANGLE, m, epsilon=number("epsilon", asked.get("epsilon", 0.1), 0.005, 0.9),
        delta=number("delta", asked.get("delta", 0.05), 1e-6, 0.5), seed=seed,
        trials=whole("trials", asked.get("trials", 200), 10, MOST_TRIALS),
    )  # fmt: skip
    X, y = RECTANGLE.draw(m, np.random.default_rng(seed))  # the first of the samples
    box = tightest(X, y)
    there = bool((box.lower <= box.upper).all())
    (left, low), (right, high) = RECTANGLE.lower, RECTANGLE.upper
    return {
        "sentence": found.sentence, "failures": found.failures, "trials": found.trials,
        "lower": found.lower, "upper": found.upper, "mean_risk": found.mean_risk,
        "risks": f32(np.sort(found.risks)),
        "bounds": [vars(bound) for bound in found.bounds],
        "sample": {"x": X[:, 0].tolist(), "y": X[:, 1].tolist(), "label": y.tolist()},
        "target": [left, right, low, high],
        "box": [float(v) for v in (box.lower[0], box.upper[0], box.lower[1], box.upper[1])]
        if there else None,
        "risk": float(found.risks[0]),
    }  # fmt: skip


def shatters(session: LabSession, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Which labelings of a few points can a class of rules give?"""
    given = sequence("points", asked.get("points"))
    if not 1 <= len(given) <= MOST_POINTS:
        raise LimitError(
            f"there are {len(given)} points; labelings are tried for 1 to {MOST_POINTS}"
        )
    places = [[number("x", v, -1e6, 1e6) for v in sequence("a point", p)[:2]] for p in given]
    if any(len(place) != 2 for place in places):
        raise ParameterError("a point has two numbers, x and y")
    chosen = choice("learner", asked.get("learner", {"name": "stump"}))
    learner = Rectangle() if chosen.name == "rectangle" else make_learner(chosen)
    found = label_all(learner, np.array(places, dtype=np.float64))
    labelings = [{"signs": signs.tolist(), "found": True} for signs in found.found]
    labelings += [{"signs": signs.tolist(), "found": False} for signs in found.missed]
    return {
        "sentence": str(found), "shattered": found.shattered, "found": len(found.found),
        "missed": len(found.missed), "certified": found.certified, "labelings": labelings,
    }  # fmt: skip
