"""What a finite class of hypotheses is, and what searching it gives."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

from pacboost.hypotheses.hypothesis import Rule
from pacboost.samples.sample import Signs
from pacboost.sources.table import Values


@dataclass(frozen=True)
class SearchResult:
    """What a search gives; ``survivors`` is None where the version space is too large to count."""

    rule: Rule
    mistakes: int
    survivors: int | None


class FiniteClass(ABC):
    """Finitely many hypotheses, fixed before the data."""

    @abstractmethod
    def size(self, features: int) -> int:
        """Count the hypotheses for rows of so many features."""

    @abstractmethod
    def search(self, X: Values, signs: Signs) -> SearchResult:
        """Find a hypothesis with the fewest mistakes, and count those without any."""
