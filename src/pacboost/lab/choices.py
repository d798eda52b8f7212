"""The boosters and learners that the page offers: their knobs, their objects, and their code."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sklearn.linear_model import RidgeClassifier

from pacboost.boosters.booster import Booster
from pacboost.boosters.registry import BOOSTERS
from pacboost.errors import ParameterError
from pacboost.lab.spec import MOST_POINTS, MethodChoice, Parameter, number, whole
from pacboost.learners.learner import Learner
from pacboost.learners.sklearn import SklearnLearner
from pacboost.learners.stump import Stump
from pacboost.learners.tree import Tree
from pacboost.theory.learners import Adversary, WeakStump
from pacboost.theory.sampling import SHAPES, Plane
from pacboost.theory.worlds import Boxes, LabelNoise

RATE = Parameter("learning_rate", 1.0, "Scales what every round adds.", 0.01, 1.0)
TOLERANCE = Parameter("tolerance", 0.01, "How close to the largest margin it stops.", 0.001, 0.5)
PROMISE = Parameter("edge", 0.1, "The edge that every rule is promised to have.", 0.01, 0.9)
ERROR = Parameter("epsilon", 0.05, "The training error to reach.", 0.01, 0.4)
BROWN = Parameter("epsilon", 0.1, "The share of points it may give up.", 0.01, 0.45)
SOFT = Parameter("share", 0.1, "The share of the worst points whose margin counts.", 0.01, 0.9)
LP_TOLERANCE = Parameter("tolerance", 0.01, "How close to the optimum it stops.", 0.001, 0.5)


@dataclass(frozen=True)
class BoosterOffer:
    """A booster on the page."""

    about: str
    parameters: tuple[Parameter, ...] = ()


OFFERS: dict[str, BoosterOffer] = {
    "adaboost": BoosterOffer("Weighs points by exp(−margin); each rule's vote is ½ ln((1−ε)/ε).",
                             (RATE,)),
    "logit": BoosterOffer("Newton steps on the logistic loss: wrong points gain weight slowly.",
                          (RATE,)),
    "gentle": BoosterOffer("Like AdaBoost, with smaller steps where classes overlap.", (RATE,)),
    "mada": BoosterOffer("AdaBoost whose weights never exceed those of the start.", (RATE,)),
    "brown": BoosterOffer("Gives up points that stay wrong for long: made for label noise.",
                          (BROWN,)),
    "majority": BoosterOffer("The fewest rounds that a promised edge allows; the ancestor.",
                             (PROMISE, ERROR)),
    "smooth": BoosterOffer("No point ever weighs much more than others.", (PROMISE, ERROR)),
    "measure": BoosterOffer("The booster of the hard-core lemma, with a ramp of weights.",
                            (PROMISE, ERROR)),
    "projection": BoosterOffer("Weights are projected onto those that are smooth enough.",
                               (PROMISE, ERROR)),
    "filter_boost": BoosterOffer("Logistic weights and plain votes, as in filtering.", (RATE,)),
    "adaboost_v": BoosterOffer("Comes close to the largest margin there is.", (TOLERANCE,)),
    "arc_gv": BoosterOffer("Aims at the largest least margin in every round.", (TOLERANCE,)),
    "lp": BoosterOffer("Solves a linear program for the votes in every round.",
                       (SOFT, LP_TOLERANCE)),
    "total": BoosterOffer("Weights under which all rules so far are bad.", (LP_TOLERANCE,)),
    "soft": BoosterOffer("TotalBoost that may ignore the worst points.", (SOFT, LP_TOLERANCE)),
    "erlp": BoosterOffer("LPBoost made smooth by entropy.", (SOFT, LP_TOLERANCE)),
    "corrective_erlp": BoosterOffer("ERLPBoost that changes one vote at a time.",
                                    (SOFT, LP_TOLERANCE)),
    "mlp": BoosterOffer("Takes the better of LPBoost's and ERLPBoost's step.",
                        (SOFT, LP_TOLERANCE)),
}  # fmt: skip

ADVERSARY = (
    Parameter("edge", 0.2, "The edge that it promises and hardly exceeds.", 0.01, 0.9),
    Parameter("order", "random", "Which points it prefers to get wrong.", kind="choice",
              choices=("random", "heavy", "light")),
)  # fmt: skip
TREE = (
    Parameter("max_leaves", 4, "The most leaves of a tree.", 2, 64, "whole"),
    Parameter("max_depth", 3, "The most questions on the way to a leaf.", 1, 12, "whole"),
)


@dataclass(frozen=True)
class LearnerOffer:
    """A learner on the page: how to make it, and the code that does."""

    title: str
    about: str
    make: Callable[..., Learner]
    code: Callable[[Mapping[str, Any]], tuple[str, str]]
    """The line that imports it, and the expression that makes it."""
    parameters: tuple[Parameter, ...] = ()


def _tree(**own: Any) -> Tree:
    # Boosters give plain votes here, and the default criterion suits votes of single leaves.
    return Tree(**own, criterion="gini", min_leaf_rows=1, min_leaf_weight=0.0)


def _named(module: str, name: str, fixed: str = "") -> Callable[[Mapping[str, Any]], Any]:
    def code(own: Mapping[str, Any]) -> tuple[str, str]:
        parts = [f"{key}={value!r}" for key, value in own.items()]
        return (
            f"from {module} import {name}",
            f"{name}({', '.join([*parts, *filter(None, [fixed])])})",
        )

    return code


LEARNERS: dict[str, LearnerOffer] = {
    "stump": LearnerOffer("Decision stump", "One feature, one threshold: the best of all.",
                          Stump, _named("pacboost.learners.stump", "Stump")),
    "tree": LearnerOffer("Tree", "A small tree of questions.", _tree,
                         _named("pacboost.learners.tree", "Tree",
                                "criterion='gini', min_leaf_rows=1, min_leaf_weight=0.0"), TREE),
    "weak_stump": LearnerOffer("Weak stump", "The worst stump that still keeps a promised edge.",
                               WeakStump, _named("pacboost.theory.learners", "WeakStump"),
                               (Parameter("edge", 0.1, "The promised edge.", 0.0, 0.9),)),
    "adversary": LearnerOffer("Adversary", "Keeps its promise and gives nothing more; it knows the "
                              "training points only.", Adversary,
                              _named("pacboost.theory.learners", "Adversary"), ADVERSARY),
    "halfspace": LearnerOffer("Straight line", "A straight line by least squares.",
                              lambda: SklearnLearner(RidgeClassifier()),
                              _named("sklearn.linear_model", "RidgeClassifier")),
}  # fmt: skip


def _parameters(choice: MethodChoice, offered: tuple[Parameter, ...], what: str) -> dict[str, Any]:
    """Check all parameters, and give every one its value."""
    unknown = set(choice.parameters) - {own.name for own in offered}
    if unknown:
        names = ", ".join(own.name for own in offered) or "none"
        raise ParameterError(
            f"{what} {choice.name} has no parameter {min(unknown)!r}; it has {names}"
        )
    return {own.name: own.read(choice.parameters.get(own.name, own.default)) for own in offered}


def make_booster(choice: MethodChoice) -> Booster[Any]:
    """Make the booster of a choice.

    >>> make_booster(MethodChoice("adaboost", {"learning_rate": 0.5})).learning_rate
    0.5
    """
    own = booster_values(choice)  # knows the names
    return BOOSTERS[choice.name](**own)


def booster_values(choice: MethodChoice) -> dict[str, Any]:
    """Return the parameters of a booster."""
    if choice.name not in OFFERS:
        raise ParameterError(f"booster is {choice.name!r}; it may be {', '.join(OFFERS)}")
    return _parameters(choice, OFFERS[choice.name].parameters, "the booster")


def booster_code(choice: MethodChoice) -> tuple[str, str]:
    """Return the import and the expression of a booster."""
    own = booster_values(choice)
    kind = BOOSTERS[choice.name]
    given = ", ".join(f"{name}={value!r}" for name, value in own.items())
    return f"from {kind.__module__} import {kind.__name__}", f"{kind.__name__}({given})"


def make_learner(choice: MethodChoice) -> Learner:
    """Make the learner of a choice."""
    own = learner_values(choice)  # knows the names
    return LEARNERS[choice.name].make(**own)


def learner_values(choice: MethodChoice) -> dict[str, Any]:
    """Return the parameters of a learner."""
    if choice.name not in LEARNERS:
        raise ParameterError(f"learner is {choice.name!r}; it may be {', '.join(LEARNERS)}")
    return _parameters(choice, LEARNERS[choice.name].parameters, "the learner")


def learner_code(choice: MethodChoice) -> tuple[str, str]:
    """Return the import and the expression of a learner."""
    own = learner_values(choice)
    return LEARNERS[choice.name].code(own)


def described() -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Describe all boosters and all learners to the page."""
    boosters = [
        _described(name, BOOSTERS[name].title or _title(name), offer)
        for name, offer in OFFERS.items()
    ]
    return boosters, [_described(name, offer.title, offer) for name, offer in LEARNERS.items()]


