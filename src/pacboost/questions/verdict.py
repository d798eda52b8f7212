"""Was the requested error reached? One sentence, and if not, what is missing.

A certificate is a number with its reasons. Users who asked for an error of at most epsilon also
want to know whether it was reached and, if not, whether more rounds, more certified examples or
more training rows would help. The reasons given for a missed target are a diagnosis from
measurements, not a theorem; the number in the sentence is the certificate's.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from pacboost.bounds import estimates, holdout, shift, wording
from pacboost.bounds.certificate import Certificate
from pacboost.bounds.held_out import HeldOut
from pacboost.bounds.rounding import confidence
from pacboost.bounds.search import expected_mistakes, smallest
from pacboost.bounds.wording import Statement
from pacboost.errors import NotCertified
from pacboost.ledgers.counterexample import Counterexample
from pacboost.numerics.markup import bold, facts
from pacboost.numerics.percent import percent_digits

# A vote that expects the errors it makes meets noise; one that expects half of them was too sure of
# rows it knew.
OVERFIT_SHARE = 0.5
"""A vote has overfitted if its expected error and its training error are both below this share of
the error on certifying rows: it then needs more training rows."""
TWO_SIGMA = 2.0
NO_STATEMENT = Statement("", "", "")


@dataclass(frozen=True)
class LostEdge:
    """The round in which a learner found no rule better than guessing, and its heaviest rows."""

    round: int
    rows: tuple[int, ...]

    @property
    def words(self) -> str:
        """Where the edge was lost, in words."""
        on = f", whose weights are largest on rows {', '.join(map(str, self.rows))}"
        return f"the learner lost its edge in round {self.round:,}{on if self.rows else ''}"


@dataclass(frozen=True)
class FitMeasurements:
    """Measurements during the fit, on training rows and on validation rows."""

    rounds: int
    training_error: float
    watching: int = 0
    """The number of validation rows; the fields below need some."""
    edge: float = 0.0
    """Mean edge of the last rules on these rows, under the weights the vote then gave them."""
    expected_error: float = 0.0
    """The error that the vote's own probabilities expect on them."""
    improving: bool = False
    """Whether all rounds that were allowed are done, and the last ones still helped."""
    weighted: bool = False
    """Whether the training error is counted by weights of rows."""
    lost: LostEdge | None = None
    counterexample: Counterexample | None = None
    """What breaks the edge that the learner promised, if anything does."""

    @property
    def broken(self) -> tuple[str, ...]:
        """A sentence on a promise that was broken, if one was."""
        if self.counterexample is None:
            return ()
        words = self.counterexample.sentence
        return (f"{words[:1].upper()}{words[1:]}.",)

    @property
    def edge_vanished(self) -> bool:
        """Check whether the edge, a mean over ``watching`` rows, may well be 0."""
        return self.watching > 0 and self.edge <= TWO_SIGMA / math.sqrt(self.watching)


