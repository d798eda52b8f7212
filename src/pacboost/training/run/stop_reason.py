"""Why a run has stopped, as values; the ledger records the sentence that is made of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, auto


class Stop(Enum):
    """The kinds of reasons."""

    ALL_ROUNDS = auto()
    ALL_MEMBERS = auto()
    NO_EDGE = auto()
    STANDS_ALONE = auto()
    NO_MISTAKES = auto()
    NO_PROGRESS = auto()
    BEHIND = auto()
    BOOSTER = auto()
    BROKEN_PROMISE = auto()
    """A rule is worse than the booster was promised."""
    PAST_BOUND = auto()
    """More rounds were done than the promised edge allows."""
    CALLBACK = auto()
    INTERRUPTED = auto()
    SETTLED = auto()
    ONE_CLASS = auto()
    TIME_IS_UP = auto()
    STREAM_ENDED = auto()
    STREAM_TOO_SHORT = auto()
    """It ended before the first sample was drawn."""
    BATCH_USED_UP = auto()
    ERROR_REACHED = auto()
    STARVED = auto()
    NO_RULE = auto()
    """The learner found no rule whose edge could be tested."""
    NO_TESTED_EDGE = auto()
    """Rules were found, but none passed the test of its edge."""


SENTENCES = {
    Stop.ALL_ROUNDS: "all {rounds} rounds are done",
    Stop.ALL_MEMBERS: "all {members} members are made",
    Stop.NO_EDGE: "the learner found no rule better than guessing",
    Stop.STANDS_ALONE: "a rule without mistakes was found; it stands alone",
    Stop.NO_MISTAKES: "a rule without mistakes was found",
    Stop.NO_PROGRESS: "{metric} on the validation rows has not improved for {rounds} rounds",
    Stop.BEHIND: "another candidate is better after as many rounds",
    Stop.BOOSTER: "{sentence}",
    Stop.BROKEN_PROMISE: "{sentence}",
    Stop.PAST_BOUND: (
        "rules with the promised edge of {promised:g} would have ended the run within {bound:,} "
        "rounds, so the promise is broken: {below:,} of {rounds:,} rules have less, the one of "
        "round {worst:,} {edge:.4g}; promise less, or give a richer learner"
    ),
    Stop.CALLBACK: "a callback stopped it",
    Stop.INTERRUPTED: "interrupted",
    Stop.SETTLED: (
        "the error out of bag moved by less than its noise, {noise:.3g}, over the last {members} "
        "members"
    ),
    Stop.ONE_CLASS: "there is one class only",
    Stop.TIME_IS_UP: "the time is up",
    Stop.STREAM_ENDED: "the stream has ended",
    Stop.STREAM_TOO_SHORT: (
        "the stream has ended; the first sample wanted about {wanted:,} examples and got "
        "{draws:,}: give more, or set a smaller sample_rows"
    ),
    Stop.BATCH_USED_UP: "the batch is used up",
    Stop.ERROR_REACHED: "the error is at most {epsilon:g}, with the promised chance",
    Stop.STARVED: (
        "the filter starves: of {draws} draws {accepted} were kept, so there is next to nothing "
        "left to learn from (its error{where} is at most {error:.3g})"
    ),
    Stop.NO_RULE: "no edge was found: the learner knew no rule better than guessing{promise}",
    Stop.NO_TESTED_EDGE: (
        "no edge was found: {tries} rules were tried, and the best that was tested has an edge of "
        "{edge:.3g} on examples of its own, surely below {floor:g}{promise}"
    ),
}
"""The sentence of each kind; the names in braces are those of its values."""
BROKEN = (
    "; the rule of round {worst:,} has an edge of {edge:.4g}, less than the promised {promised:g}"
)


@dataclass(frozen=True)
class StopReason:
    """A kind of reason with its values, and the number of rounds that were kept.

    >>> reason = StopReason(Stop.ALL_ROUNDS, {"rounds": 300}, kept=120, kept_is_best=True)
    >>> str(reason)
    'all 300 rounds are done; the first 120, best on the validation rows, are kept'
    >>> str(StopReason(Stop.ALL_ROUNDS, {"rounds": 170}, best_round=154))
    '170 rounds (154 were best in the trial; the refit on all rows runs longer)'
    """

    kind: Stop
    values: Mapping[str, float | str] = field(default_factory=dict)
    kept: int = 0
    """The number of rounds kept, if later ones were dropped; otherwise 0."""
    kept_is_best: bool = False
    """Whether the validation loss was best after the rounds kept; otherwise they are a minimum."""
    broken: Mapping[str, float] = field(default_factory=dict)
    """If rules had less than the promised edge: promise, round of the least edge, and this edge."""
    best_round: int = 0
    """The best round of a trial, if the model was refitted on all rows; otherwise 0."""

    def __str__(self) -> str:
        sentence = SENTENCES[self.kind].format(**self.values)
        if self.kept:
            best = "best on the validation rows"
            why = best if self.kept_is_best else "the least number for so few rows"
            sentence += f"; the first {self.kept}, {why}, are kept"
        if self.broken:
            sentence += BROKEN.format(**self.broken)
        if self.best_round:
            if self.kind is Stop.ALL_ROUNDS:
                sentence = f"{self.values['rounds']} rounds"
            best = f"{self.best_round} were best in the trial"
            sentence += f" ({best}; the refit on all rows runs longer)"
        return sentence


def sentence_of(reason: StopReason | None) -> str:
    """Return the sentence of a reason; empty while a run continues."""
    return "" if reason is None else str(reason)
