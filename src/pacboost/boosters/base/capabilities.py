"""Capabilities that only some boosters have; boosters/base/filtering_booster.py holds a third."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

from pacboost.boosters.base.booster import Agreement, Booster, S
from pacboost.hypotheses.vote import Vote
from pacboost.samples.sample import Sample


class RevisingBooster(Booster[S]):
    """A booster that may change the votes of earlier rounds, as totally corrective boosters do.

    A run that is resumed shows it all earlier rounds again, one by one.
    """

    revises: ClassVar[bool] = True

    @abstractmethod
    def recall(self, state: S, agree: Agreement, memory: list[float]) -> S:
        """Take in one round of an earlier run; ``resume`` is called after the last of them."""


class FinalTable(Booster[S]):
    """A booster whose final classifier is not the vote but a table made from its rules."""

    @abstractmethod
    def joined(self, state: S, vote: Vote, sample: Sample) -> Vote:
        """Give a vote that consists of the table alone."""

    @abstractmethod
    def parted(self, vote: Vote) -> Vote:
        """Give the rules and votes from which ``joined`` made the table."""
