"""PAC trials and shattering on the page."""

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

MAX_POINTS = 8
MAX_TRIALS = 1000


def pac(session: LabSession, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Estimate how often the risk of the tightest box exceeds epsilon, with bounds."""
    m = whole("m", asked.get("m", 76), 1, 5000)
    seed = whole("seed", asked.get("seed", 0), 0, 2**31)
    answer = try_often(
        RECTANGLE, m, Rectangle(), epsilon=number("epsilon", asked.get("epsilon", 0.1), 0.005, 0.9),
        delta=number("delta", asked.get("delta", 0.05), 1e-6, 0.5), seed=seed,
        trials=whole("trials", asked.get("trials", 200), 10, MAX_TRIALS),
    )  # fmt: skip
    X, y = RECTANGLE.draw(m, np.random.default_rng(seed))  # the first of the samples
    box = tightest(X, y)
    there = bool((box.lower <= box.upper).all())
    (x_min, low), (x_max, high) = RECTANGLE.lower, RECTANGLE.upper
    return {
        "sentence": answer.sentence, "failures": answer.failures, "trials": answer.trials,
        "lower": answer.lower, "upper": answer.upper, "mean_risk": answer.mean_risk,
        "risks": f32(np.sort(answer.risks)),
        "bounds": [vars(bound) for bound in answer.bounds],
        "sample": {"x": X[:, 0].tolist(), "y": X[:, 1].tolist(), "label": y.tolist()},
        "target": [x_min, x_max, low, high],
        "box": [float(v) for v in (box.lower[0], box.upper[0], box.lower[1], box.upper[1])]
        if there else None,
        "risk": float(answer.risks[0]),
    }  # fmt: skip


def shatters(session: LabSession, asked: Mapping[str, Any]) -> dict[str, Any]:
    """List the labelings of a few points that a class of rules gives."""
    points = sequence("points", asked.get("points"))
    if not 1 <= len(points) <= MAX_POINTS:
        raise LimitError(f"there are {len(points)} points; give 1 to {MAX_POINTS}")
    places = [[number("x", v, -1e6, 1e6) for v in sequence("a point", p)[:2]] for p in points]
    if any(len(place) != 2 for place in places):
        raise ParameterError("a point does not have two numbers; give x and y")
    chosen = choice("learner", asked.get("learner", {"name": "stump"}))
    learner = Rectangle() if chosen.name == "rectangle" else make_learner(chosen)
    answer = label_all(np.array(places, dtype=np.float64), learner)
    labelings = [{"signs": signs.tolist(), "found": True} for signs in answer.found]
    labelings += [{"signs": signs.tolist(), "found": False} for signs in answer.missed]
    return {
        "sentence": str(answer), "shattered": answer.shattered, "found": len(answer.found),
        "missed": len(answer.missed), "certified": answer.certified, "labelings": labelings,
    }  # fmt: skip
