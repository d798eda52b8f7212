"""The record of Schapire's recursion: what it aimed at, and what every call did."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Node:
    """What one call of the recursion did."""

    path: str
    """Which of the three it is, level by level: "" for the root, "12" for h2 of the root's h1."""
    level: int
    """0 for a call of the weak learner."""
    target: float
    part: float | None
    """g⁻¹(target): the error that each of its three rules may have; None for a weak rule."""
    draws: int
    """Examples that were drawn from the source for it, those of its parts included."""
    error: float | None
    """The error measured of what was returned, under its own distribution; None if untested."""
    upper: float
    """What that error surely is at most."""
    returned: str


@dataclass
class Record:
    """The record of one recursion: what it aimed at, and every call in the order of their ends."""

    edge: float
    epsilon: float
    delta: float
    targets: list[float]
    nodes: list[Node] = field(default_factory=list)
    draws: int = 0
    again: int = 0
    """How many of the draws were of examples that had come before."""
    stopped: str = ""
    """Why it ended before it had reached epsilon; empty if it has."""
    measured_edge: float | None = None
    """The edge of the weak rule that broke the promise, if one did."""

    @property
    def levels(self) -> int:
        """How deep majorities are nested, if nothing returns early."""
        return len(self.targets) - 1
