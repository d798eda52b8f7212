"""Instruments of the page: PAC by simulation, shattering, and the measure of lecture 003."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.boosters.filtering import Measure
from pacboost.errors import ParameterError, invalid
from pacboost.estimators.boosting.boost import BoostClassifier
from pacboost.lab.choices import RECTANGLE, make_learner, world_of
from pacboost.lab.data import Doubles
from pacboost.lab.engine import f32
from pacboost.lab.session import LabSession
from pacboost.lab.spec import LimitError, choice, mapping, number, sequence, whole
from pacboost.theory.explain import staged_margins
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


EXAMPLES, MAX_ROUNDS, NAIVE_ROUNDS = 1000, 1000, 12
FILTERS = ("ramp", "naive")


@dataclass(frozen=True)
class KeepWrong(Measure):
    """The naive filter: keep what the vote gets wrong, throw away the rest.

    It is the lecture's measure with the slope 1: a weight is 1 up to floor 0, and 0 above.
    """

    @property
    def slope(self) -> float:
        return 1.0


def measure(session: LabSession, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Boost stumps by the measure until its mean is small; return floors, sums and means."""
    data = mapping("data", asked.get("data"))
    name = asked.get("filter", "ramp")
    if name not in FILTERS:
        raise invalid("filter", name, f"may be {', '.join(FILTERS)}")
    edge = number("edge", asked.get("edge", 0.1), 0.02, 0.9)
    epsilon = number("epsilon", asked.get("epsilon", 0.15), 0.02, 0.5)
    naive = name == "naive"
    booster = (KeepWrong if naive else Measure)(edge, epsilon, share=1.0)
    most = booster.most_rounds(edge, epsilon)
    last = NAIVE_ROUNDS if naive else int(min(most + 1, MAX_ROUNDS))
    X, y = world_of(data).draw(EXAMPLES, 1)
    model = BoostClassifier(
        booster, "stump", last, early_stopping=False, verbose=False, random_state=0
    ).fit(X, y)
    edges = np.array([entry.edge for entry in model.ledger_.rounds])
    done = int(np.argmax([*(edges < edge), True]))  # up to the first broken promise
    margins = [number * each for number, each in enumerate(staged_margins(model, X, y), 1)]
    floors = np.rint([np.zeros(EXAMPLES), *margins])[: done + 1]
    weights = np.clip(1 - booster.slope * floors, 0, 1)
    steps = np.diff(floors, axis=0, prepend=0) * weights[[0, *range(done)]]
    collected, means, rounds = np.cumsum(steps, axis=0), weights.mean(axis=1), np.arange(done + 1)
    return {
        "asked": f"{data['kind']} {name}", "rounds": done, "slope": booster.slope,
        "most_rounds": None if naive else int(most),
        "means": _short(means), "errors": _short((floors <= 0).mean(axis=1)),
        "collected": _short(collected.mean(axis=1)), "largest": _short(collected.max(axis=1)),
        "bound": _short(1 / (2 * booster.slope) + booster.slope * rounds / 2),
        "least": _short(edge * epsilon * rounds),
        "floors": [_histogram(floors, at) for at in dict.fromkeys((done // 4, done))],
        "sentence": _sentence(means, (floors[-1] <= 0).mean(), edges, booster),
    }  # fmt: skip


def _short(values: NDArray[np.floating]) -> list[float]:
    return [float(value) for value in np.round(values, 6)]


def _histogram(floors: Doubles, at: int) -> dict[str, Any]:
    """Count examples by floor, in pairs of floors: after a round, every second one is empty."""
    places, counts = np.unique(np.floor(floors[at] / 2) * 2, return_counts=True)
    full = np.arange(places[0] - 2, places[-1] + 3, 2)
    shares = np.zeros(full.size)
    shares[np.searchsorted(full, places)] = counts / EXAMPLES
    return {"round": at, "floors": full.tolist(), "shares": shares.tolist()}


def _sentence(means: Doubles, error: float, edges: Doubles, booster: Measure) -> str:
    """Say how the run ended."""
    done = len(means) - 1
    if done < edges.size:
        why = (
            f"It stops in round {done + 1}, because the promise is broken: the best stump has an "
            f"edge of {edges[done]:.3f}, and {booster.edge:g} was promised"
        )
    elif isinstance(booster, KeepWrong):
        why = (
            f"After {done} rounds nothing is learned. The second rule is found among the mistakes "
            "of the first, so it is the opposite of the first, and the two cancel out"
        )
    elif means[-1] >= booster.epsilon:
        why = f"It is not finished after {done:,} rounds: µ is {means[-1]:.4f}"
    else:
        why = f"It stops after {done:,} rounds, as µ is {means[-1]:.4f}"
    counted = f". The vote is wrong or tied on {100 * error:.1f} % of the {EXAMPLES:,} examples."
    return why + (counted if done else ".")
