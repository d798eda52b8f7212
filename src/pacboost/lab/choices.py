"""The boosters, learners and kinds of data that the page offers, and the knobs of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from sklearn.linear_model import RidgeClassifier

from pacboost.boosters.booster import Booster
from pacboost.boosters.registry import BOOSTERS
from pacboost.errors import ParameterError
from pacboost.lab.spec import MAX_POINTS, Knob, MethodChoice
from pacboost.learners.learner import Learner
from pacboost.learners.sklearn import SklearnLearner
from pacboost.learners.stump import Stump
from pacboost.learners.tree import Tree
from pacboost.theory.learners import Adversary, WeakStump
from pacboost.theory.sampling import SHAPES, Plane
from pacboost.theory.worlds import Boxes, LabelNoise


@dataclass(frozen=True)
class Offered:
    """A booster or a learner on the page."""

    title: str
    about: str
    make: Callable[..., Any]
    knobs: tuple[Knob, ...] = ()
    fixed: Mapping[str, Any] = field(default_factory=dict)
    """Parameters that the page does not show."""

    def plain(self, name: str) -> dict[str, Any]:
        parameters = [knob.plain() for knob in self.knobs]
        return {"name": name, "title": self.title, "about": self.about, "parameters": parameters}


KNOBS = {
    "learning_rate": Knob("learning_rate", "Scales what every round adds.", 1.0, 0.01, 1.0),
    "tolerance": Knob("tolerance", "How close to the optimum it stops.", 0.01, 0.001, 0.5),
    "edge": Knob("edge", "The edge that every rule is promised to have.", 0.1, 0.01, 0.9),
    "epsilon": Knob("epsilon", "The training error to reach.", 0.05, 0.01, 0.4),
    "share": Knob("share", "The share of the worst points whose margin counts.", 0.1, 0.01, 0.9),
}


def _offer(kind: Any) -> Offered:
    """Return a booster as the page shows it: its docstring, and the parameters that have a knob."""
    knobs = [
        replace(KNOBS[parameter.name], default=parameter.default or KNOBS[parameter.name].default)
        for parameter in fields(kind)
        if parameter.name in KNOBS and (parameter.name != "share" or parameter.default is None)
    ]
    title = kind.title or kind.name.replace("_", " ").capitalize()
    about = (kind.__doc__ or title).partition("\n")[0].replace("``", "")
    return Offered(title, about, kind, tuple(knobs))


OFFERS = {name: _offer(kind) for name, kind in BOOSTERS.items() if kind.final is Booster.final}
"""All boosters but graph separation, whose final classifier is no vote that could be drawn."""
TREE_PARAMETERS = {"criterion": "gini", "min_leaf_rows": 1, "min_leaf_weight": 0.0}
"""Boosters have one vote per rule here; the default criterion is for votes of single leaves."""
LEARNERS = {
    "stump": Offered("Decision stump", "One feature, one threshold: the best of all.", Stump),
    "tree": Offered(
        "Tree", "A small tree of questions.", Tree,
        (Knob("max_leaves", "The maximum number of leaves.", 4, 2, 64, 1),
         Knob("max_depth", "The maximum depth of a leaf.", 3, 1, 12, 1)), TREE_PARAMETERS),
    "weak_stump": Offered(
        "Weak stump", "The worst stump that still keeps a promised edge.", WeakStump,
        (Knob("edge", "The promised edge.", 0.1, 0.0, 0.9),)),
    "adversary": Offered(
        "Adversary", "Keeps its promise and gives nothing more; it knows the training points only.",
        Adversary,
        (Knob("edge", "The edge that it promises and hardly exceeds.", 0.2, 0.01, 0.9),
         Knob("order", "Which points it prefers to get wrong.", "random",
              choices=("random", "heavy", "light")))),
    "halfspace": Offered("Straight line", "A straight line by least squares.", RidgeClassifier),
}  # fmt: skip


def _values(offers: Mapping[str, Offered], what: str, choice: MethodChoice) -> dict[str, Any]:
    """Check the name and the parameters of a choice; return the values of all parameters."""
    if choice.name not in offers:
        raise ParameterError(f"{what} is {choice.name!r}; it may be {', '.join(offers)}")
    offer = offers[choice.name]
    unknown = set(choice.parameters) - {knob.name for knob in offer.knobs}
    if unknown:
        names = ", ".join(knob.name for knob in offer.knobs) or "none"
        raise ParameterError(
            f"the {what} {choice.name} has no parameter {min(unknown)!r}; it has {names}"
        )
    return {**read_knobs(offer.knobs, choice.parameters), **offer.fixed}


def read_knobs(knobs: tuple[Knob, ...], values: Mapping[str, Any]) -> dict[str, Any]:
    """Check the values of knobs; missing ones have their defaults."""
    return {knob.name: knob.read(values.get(knob.name, knob.default)) for knob in knobs}


def make_booster(choice: MethodChoice) -> Booster[Any]:
    """Return the booster of a choice.

    >>> make_booster(MethodChoice("adaboost", {"learning_rate": 0.5})).learning_rate
    0.5
    """
    values = _values(OFFERS, "booster", choice)
    return OFFERS[choice.name].make(**values)  # type: ignore[no-any-return]


def make_learner(choice: MethodChoice) -> Learner:
    """Return the learner of a choice."""
    values = _values(LEARNERS, "learner", choice)
    learner = LEARNERS[choice.name].make(**values)
    return learner if isinstance(learner, Learner) else SklearnLearner(learner)


def code_of(what: str, choice: MethodChoice) -> tuple[str, str]:
    """Return the import line and the expression of a booster or a learner."""
    offers = OFFERS if what == "booster" else LEARNERS
    values = ", ".join(f"{k}={v!r}" for k, v in _values(offers, what, choice).items())
    kind: Any = offers[choice.name].make
    module = kind.__module__.partition("._")[0]
    return f"from {module} import {kind.__name__}", f"{kind.__name__}({values})"


RECTANGLE = Boxes((0.2, 0.25), (0.8, 0.75))


def _n(default: int) -> Knob:
    return Knob("n", "points", default, 10, MAX_POINTS, 10, limits=(2, MAX_POINTS))


def _noise(default: float) -> Knob:
    return Knob("noise", "label noise", default, 0.0, 0.5, 0.01)


SHARE = Knob("share", "share of +", 0.5, 0.05, 0.95, 0.05)
SEED = Knob("seed", "draw", 0, 0, 999, 1, limits=(0, 2**31))


def _plane(shape: str, label: str = "spread", max_spread: float = 0.5) -> tuple[Knob, ...]:
    spread = Knob("spread", label, SHAPES[shape][1], 0.0, max_spread, 0.01)
    return (_n(200), _noise(0.0), SHARE, spread, SEED)


@dataclass(frozen=True)
class Kind:
    """One kind of data."""

    title: str
    about: str
    knobs: tuple[Knob, ...] = ()
    plane: bool = True


KINDS: dict[str, Kind] = {
    "lecture": Kind("Ten points", "The lecture's example: three stumps suffice, in the order of "
                    "its slides."),
    "xor": Kind("XOR", "No single feature separates the classes: each stump alone is useless.",
                _plane("xor")),
    "moons": Kind("Two moons", "Two half circles that reach into each other.", _plane("moons")),
    "rings": Kind("Rings", "One class within the other.", _plane("rings")),
    "spirals": Kind("Spirals", "Two arms that wind round each other: many rules are needed.",
                    _plane("spirals")),
    "stripes": Kind("Stripes", "The classes alternate along one feature.", _plane("stripes")),
    "gaussians": Kind("Overlapping clouds", "Two Gaussian clouds: no rule separates all points.",
                      _plane("gaussians", "overlap", 2.0)),
    "rectangle": Kind("A rectangle", "Points of a square, + inside a rectangle: the world of PAC "
                      "learning.", (_n(200), _noise(0.0), SEED)),
    "long_servedio": Kind("Long and Servedio", "Rows of 21 bits. A majority of all bits is always "
                          "right, yet a little noise misleads convex boosters.",
                          (_n(1000), _noise(0.1), SEED), plane=False),
    "calls": Kind("How may I help you?", "What callers say to a telephone company: do they want a "
                  "call to be placed, or something else? There is a column for each word.",
                  (_n(600), SEED), plane=False),
    "points": Kind("Your own points", "An empty plane: paint points of both classes."),
    "csv": Kind("A CSV file", "Two columns of your file, and one with the labels.",
                (Knob("test", "share of test rows", 0.3, 0.0, 0.9, 0.05), SEED)),
}  # fmt: skip


def knob_values(spec: Mapping[str, Any]) -> dict[str, Any]:
    """Return the value of every knob of a kind of data."""
    set_ = {name: value for name, value in spec.items() if value is not None}
    return read_knobs(KINDS[spec["kind"]].knobs, set_)


def world_of(spec: Mapping[str, Any]) -> Any:
    """Return the world that points are drawn from, with ``draw`` and ``features``."""
    kind = spec.get("kind")
    if kind == "rectangle":
        noise = knob_values(spec)["noise"]
        return LabelNoise(RECTANGLE, noise) if noise else RECTANGLE
    if not isinstance(kind, str) or kind not in SHAPES:
        raise ParameterError(
            f"kind is {kind!r}, which cannot draw new points; choose "
            f"{', '.join([*SHAPES, 'rectangle'])}"
        )
    knobs = knob_values(spec)
    return Plane(str(kind), knobs["noise"], knobs["share"], knobs["spread"])
