"""The theory's instruments on the page's points: PAC trials and shattering."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from pacboost.errors import ParameterError
from pacboost.lab.choices import RECTANGLE, make_learner
from pacboost.lab.engine import f32
from pacboost.lab.session import LabSession
from pacboost.lab.spec import LimitError, choice, number, sequence, whole
from pacboost.theory.learners import Rectangle, tightest
from pacboost.theory.pac_learning import pac as try_often
from pacboost.theory.pac_learning import shatters as label_all

MOST_POINTS = 8
MOST_TRIALS = 1000


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
