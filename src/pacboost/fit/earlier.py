"""The fit before this one, which ``warm_start`` continues."""

from __future__ import annotations

from dataclasses import dataclass

from pacboost.models.model import Model


@dataclass(frozen=True)
class RunRecord:
    """What a fit must have in common with the previous one to continue its run."""

    parameters: dict[str, str]
    seed: int
    rows: str = ""
    """A digest of the rows that the model does not identify, and of what was chosen by rows."""
    vote: str = ""
    """The digest of the vote that the run left: a vote that was changed since is not continued."""
    looks: int | None = None
    """How often held-out rows were looked at: None without any, 0 if that took all of delta."""


@dataclass(frozen=True, eq=False)
class Earlier:
    """The model of the previous fit, and its record."""

    model: Model
    record: RunRecord
