"""What a question of planning is answered with."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field


@dataclass(frozen=True)
class Plan:
    """An answer: what suffices, what no method can do without, what a simulation needed."""

    question: str
    theorem: str
    examples: int | None = None
    rounds: int | None = None
    draws: int | None = None
    runs: int | None = None
    lower: int | None = None
    """Below this many no method can succeed; None where no such bound applies."""
    simulated: int | None = None
    """What one plain world needed, in the unit of the answer; None where there is none."""
    details: Mapping[str, float | int | str] = field(default_factory=dict)

    def __str__(self) -> str:
        lines = [self.question, ""]
        lines += [f"  {name:<22} {text}" for name, text in self.facts()]
        return "\n".join(lines)

    def facts(self) -> list[tuple[str, str]]:
        """Everything there is, as pairs of words."""
        numbers = {
            "examples": self.examples,
            "rounds": self.rounds,
            "draws": self.draws,
            "runs": self.runs,
            "no method with fewer": self.lower,
            "a simulation needed": self.simulated,
        }
        facts = [(name, f"{number:,}") for name, number in numbers.items() if number is not None]
        facts += [("theorem", self.theorem)]
        facts += [
            (name, f"{value:.6g}" if isinstance(value, float) else str(value))
            for name, value in self.details.items()
        ]
        return facts

    def to_json(self) -> str:
        """Everything as JSON text."""
        return json.dumps(asdict(self), ensure_ascii=False, allow_nan=False)