def _described(name: str, title: str, offer: BoosterOffer | LearnerOffer) -> dict[str, Any]:
    parameters = [own.plain() for own in offer.parameters]
    return {"name": name, "title": title, "about": offer.about, "parameters": parameters}


def _title(name: str) -> str:
    titles = {"measure": "Hard-core booster", "projection": "Projected booster"}
    return titles.get(name, name)


# The kinds of data that the page offers, and the knobs of each.

RECTANGLE = Boxes((0.2, 0.25), (0.8, 0.75))


@dataclass(frozen=True)
class Knob:
    """A number that can be set within a range."""

    name: str
    label: str
    default: float
    low: float
    high: float
    step: float

    def plain(self) -> dict[str, Any]:
        """Describe it to the page."""
        return {
            "name": self.name, "label": self.label, "default": self.default, "min": self.low,
            "max": self.high, "step": self.step,
        }  # fmt: skip


def _n(default: int) -> Knob:
    return Knob("n", "points", default, 10, MOST_POINTS, 10)


def _noise(default: float) -> Knob:
    return Knob("noise", "label noise", default, 0.0, 0.5, 0.01)


SHARE = Knob("share", "share of +", 0.5, 0.05, 0.95, 0.05)
SEED = Knob("seed", "draw", 0, 0, 999, 1)


