"""Bounds under distribution shift: new examples come from another distribution than the rows.

An event of probability at most e under the distribution of the rows has probability at most f(e)
after a move, with one f in ``MOVES`` for each measure of distance. Each f grows with e, so a bound
that holds with probability 1 - delta may be put into it (docs/proofs/shift.md).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from pacboost.bounds import wording
from pacboost.bounds.certified_number import CertifiedNumber
from pacboost.bounds.registry import BOUNDS, Ends, bound, bound_of
from pacboost.bounds.rounding import SLACK, outward
from pacboost.errors import NotCertified, ParameterError
from pacboost.numerics.checks import meant, plain, plain_numbers, probability
from pacboost.numerics.kl import kl, turning_point
from pacboost.numerics.percent import percent_digits

if TYPE_CHECKING:
    from pacboost.ledgers.ledger import Ledger

PROOF = "docs/proofs/shift.md"
KINDS = ("model", "forest", "measure")
MIN_MOVE, MAX_MOVE = 1e-18, 1e300
Stored = TypeVar("Stored", bound=CertifiedNumber)


class Move(NamedTuple):
    """A kind of distribution shift."""

    largest: Callable[[float, float], float]
    """The largest probability after a move of a given size, if it was at most e before."""
    theorem: str
    words: str
    """A format of two names: ``{by}``, the size of the move, and ``{who}``, the examples."""
    none: float = 0.0
    upper_end: float = math.inf


def _within_kl(e: float, nats: float) -> float:
    return 1.0 if kl(1.0, e) <= nats else turning_point(lambda q: kl(q, e) > nats, e, 1.0)


MOVES = {
    "contamination": Move(
        lambda e, r: e + r * (1 - e), "(1 - r)e + r",
        "at most {by} of {who} are unlike the certified rows", upper_end=1.0,
    ),
    "total_variation": Move(
        lambda e, r: e + r, "e + r",
        "no group's share of {who} changes by more than {points:.12g} percentage points",
        upper_end=1.0,
    ),
    "ratio": Move(
        lambda e, times: times * e, "B·e",
        "no kind among {who} becomes more than {by} times as frequent", none=1.0,
    ),
    "kl": Move(
        _within_kl, "max{q : kl(q‖e) ≤ r}",
        "the distribution of {who} moves by at most {by} nats of KL divergence",
    ),
    "chi2": Move(
        lambda e, r: e + math.sqrt(r * e * (1 - e)), "e + √(r e(1 - e))",
        "the distribution of {who} moves by at most {by} in chi-square divergence",
    ),
}  # fmt: skip
"""All ways to move, by the names that ``Certificate.under`` has for them."""


@plain_numbers
def largest_error(error: float, move: str, by: float) -> float:
    """Bound a probability of at most ``error`` after a shift of this size, rounded up."""
    way = MOVES[move]
    low, high = way.none, way.upper_end
    if isinstance(by, bool) or not isinstance(by, int | float) or not low <= by <= high:
        limits = f"from {low:g} to {high:g}" if high < math.inf else f"≥ {low:g}"
        raise ParameterError(f"{move} is {by!r}; it is a number {limits}", parameter=move)
    # each f rises with e, so that an upper bound on e may be put in (docs/proofs/shift.md)
    return outward(way.largest(min(1.0, error), by)) if by > way.none else error


@plain_numbers
def farthest(error: float, goal: float, move: str) -> float:
    """Return the largest shift after which ``largest_error`` is at most the goal."""
    way = MOVES[move]

    def beyond(distance: float) -> bool:
        return largest_error(error, move, min(way.none + distance, way.upper_end)) > goal

    if beyond(MIN_MOVE) or not beyond(MAX_MOVE):
        return way.none if beyond(MIN_MOVE) else way.upper_end
    return way.none + turning_point(beyond, MIN_MOVE, MAX_MOVE) * (1 - 1e-15)


def _condition(inputs: Mapping[str, Any], who: str) -> str:
    return f"as long as {_move_words(inputs['move'], float(inputs['by']), who)}"


def _move_words(name: str, by: float, who: str) -> str:
    move = MOVES[name]
    size = percent_digits(by, 12) if move.upper_end == 1 else f"{by:.12g}"
    return move.words.format(by=size, points=100 * by, who=who)


def _again(stored: Stored, ledger: Ledger) -> Stored:
    inputs = dict(stored.inputs)
    name, move, by = (inputs.pop(key) for key in ("bound", "move", "by"))
    registered = bound_of(name)
    if registered is None or registered.again is None:
        raise ParameterError(f"bound is {name!r:.80}, which no certificate before a shift has")
    before = registered.again(replace(stored, bound=name, inputs=inputs), ledger)
    names = [name for name in wording.UNANSWERED if name in stored.details]
    before = before.detailed({name: stored.details[name] for name in names})  # name who moves
    moved: Stored = under(before.filtered(stored.details), **{move: by})
    return moved


@bound("shift.moved_upper", reference=PROOF, condition=_condition, again=_again, of=KINDS)
def moved_upper(bound: str, move: str, by: float, **inputs: Any) -> float:
    """Bound an error or rate after a shift, from its ``bound`` before, which takes ``inputs``.

    >>> round(moved_upper("rates.rate_upper", "ratio", 2, k=3, n=100, delta=0.05), 6)
    0.151422
    """
    return largest_error(_before(bound, inputs), move, by)


@bound(
    "shift.moved_lower", side="lower", reference=PROOF, condition=_condition, again=_again, of=KINDS
)
def moved_lower(bound: str, move: str, by: float, **inputs: Any) -> float:
    """Bound a rate from below after a shift: 1 minus the rate is an error.

    >>> round(moved_lower("rates.rate_lower", "ratio", 2, k=97, n=100, delta=0.05), 6)
    0.848578
    """
    return max(0.0, 1 - largest_error(1 - _before(bound, inputs), move, by) - SLACK)


MOVED = Ends.of(moved_lower, moved_upper)


def _before(name: str, inputs: Mapping[str, Any]) -> float:
    bound_of(name)  # loads the file that has it
    return BOUNDS[name].compute(**inputs)


def under(certificate: Stored, **moves: float) -> Stored:
    """Certify an error or a rate after a shift; see ``Certificate.under``."""
    move, by = next(iter(moves.items()), ("", 0.0))
    if len(moves) != 1 or move not in MOVES:
        names, allowed = ", ".join(moves) or "no move", ", ".join(f"{name}=" for name in MOVES)
        raise ParameterError(f"{names} was given{meant(move, MOVES)}; name one of {allowed}")
    _refuse(certificate)
    inputs = {**certificate.inputs, "bound": certificate.bound, "move": move, "by": plain(by)}
    name = MOVED[wording.side_of(certificate)]
    assumed = (
        wording.DRAWN_BEFORE_MOVE if assumption == wording.DRAWN else assumption
        for assumption in certificate.assumptions
    )
    return replace(
        certificate,
        value=BOUNDS[name].compute(**inputs),
        bound=name,
        inputs=inputs,
        theorem=f"{certificate.theorem}; after the move {MOVES[move].theorem}",
        reference=f"{certificate.reference}; {PROOF}",
        assumptions=(*assumed, _condition(inputs, wording.affected(certificate))),
        model_digest="",
    )


def _refuse(certificate: CertifiedNumber) -> None:
    what, bound = certificate.of_what, bound_of(certificate.bound)
    if bound is not None and bound.condition is not None:
        raise NotCertified(
            "this certificate is already about a moved distribution; move the one it came from"
        )
    kind = wording.quantity(what)
    share = what in (wording.NEW_EXAMPLES, wording.NEW_GROUPS, wording.ANSWERED)
    share |= kind is not None and kind.is_share
    if certificate.details.get("unit") == "period" or not share:
        raise NotCertified(
            f"this certificate is about {what!r}, which is no share of new examples; only the "
            "error, recall and other rates of independent rows are bounded after a move"
        )


@dataclass(frozen=True)
class HoldsUntil:
    """How large a shift of each kind may be before a bound exceeds its goal."""

    goal: float
    lower: bool
    who: str
    contamination: float
    total_variation: float
    ratio: float
    kl: float
    chi2: float

    def __str__(self) -> str:
        lines = [_move_words(move, self._rounded(move), self.who) for move in MOVES]
        return "\n  ".join([f"{self.stays} as long as one of these is so:", *lines])

    @property
    def stays(self) -> str:
        """Text that says on which side of the goal the bound stays."""
        return f"It stays {'above' if self.lower else 'below'} {percent_digits(self.goal)}"

    def words(self, move: str) -> str:
        """Return how large a shift of one kind may be, rounded down, as text."""
        return _condition({"move": move, "by": self._rounded(move)}, self.who)

    def _rounded(self, move: str) -> float:
        size: float = getattr(self, move)
        return math.floor(size * 1e4 * (1 + 1e-14)) / 1e4 if size < 1e9 else size


def holds_until(certificate: CertifiedNumber, goal: float) -> HoldsUntil:
    """Return how large a shift may be; see ``Certificate.holds_until``."""
    _refuse(certificate)
    lower, value = wording.is_lower(certificate), certificate.value
    probability("goal", goal)
    if value < goal if lower else value > goal:
        side = "below" if lower else "above"
        raise NotCertified(
            f"the certified value {value:.6g} is {side} the goal {goal:g} even without any shift"
        )
    ends = (1 - value, 1 - goal - 2 * SLACK) if lower else (value, goal)
    sizes = {move: farthest(*ends, move) for move in MOVES}
    return HoldsUntil(goal, lower, wording.affected(certificate), **sizes)


def stays(certificate: CertifiedNumber, goal: float | None) -> str:
    """Return a sentence on how many new examples may be unlike the rows; "" without a goal."""
    with suppress(NotCertified, ParameterError):
        limits = holds_until(certificate, goal or 0.0)
        if limits.contamination >= 1e-4:
            return f"{limits.stays} {limits.words('contamination')}."
    return ""
