"""What the page asks for, read and checked: data, runs, rules of one's own, and changes in mid-run.

A spec says everything about a run, and equal specs give equal runs. So links hold specs, and the
cache of runs is keyed by them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import pairwise
from typing import Any

from pacboost.errors import PacboostError, ParameterError

MOST_POINTS = 5000
MOST_ROUNDS = 2000
MOST_CHANGES = 8
MOST_FORCED = 400


class LinkError(PacboostError):
    """A link does not describe a state of the lab, or names a file that is not here."""


class LimitError(PacboostError):
    """More was asked for than the lab computes at a time."""


@dataclass(frozen=True)
class MethodChoice:
    """A booster or a learner by name, with parameters."""

    name: str
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def plain(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        return {"name": self.name, "parameters": dict(sorted(self.parameters.items()))}


@dataclass(frozen=True)
class OwnRule:
    """A stump of one's own: ``above`` is the answer where the feature exceeds the threshold."""

    feature: int
    threshold: float
    above: int

    def plain(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        return asdict(self)


@dataclass(frozen=True)
class Change:
    """Another booster or learner from round ``after + 1`` on."""

    after: int
    booster: MethodChoice | None = None
    learner: MethodChoice | None = None

    def plain(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        parts = {"booster": self.booster, "learner": self.learner}
        given = {name: part.plain() for name, part in parts.items() if part is not None}
        return {"after": self.after, **given}


@dataclass(frozen=True)
class RunSpec:
    """A run: its data, how it boosts, and what was decided by hand."""

    data: Mapping[str, Any]
    booster: MethodChoice
    learner: MethodChoice
    method: str = "boost"
    rules: tuple[tuple[int, OwnRule], ...] = ()
    changes: tuple[Change, ...] = ()
    seed: int = 0

    def plain(self) -> dict[str, Any]:
        """Return it as JSON has it, in one form."""
        return {
            "data": self.data,
            "method": self.method,
            "booster": self.booster.plain(),
            "learner": self.learner.plain(),
            "rules": [{"round": number, "rule": rule.plain()} for number, rule in self.rules],
            "changes": [change.plain() for change in self.changes],
            "seed": self.seed,
        }

    @property
    def key(self) -> str:
        """A digest: equal specs have equal ones."""
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
        """The rules of one's own after the last change, by the number of their rounds."""
        after = self.changes[-1].after if self.changes else 0
        return {
            number: (rule.feature, rule.threshold, rule.above)
            for number, rule in self.rules
            if number > after
        }


def digest(content: Any) -> str:
    """Return a short name of what JSON can hold."""
    text = json.dumps(content, sort_keys=True, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()[:24]


def read_run(given: Any) -> RunSpec:
    """Read and check a run.

    >>> spec = read_run({"data": {"kind": "xor"}, "booster": {"name": "adaboost"},
    ...                  "learner": {"name": "stump"}})
    >>> spec.method, spec.key == read_run(spec.plain()).key
    ('boost', True)
    """
    run = mapping("run", given)
    rules = sorted(_own(entry) for entry in sequence("rules", run.get("rules", [])))
    numbers = [number for number, _ in rules]
    if len(set(numbers)) < len(numbers):
        raise ParameterError("rules names a round twice; a round has one rule")
    changes = tuple(_change(entry) for entry in sequence("changes", run.get("changes", [])))
    if len(changes) > MOST_CHANGES or len(rules) > MOST_FORCED:
        raise LimitError(
            f"a run has up to {MOST_CHANGES} changes and {MOST_FORCED} rules of its own"
        )
    if any(later.after < first.after for first, later in pairwise(changes)):
        raise ParameterError("changes are not in the order of their rounds; sort them by 'after'")
    method = run.get("method", "boost")
    if method not in ("boost", "bagging"):
        raise ParameterError(f"method is {method!r}; it may be 'boost' or 'bagging'")
    if method == "bagging" and (rules or changes):
        raise ParameterError("bagging has no rounds to change: leave rules and changes empty")
    return RunSpec(
        data=mapping("data", run.get("data")),
        booster=choice("booster", run.get("booster", {"name": "adaboost"})),
        learner=choice("learner", run.get("learner", {"name": "stump"})),
        method=method,
        rules=tuple((number, OwnRule(*rule)) for number, rule in rules),
        changes=changes,
        seed=whole("seed", run.get("seed", 0), 0, 2**31),
    )


def read_rule(given: Any) -> OwnRule:
    """Read a stump of one's own."""
    rule = mapping("rule", given)
    above = rule.get("above")
    if above not in (-1, 1):
        raise ParameterError(f"above is {above!r}; a rule answers -1 or 1 above its threshold")
    threshold = number("threshold", rule.get("threshold"), -1e30, 1e30)
    return OwnRule(whole("feature", rule.get("feature"), 0, 10_000), threshold, int(above))


def _own(given: Any) -> tuple[int, tuple[int, float, int]]:
    entry = mapping("an entry of rules", given)
    rule = read_rule(entry.get("rule"))
    round_number = whole("round", entry.get("round"), 1, MOST_ROUNDS)
    return round_number, (rule.feature, rule.threshold, rule.above)


def _change(given: Any) -> Change:
    entry = mapping("an entry of changes", given)
    after = whole("after", entry.get("after"), 0, MOST_ROUNDS)
    booster, learner = (
        choice(name, entry[name]) if entry.get(name) is not None else None
        for name in ("booster", "learner")
    )
    if after > MOST_FORCED:
        raise LimitError(
            f"after is {after}; a run can be changed in its first {MOST_FORCED} rounds"
        )
    return Change(after, booster, learner)


def choice(name: str, given: Any) -> MethodChoice:
    """Read the name of a booster or a learner, and its parameters."""
    found = {"name": given} if isinstance(given, str) else mapping(name, given)
    own = found.get("name")
    if not isinstance(own, str):
        raise ParameterError(f"{name} has the name {own!r}; it must be a text")
    return MethodChoice(own, dict(mapping("parameters", found.get("parameters", {}))))


def mapping(name: str, given: Any) -> Mapping[str, Any]:
    """Refuse what is not an object of JSON."""
    if not isinstance(given, dict):
        raise LinkError(f"{name} is {_short(given)}; it must be an object with named parts")
    return given


def sequence(name: str, given: Any) -> Sequence[Any]:
    """Refuse what is not a list of JSON."""
    if not isinstance(given, list):
        raise LinkError(f"{name} is {_short(given)}; it must be a list")
    return given


def number(name: str, given: Any, low: float, high: float) -> float:
    """Refuse what is not a number within its range."""
    real = isinstance(given, int | float) and not isinstance(given, bool)
    if not (real and low <= given <= high):
        raise ParameterError(f"{name} is {_short(given)}; it must be a number, {low:g} to {high:g}")
    return float(given)


def whole(name: str, given: Any, low: int, high: int) -> int:
    """Refuse what is not a whole number within its range."""
    found = number(name, given, low, high)
    if found != int(found):
        raise ParameterError(f"{name} is {_short(given)}; it must be a whole number")
    return int(found)


def text(name: str, given: Any) -> str:
    """Refuse what is not a text."""
    if not isinstance(given, str):
        raise LinkError(f"{name} is {_short(given)}; it must be a text")
    return given


def _short(given: Any) -> str:
    words = repr(given)
    return words if len(words) <= 60 else f"{words[:57]}…"


@dataclass(frozen=True)
class Knob:
    """What the page may set: a parameter of a booster or learner, of data, or of a plan."""

    name: str
    about: str
    default: Any
    low: float = 0.0
    high: float = 1.0
    step: float | None = None
    """From 1 on, values are whole numbers."""
    choices: tuple[str, ...] = ()
    limits: tuple[int, int] | None = None
    """What a link may say, if that is more than the slider does."""

    @property
    def whole(self) -> bool:
        """Whether values are whole numbers."""
        return self.step is not None and self.step >= 1

    def plain(self) -> dict[str, Any]:
        """Describe it to the page."""
        known = {"name": self.name, "default": self.default, "about": self.about}
        if self.choices:
            return {**known, "kind": "choice", "choices": list(self.choices)}
        known |= {"kind": "whole" if self.whole else "number", "min": self.low, "max": self.high}
        return known if self.step is None else {**known, "step": self.step}

    def read(self, given: Any) -> Any:
        """Check a value."""
        if self.choices:
            if given not in self.choices:
                allowed = ", ".join(self.choices)
                raise ParameterError(f"{self.name} is {given!r}; it may be {allowed}")
            return given
        low, high = self.limits or (self.low, self.high)
        if self.whole:
            return whole(self.name, given, int(low), int(high))
        return number(self.name, given, low, high)