def _plane(shape: str, label: str = "spread", most: float = 0.5) -> tuple[Knob, ...]:
    spread = Knob("spread", label, SHAPES[shape][1], 0.0, most, 0.01)
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
    "toy": Kind("Ten other points", "The textbook's example: three stumps suffice here as well."),
    "xor": Kind("XOR", "No single feature tells the classes apart: each stump alone is useless.",
                _plane("xor")),
    "moons": Kind("Two moons", "Two half circles that reach into each other.", _plane("moons")),
    "rings": Kind("Rings", "One class within the other.", _plane("rings")),
    "spirals": Kind("Spirals", "Two arms that wind round each other: many rules are needed.",
                    _plane("spirals")),
    "stripes": Kind("Stripes", "The classes alternate along one feature.", _plane("stripes")),
    "gaussians": Kind("Overlapping clouds", "Two Gaussian clouds: some points cannot be told apart "
                      "by any rule.", _plane("gaussians", "overlap", 2.0)),
    "rectangle": Kind("A rectangle", "Points of a square, + inside a rectangle: the world of PAC "
                      "learning.", (_n(200), _noise(0.0), SEED)),
    "long_servedio": Kind("Long and Servedio", "Rows of 21 bits. A majority of all bits is always "
                          "right, yet a little noise misleads convex boosters.",
                          (_n(1000), _noise(0.1), SEED), plane=False),
    "points": Kind("Your own points", "An empty plane: paint points of both classes."),
    "csv": Kind("A CSV file", "Two columns of a file of your own, and one that holds the labels.",
                (Knob("test", "share set apart for testing", 0.3, 0.0, 0.9, 0.05), SEED)),
}  # fmt: skip


def knob_values(spec: Mapping[str, Any]) -> dict[str, float]:
    """Return the value of every knob, those that were not set by their defaults."""
    found = {}
    for knob in KINDS[spec["kind"]].knobs:
        given = spec.get(knob.name)
        if given is None:
            found[knob.name] = knob.default
        elif knob.name in ("n", "seed"):
            low = 2 if knob.name == "n" else 0
            high = int(knob.high) if knob.name == "n" else 2**31
            found[knob.name] = whole(knob.name, given, low, high)
        else:
            found[knob.name] = number(knob.name, given, knob.low, knob.high)
    return found


def world_of(spec: Mapping[str, Any]) -> Any:
    """Return the world that points are drawn from, with ``draw`` and ``features``."""
    kind = spec.get("kind")
    if kind == "rectangle":
        noise = knob_values(spec)["noise"]
        return LabelNoise(RECTANGLE, noise) if noise else RECTANGLE
    if kind not in SHAPES:
        raise ParameterError(
            f"kind is {kind!r}, from which no new points can be drawn; take "
            f"{', '.join([*SHAPES, 'rectangle'])}"
        )
    knobs = knob_values(spec)
    return Plane(str(kind), knobs["noise"], knobs["share"], knobs["spread"])
