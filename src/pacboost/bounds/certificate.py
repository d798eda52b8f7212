"""A certificate: a claim, the number in it, and everything needed to check it."""

from __future__ import annotations

import html
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any


@dataclass(frozen=True)
class Certificate:
    """What is claimed, on which grounds, and what was assumed.

    ``delta`` is the probability that the claim fails; 0 for a theorem that always holds.
    """

    claim: str
    value: float
    delta: float
    theorem: str
    reference: str
    sample: str
    size: int
    independent_of: str
    assumptions: tuple[str, ...]
    valid_after_looking: bool
    inputs: Mapping[str, float | int | str] = field(default_factory=dict)
    ledger_digest: str = ""
    bound: str = ""
    """By which function it can be computed again: "file.function"."""

    def of(self, ledger_digest: str) -> Certificate:
        """Give the same certificate, tied to a ledger."""
        return replace(self, ledger_digest=ledger_digest)

    @property
    def vacuous(self) -> bool:
        """Whether the number says nothing, because no error exceeds it anyway."""
        return self.value >= 1

    def __str__(self) -> str:
        lines = [self.claim, ""]
        lines += [f"  {name:<15} {text}" for name, text in self._facts()]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        cells = "".join(
            f"<tr><th style='text-align:left'>{html.escape(name)}</th>"
            f"<td style='text-align:left'>{html.escape(text)}</td></tr>"
            for name, text in self._facts()
        )
        return f"<p><b>{html.escape(self.claim)}</b></p><table>{cells}</table>"

    def _facts(self) -> list[tuple[str, str]]:
        chance = "0 (holds always)" if self.delta == 0 else f"{self.delta:g}"
        facts = [
            ("bound", f"{self.value:.6g}" + (" (vacuous)" if self.vacuous else "")),
            ("may fail with", chance),
            ("theorem", self.theorem),
            ("reference", self.reference),
            ("sample", self.sample),
            ("size", f"{self.size:,}"),
            ("independent of", self.independent_of),
            ("assumes", "; ".join(self.assumptions) or "nothing"),
            ("after looking", "still valid" if self.valid_after_looking else "no longer valid"),
        ]
        facts += [
            (name, f"{value:.6g}" if isinstance(value, float) else str(value))
            for name, value in self.inputs.items()
        ]
        return [*facts, ("ledger", self.ledger_digest[:16])] if self.ledger_digest else facts

    def to_json(self) -> str:
        """Everything as JSON text."""
        return json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain objects that JSON knows."""
        return {**asdict(self), "assumptions": list(self.assumptions)}

    @classmethod
    def from_json(cls, text: str) -> Certificate:
        """Read what ``to_json`` wrote."""
        return cls.from_dict(json.loads(text))

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> Certificate:
        """Read what ``to_dict`` wrote."""
        return cls(**{**content, "assumptions": tuple(content["assumptions"])})