@dataclass(frozen=True)
class Verdict:
    """The answer to "is its error at most epsilon?", with the reason and what is missing."""

    sentence: str
    reached: bool | None
    epsilon: float | None
    delta: float
    value: float
    """What is certified; 1 where nothing is."""
    reason: str = ""
    more_certified: int | None = None
    """How many more certified examples would suffice, if mistakes stay as rare."""
    headline: Statement = field(default=NO_STATEMENT, repr=False)
    """The first part of the sentence, with the place of its number; for a page."""
    note: str = field(default="", repr=False)

    def __str__(self) -> str:
        return self.sentence

    def _repr_html_(self) -> str:
        target = "no error was asked for" if self.epsilon is None else f"{self.epsilon:g}"
        entries = [("asked for", target), ("certified", f"{self.value:.6g}")]
        entries += [] if self.reached is None else [("reached", "yes" if self.reached else "no")]
        entries += [("confidence", confidence(self.delta))]
        entries += [("reason", self.reason)] if self.reason else []
        if self.more_certified is not None:
            entries += [("more certified examples", f"{self.more_certified:,}")]
        return bold(self.sentence) + facts(entries)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values for JSON; the parts of the sentence are left out."""
        content = asdict(self)
        del content["headline"], content["note"]
        return content


def judge(
    certificate: Certificate,
    delta: float,
    epsilon: float | None,
    evidence: FitMeasurements,
    held_out: HeldOut | None = None,
    names: Sequence[str] = (),
) -> Verdict:
    """Return the meaning of a certificate, and what is missing if it is above epsilon.

    ``held_out`` holds further counts on the certifying rows; ``names`` are those of the classes.
    """
    value = certificate.value
    if epsilon is None:
        claim, note = estimates.in_full(certificate, held_out, names, delta)
        note = " ".join(part for part in (note, *evidence.broken) if part)
        words = f"{claim} {note}".rstrip()
        return Verdict(words, None, None, delta, value, headline=claim, note=note)
    claim = wording.sentence(certificate, delta)
    beside = estimates.beside(certificate, held_out, names)
    if value <= epsilon:
        rounds = f"{evidence.rounds:,} round{'s' if evidence.rounds != 1 else ''}"
        note = f"{percent_digits(epsilon)} was asked for, and reached after {rounds}."
        stays = shift.stays(certificate, epsilon)
        note = " ".join(part for part in [note, stays, *beside, *evidence.broken] if part)
        words = f"{claim} {note}"
        return Verdict(words, True, epsilon, delta, value, headline=claim, note=note)
    rate = _rate(certificate)
    n_more = None if evidence.broken else _more(certificate, delta, epsilon, rate)
    if n_more is None:
        reason = _why(rate, evidence)
    else:
        what = "groups" if certificate.of_what == wording.NEW_GROUPS else "examples"
        # the forecast assumes that mistakes stay as rare, which is known to a digit or two
        step = int(10 ** max(0, len(str(n_more)) - 2))  # two digits are enough for a forecast
        number = f"{math.ceil(n_more / step) * step:,}"
        reason = f"about {number} more certified {what} would suffice if mistakes stay as rare"
    head = wording.sentence(certificate, delta, f"{percent_digits(epsilon)} was not reached: ")
    words = " ".join([f"{str(head)[:-1]}; {reason}.", *beside])
    note = " ".join([f"{reason[:1].upper()}{reason[1:]}.", *beside])
    return Verdict(words, False, epsilon, delta, value, reason, n_more, head, note)


def nothing_certified(why: str, delta: float, epsilon: float | None) -> Verdict:
    """Explain that no rows could be set apart, and how many examples would be needed."""
    target = 0.05 if epsilon is None else epsilon
    needed = holdout.examples_for(holdout.clopper_pearson, target, delta)
    head = Statement(f"Nothing is certified about future examples: {why}.", "", "")
    note = (
        f"{needed:,} certified examples without a mistake would show an error of at most "
        f"{percent_digits(target)}."
    )
    reached = None if epsilon is None else False
    return Verdict(f"{head} {note}", reached, epsilon, delta, 1.0, why, needed, head, note)


def _rate(certificate: Certificate) -> float:
    inputs = certificate.inputs
    if "mean" in inputs:
        return float(inputs["mean"])
    if "shares" in inputs:
        return holdout.mean_share(inputs["shares"])
    return float(inputs["k"]) / float(inputs["n"]) if "k" in inputs else certificate.value


def _more(certificate: Certificate, delta: float, epsilon: float, rate: float) -> int | None:
    """Return how many more examples (or groups) would suffice; None if no number would."""
    if rate >= epsilon:
        return None
    models = int(certificate.inputs.get("models", 1))

    def bound(n: int) -> float:
        if certificate.of_what == wording.NEW_GROUPS:
            return holdout.groups_bound(rate, n, delta)
        mistakes = expected_mistakes(rate, n)
        if certificate.of_what == wording.PERIOD:
            return holdout.ordered_mixture(mistakes, n, delta)
        return holdout.clopper_pearson(mistakes, n, delta, models)

    try:
        needed = smallest(lambda n: bound(n) <= epsilon, 1, f"a bound of {epsilon:g}")
    except NotCertified:
        return None
    return max(1, needed - certificate.size)


def _why(rate: float, evidence: FitMeasurements) -> str:
    if evidence.counterexample is not None:
        return evidence.counterexample.sentence
    if evidence.lost is not None:
        few = evidence.training_error < OVERFIT_SHARE * rate
        helps = "more rows to learn from" if few else "a richer learner, or other features,"
        return f"{evidence.lost.words}, so {helps} may help"
    if evidence.improving:
        return f"its {evidence.rounds:,} rounds were still improving it, so allow more"
    training_error, expected = evidence.training_error, evidence.expected_error
    if not evidence.watching or max(training_error, expected) < OVERFIT_SHARE * rate:
        how = " (by their weights)" if evidence.weighted else ""
        return (
            f"it is wrong on {percent_digits(training_error, 2)} of the rows it learned from{how} "
            f"and on {percent_digits(rate, 2)} of others, so more rows to learn from would help"
        )
    end = "has vanished" if evidence.edge_vanished else "has become too small to help"
    return (
        f"the weak learner's edge {end} ({max(0.0, evidence.edge):.3f} on rows not learned from), "
        f"and its own probabilities expect {percent_digits(expected, 2)}: what is left looks like "
        "noise, or needs other features"
    )
