"""Specs of runs: data, methods, rules set by hand, and changes during the run.

A spec describes a run completely, and equal specs give equal runs. So links contain specs, and the
cache of runs is keyed by them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, field, replace
from itertools import pairwise
from typing import Any

from pacboost.errors import PacboostError, ParameterError, invalid

MAX_POINTS = 5000
MAX_ROUNDS = 2000
MAX_CHANGES = 8
MAX_CHANGEABLE_ROUNDS = 400


class LinkError(PacboostError):
    """A link is invalid, or its file is not open."""


class LimitError(PacboostError):
    """A request exceeds a limit of the lab."""


@dataclass(frozen=True)
class MethodChoice:
    """A booster or a learner by name, with parameters."""

    name: str
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def plain(self) -> dict[str, Any]:
        return {"name": self.name, "parameters": dict(sorted(self.parameters.items()))}


@dataclass(frozen=True)
class OwnRule:
    """A stump set by hand; ``above`` is the answer above the threshold."""

    feature: int
    threshold: float
    above: int


@dataclass(frozen=True)
class Change:
    """Another booster or learner from round ``after + 1`` on."""

    after: int
    booster: MethodChoice | None = None
    learner: MethodChoice | None = None

    def plain(self) -> dict[str, Any]:
        parts = {"booster": self.booster, "learner": self.learner}
        methods = {name: part.plain() for name, part in parts.items() if part is not None}
        return {"after": self.after, **methods}


@dataclass(frozen=True)
class RunSpec:
    """A run: its data, its methods, and the choices made by hand."""

    data: Mapping[str, Any]
    booster: MethodChoice
    learner: MethodChoice
    method: str = "boost"
    rules: tuple[tuple[int, OwnRule], ...] = ()
    changes: tuple[Change, ...] = ()
    seed: int = 0

    def plain(self) -> dict[str, Any]:
        """Return it as a JSON object in canonical form."""
        return {
            "data": self.data, "method": self.method, "booster": self.booster.plain(),
            "learner": self.learner.plain(),
            "rules": [{"round": number, "rule": asdict(rule)} for number, rule in self.rules],
            "changes": [change.plain() for change in self.changes], "seed": self.seed,
        }  # fmt: skip

    @property
    def key(self) -> str:
        return digest(self.plain())

    @property
    def parent(self) -> RunSpec:
        """The run whose rules the last change keeps."""
        after = self.changes[-1].after
        rules = tuple(pair for pair in self.rules if pair[0] <= after)
        return replace(self, changes=self.changes[:-1], rules=rules)

    @property
    def current(self) -> tuple[MethodChoice, MethodChoice]:
        """The booster and the learner after all changes."""
        booster, learner = self.booster, self.learner
        for change in self.changes:
            booster, learner = change.booster or booster, change.learner or learner
        return booster, learner

    @property
    def own_rules(self) -> dict[int, tuple[int, float, int]]:
        """The rules set by hand after the last change, by round."""
        after = self.changes[-1].after if self.changes else 0
        return {number: astuple(rule) for number, rule in self.rules if number > after}


def digest(content: object) -> str:
    """Return a digest of a JSON value."""
    text = json.dumps(content, sort_keys=True, allow_nan=False)
    # 96 bits: the cache of runs is keyed by them, and two runs never meet by chance
    return hashlib.sha256(text.encode()).hexdigest()[:24]


def read_run(value: object) -> RunSpec:
    """Read and check a run.

    >>> spec = read_run({"data": {"kind": "xor"}, "booster": {"name": "adaboost"},
    ...                  "learner": {"name": "stump"}})
    >>> spec.method, spec.key == read_run(spec.plain()).key
    ('boost', True)
    """
    run = mapping("run", value)
    rules = []
    for content in sequence("rules", run.get("rules", [])):
        entry = mapping("an entry of rules", content)
        number_of_round = whole("round", entry.get("round"), 1, MAX_ROUNDS)
        rules.append((number_of_round, read_rule(entry.get("rule"))))
    rules.sort(key=lambda pair: pair[0])
    numbers = [number for number, _ in rules]
    if len(set(numbers)) < len(numbers):
        raise ParameterError("rules has a round twice; a round has one rule")
    changes = tuple(_change(entry) for entry in sequence("changes", run.get("changes", [])))
    if len(changes) > MAX_CHANGES or len(rules) > MAX_CHANGEABLE_ROUNDS:
        raise LimitError(
            f"a run may have {MAX_CHANGES} changes and {MAX_CHANGEABLE_ROUNDS} rules set by hand"
        )
    # two changes after one round may be: a booster is changed, then its learner
    if any(later.after < first.after for first, later in pairwise(changes)):
        raise ParameterError("changes are not in the order of their rounds; sort them by 'after'")
    method = run.get("method", "boost")
    if method not in ("boost", "bagging"):
        raise invalid("method", method, "may be 'boost' or 'bagging'")
    if method == "bagging" and (rules or changes):
        raise ParameterError("bagging has no rounds to change: leave rules and changes empty")
    return RunSpec(
        data=mapping("data", run.get("data")),
        booster=choice("booster", run.get("booster", {"name": "adaboost"})),
        learner=choice("learner", run.get("learner", {"name": "stump"})),
        method=method,
        rules=tuple(rules),
        changes=changes,
        seed=whole("seed", run.get("seed", 0), 0, 2**31),
    )


def read_rule(value: object) -> OwnRule:
    """Read a stump set by hand."""
    rule = mapping("rule", value)
    above = rule.get("above")
    if above not in (-1, 1):
        raise ParameterError(f"above is {above!r}; a rule answers -1 or 1 above its threshold")
    threshold = number("threshold", rule.get("threshold"), -1e30, 1e30)
    return OwnRule(whole("feature", rule.get("feature"), 0, 10_000), threshold, int(above))


def _change(value: object) -> Change:
    entry = mapping("an entry of changes", value)
    after = whole("after", entry.get("after"), 0, MAX_ROUNDS)
    booster, learner = (
        choice(name, entry[name]) if entry.get(name) is not None else None
        for name in ("booster", "learner")
    )
    if after > MAX_CHANGEABLE_ROUNDS:
        raise LimitError(
            f"after is {after}; a run can be changed in its first {MAX_CHANGEABLE_ROUNDS} rounds"
        )
    return Change(after, booster, learner)


def choice(name: str, value: object) -> MethodChoice:
    """Read the name of a booster or a learner, and its parameters."""
    content = {"name": value} if isinstance(value, str) else mapping(name, value)
    method_name = content.get("name")
    if not isinstance(method_name, str):
        raise ParameterError(f"{name} has the name {method_name!r}; it must be a text")
    return MethodChoice(method_name, dict(mapping("parameters", content.get("parameters", {}))))


def mapping(name: str, value: object) -> Mapping[str, Any]:
    """Check that a value is a JSON object."""
    if not isinstance(value, dict):
        raise LinkError(f"{name} is {_short(value)}; it must be an object")
    return value


def sequence(name: str, value: object) -> Sequence[Any]:
    """Check that a value is a JSON list."""
    if not isinstance(value, list):
        raise LinkError(f"{name} is {_short(value)}; it must be a list")
    return value


def number(name: str, value: object, low: float, high: float) -> float:
    """Check that a value is a number within its range."""
    # JSON's true is an int in Python; NaN fails the comparison of the range
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
        raise ParameterError(f"{name} is {_short(value)}; it must be a number, {low:g} to {high:g}")
    return float(value)


def whole(name: str, value: object, low: int, high: int) -> int:
    """Check that a value is a whole number within its range."""
    result = number(name, value, low, high)
    if result != int(result):
        raise ParameterError(f"{name} is {_short(value)}; it must be a whole number")
    return int(result)


def text(name: str, value: object) -> str:
    """Check that a value is a text."""
    if not isinstance(value, str):
        raise LinkError(f"{name} is {_short(value)}; it must be a text")
    return value


def _short(value: object) -> str:
    words = repr(value)
    return words if len(words) <= 60 else f"{words[:57]}…"


@dataclass(frozen=True)
class Knob:
    """A parameter on the page: of a booster, a learner, data or a plan."""

    name: str
    about: str
    default: Any
    low: float = 0.0
    high: float = 1.0
    step: float | None = None
    """With a step of 1 or more, values are whole numbers."""
    choices: tuple[str, ...] = ()
    limits: tuple[int, int] | None = None
    """The range of links, if it is wider than that of the slider."""

    @property
    def whole(self) -> bool:
        return self.step is not None and self.step >= 1

    def plain(self) -> dict[str, Any]:
        description = {"name": self.name, "default": self.default, "about": self.about}
        if self.choices:
            return {**description, "kind": "choice", "choices": list(self.choices)}
        kind = "whole" if self.whole else "number"
        description |= {"kind": kind, "min": self.low, "max": self.high}
        return description if self.step is None else {**description, "step": self.step}

    def read(self, value: object) -> Any:
        if self.choices:
            if value not in self.choices:
                raise invalid(self.name, value, f"may be {', '.join(self.choices)}")
            return value
        low, high = self.limits or (self.low, self.high)
        if self.whole:
            return whole(self.name, value, int(low), int(high))
        return number(self.name, value, low, high)
