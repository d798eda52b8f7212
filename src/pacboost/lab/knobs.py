"""The kinds of data that the page offers, and the knobs of each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pacboost.errors import ParameterError
from pacboost.lab.spec import MOST_POINTS, number, whole
from pacboost.sources.plane import SHAPES, Plane
from pacboost.sources.worlds import Boxes, LabelNoise

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
    """Give the value of every knob, those that were not set by their defaults."""
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
    """Give the world that points are drawn from, with ``draw`` and ``features``."""
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
