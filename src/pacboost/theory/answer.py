"""What a question of planning is answered with."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

from pacboost.numerics.markup import bold, facts


@dataclass(frozen=True)
class Plan:
    """An answer: what suffices, what is needed in the worst case, what a simulation needed."""

    question: str
    theorem: str
    examples: int | None = None
    rounds: int | None = None
    draws: int | None = None
    runs: int | None = None
    lower: int | None = None
    """So many are needed in the worst case, by those ``lower_for`` names; None if not known."""
    lower_for: str = ""
    simulated: int | None = None
    """What one plain world needed, in the unit of the answer; None where there is none."""
    details: Mapping[str, float | int | str] = field(default_factory=dict)

    def __str__(self) -> str:
        lines = [self.question, ""]
        lines += [f"  {name:<22} {text}" for name, text in self.facts()]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return bold(self.question) + facts(self.facts())

    def facts(self) -> list[tuple[str, str]]:
        """Everything there is, as pairs of words.

        A simulation that needed less than the worst case does is left out: it speaks of an easier
        distribution, and the two numbers side by side would seem to contradict each other.
        """
        numbers = {
            "examples": self.examples,
            "rounds": self.rounds,
            "draws": self.draws,
            "runs": self.runs,
        }
        facts = [(name, f"{number:,}") for name, number in numbers.items() if number is not None]
        if self.lower is not None:
            facts.append(("needed in worst case", f"{self.lower:,}, by {self.lower_for}"))
        shown = self.simulated is not None and self.simulated >= (self.lower or 0)
        if shown:
            facts.append(("a simulation needed", f"{self.simulated:,}"))
        facts += [("theorem", self.theorem)]
        facts += [
            (name, f"{value:.6g}" if isinstance(value, float) else str(value))
            for name, value in self.details.items()
            if shown or name != "world"
        ]
        return facts

    def to_json(self) -> str:
        """Everything as JSON text."""
        return json.dumps(asdict(self), ensure_ascii=False, allow_nan=False)
