"""A parameter of a booster or a learner that the page may set."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pacboost.errors import ParameterError
from pacboost.lab.spec import number, whole


@dataclass(frozen=True)
class Parameter:
    """A parameter that the page may set."""

    name: str
    default: Any
    about: str
    low: float = 0.0
    high: float = 1.0
    kind: str = "number"
    choices: tuple[str, ...] = ()

    def plain(self) -> dict[str, Any]:
        """Describe it to the page."""
        found = {"name": self.name, "default": self.default, "kind": self.kind, "about": self.about}
        if self.kind == "choice":
            return {**found, "choices": list(self.choices)}
        return {**found, "min": self.low, "max": self.high}

    def read(self, given: Any) -> Any:
        """Check a value."""
        if self.kind == "choice":
            if given not in self.choices:
                allowed = ", ".join(self.choices)
                raise ParameterError(f"{self.name} is {given!r}; it may be {allowed}")
            return given
        if self.kind == "whole":
            return whole(self.name, given, int(self.low), int(self.high))
        return number(self.name, given, self.low, self.high)
