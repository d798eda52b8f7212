"""What there is to know of a measure, without its theorems: name, words, options, ends."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import MISSING, dataclass, fields
from typing import Any, ClassVar

from pacboost.bounds.counting import Count, Counting
from pacboost.bounds.registry import Ends
from pacboost.bounds.scored_rows import Doubles, ScoredRows


class Example(dict[str, Any]):
    """Counts that a theorem takes, besides delta and the number of claims."""


class Quantity:
    """A number about a fixed model on new examples, and the words of a claim about it.

    In ``words``, ``{new}`` stands for the examples, ``{c}`` for the class, ``{at}`` for "at least"
    or "at most", ``{value}`` for the number, and any other name for a detail of the certificate.
    """

    name: ClassVar[str]
    words: ClassVar[str]
    higher_is_better: ClassVar[bool] = False
    of_class: ClassVar[bool] = False
    """True for a measure of one class, the positive one."""
    is_share: ClassVar[bool] = True
    """True for a share of examples, which is written in per cent, and which a shift can move."""
    every_row: ClassVar[bool] = False
    """True for a mean over all rows, which groups of dependent rows can bound."""
    of_numbers: ClassVar[bool] = False
    """True for a measure of models that predict numbers."""
    in_per_cent: ClassVar[bool] = True


@dataclass(frozen=True, eq=False)
class Measure(Quantity, ABC):
    """A quantity that rows can certify; its options are the fields of its class."""

    aliases: ClassVar[tuple[str, ...]] = ()
    """Names that others have for it; who gives one is told this one."""
    stated: ClassVar[tuple[str, ...]] = ()
    """Options that the claim names."""
    among: ClassVar[str] = "rows"
    """The rows that it counts, for the message that they are too few."""
    ends: ClassVar[Ends]
    """The theorems for its lower and its upper end."""
    pooled: ClassVar[Ends | None] = None
    """The same for rows of several groups with different chances."""
    over_time: ClassVar[Ends | None] = None
    """The same for rows that may depend on those before."""
    of_groups: ClassVar[Ends | None] = None
    """The same for means of independent groups, whose rows may depend on each other."""
    example: ClassVar[Example]
    """Counts for the end that matters: tests certify them."""
    needs: ClassVar[str] = "an option"
    call: ClassVar[str] = ""
    """What a measure with an option without a default needs, and a call that gives it."""

    @abstractmethod
    def count(self, counting: Counting) -> Count:
        """Count the rows of a claim."""

    @classmethod
    def bounds(cls) -> set[str]:
        """Return the names of all bounds that may certify this measure."""
        every = (cls.ends, cls.pooled, cls.over_time, cls.of_groups)
        return {name for ends in every if ends for name in (ends.lower, ends.upper) if name}

    @classmethod
    def needed_options(cls) -> list[str]:
        """Return the names of options without a default."""
        has_default = {f.name: f.default is not MISSING for f in fields(cls)}
        return [name for name in has_default if not has_default[name]]

    def options(self) -> dict[str, Any]:
        """Return the options that the claim names, as details of a certificate."""
        return {name: getattr(self, name) for name in self.stated}

    def losses(self, rows: ScoredRows) -> tuple[Doubles, float]:
        """Return each row's loss as a share of the largest possible loss, and that loss."""
        raise NotImplementedError(f"{self.name} is no mean over all rows")
