"""The ledger: the record of a boosting run, round by round.

Certificates, reports and pages are functions of the ledger alone; it can be saved and loaded
without the data. Rates are under the starting distribution D_1; ties count as mistakes.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields
from typing import Any

from pacboost.boosters.link import Link
from pacboost.errors import DataError, ParameterError
from pacboost.ledgers.counterexample import Counterexample
from pacboost.numerics.checks import positive_whole
from pacboost.numerics.markup import bold, table

MAX_HARD_ROWS = 100
"""Maximum number of rows with small margins in the ledger."""


@dataclass(frozen=True)
class HardRow:
    """A training row with a small margin under the final vote; its label is often wrong."""

    row: int
    """Its position in the rows passed to fit, from 0."""
    label: str
    """Its label; of several labels, the one that the vote contradicts most."""
    margin: float
    """Its normalised margin: below 0 if the vote contradicts the label, -1 if all rules do."""
    wrong: float
    """The share of the votes of rules that are wrong on it."""


@dataclass(frozen=True)
class Refill:
    """Measurements of one new sample in boosting by filtering.

    The vote of the first ``rounds`` rounds scores all of its examples.
    """

    number: int
    rounds: int
    draws: int
    fresh: int
    """Number of them that were never used before, not even to choose bins; for a source in blocks,
    the number of additional rows, drawn over all blocks, that were scored to test the vote."""
    accepted: int
    scale: float
    """An example of weight w was accepted with probability min(1, w/scale)."""
    mean: float
    """μ: the mean weight of the fresh examples; if there are none, of the examples not used for
    learning; and if there are none of those either, of all examples."""
    lower: float
    upper: float
    """A confidence interval for μ; all intervals of a run hold together, except with a probability
    of at most the sum of their ``delta``."""
    error: float
    """Progressive error: the error on the same examples, scored before learning from them."""
    error_upper: float
    """Upper bound on the error: the smaller of the factor of the booster times ``upper`` and the
    upper end of an interval for the mistakes; 1 if the examples are not a random draw."""
    loss: float
    """Progressive log loss of the same examples."""
    delta: float
    """Failure probability of the test: half of it for μ, half for the mistakes."""
    smoothness: float
    """Largest ratio of the weight of an example to its weight under the distribution: 1/μ, or a
    bound on it if all draws had weight 0."""
    again: int = 0
    """Number of examples that had been drawn before."""
    tested: int = 0
    """Number of additional draws that tested the edge of the learned rule, if any."""
    mistakes: int = field(kw_only=True)
    """Number of the same examples on which the vote was wrong or tied."""
    seconds: float = 0.0

    @property
    def acceptance(self) -> float:
        """The share of draws that were accepted."""
        return self.accepted / self.draws if self.draws else 0.0


# Bytes of models are compared between machines and numbers of threads, which take other times.
UNCOMPARED = ("rule", "seconds")
"""Fields of a round that may differ between equal runs: texts with column names, and times."""

ROUNDS_SHOWN = 5
"""Number of first rounds, and of last rounds, that a notebook shows."""


def shown(label: str) -> Any:
    """Declare a number that only some rounds have; reports show it under its label.

    Rounds without it leave it out of files, so that the digests of other runs stay as they are.
    """
    return field(default=None, metadata={"label": label})


@dataclass(frozen=True)
class Round:
    """Measurements of one round t."""

    number: int
    error: float
    """Weighted error of the rule under D_t, after negating the rule if it was above 1/2."""
    edge: float
    """1 - 2·error: the correlation of the rule with the labels under D_t."""
    vote: float
    """The vote of the rule; if each cell has a vote, the largest in absolute value."""
    normaliser: float
    """Z_t = Σ D_t(i) exp(-vote·y_i h(x_i)), for the final vote; for potentials other than the
    exponential, the factor of the round on their mean; 1 in boosting by filtering."""
    training_error: float
    """Share of the sample (under D_1) on which the vote so far is wrong or tied."""
    effective_size: float
    """1 / Σ D_t(i)²: the number of equally weighted rows with the same concentration as D_t."""
    weight: int
    """The sum of the whole-number weights of D_t."""
    memory: list[float]
    """State of the booster, besides votes and margins, that continuing from here requires."""
    rule: str
    seconds: float
    validation: float | None = None
    """The evaluation metric on validation rows, if any."""
    margin: float | None = shown("margin")
    gap: float | None = shown("gap")
    """Upper bound on how much any vote improves the margin, if the learner finds the best rules."""


UNUSED = (
    "revised", "hard", "vote_digest", "counterexample", "asked", "asked_to_certify", "price",
)  # fmt: skip
"""Fields of a ledger that ``to_dict`` leaves out where they are empty."""

LABELS = {f.name: str(f.metadata["label"]) for f in fields(Round) if "label" in f.metadata}
"""The numbers that only some rounds have, and their labels in reports."""


@dataclass
class Ledger:
    """The record of one run."""

    booster: str
    potential: str
    learner: str
    rows: int
    classes: int
    weighted: bool
    """Whether the user passed weights of rows."""
    plain_votes: bool
    """Whether every vote is ½ ln((1 - error)/error), unscaled and uncapped."""
    factor: float = 1.0
    """The training error is at most this times ∏ Z_t: 1 for two classes, K/2 for pairs of row and
    class (K if the potential is not convex), log₂ K for softmax."""
    multiclass: str = ""
    """The method for more than two classes; empty for two."""
    cells: bool = False
    """Whether each cell has a vote; otherwise ``vote`` is that of the rule."""
    metric: str = ""
    """Name of the metric on validation rows, if any."""
    vc_dimension: int | None = None
    log_size: float | None = None
    stopped: str = ""
    rounds: list[Round] = field(default_factory=list)

    link: str = Link.NONE
    """How scores become predictions, in a regression; empty for classes."""
    several_labels: bool = False
    """Whether a row may have several labels; rates are then of pairs of row and label."""
    refills: list[Refill] = field(default_factory=list)
    """The samples drawn in boosting by filtering; rates of rounds then refer to the sample of
    that round, and ``rows`` counts all draws."""
    revised: bool = False
    """Whether later rounds changed earlier votes; the recorded votes are the final ones."""
    hard: list[HardRow] = field(default_factory=list)
    """The rows with the smallest margins under the final vote, in increasing order."""
    vote_digest: str = ""
    """A fingerprint of the final rules and votes (hypotheses/vote_digest.py)."""
    asked: int = 0
    """Number of labels that an example oracle was asked for, those that certify included."""
    asked_to_certify: int = 0
    """Number of them that were plain draws, set apart for the certificate."""
    price: float = 0.0
    """The price of a label; 0 if none was named."""
    counterexample: Counterexample | None = None
    """Weighted rows under which no rule has the promised edge, if an edge was promised in vain."""

    def __len__(self) -> int:
        return len(self.rounds)

    def __repr__(self) -> str:
        return (
            f"Ledger(booster={self.booster!r}, learner={self.learner!r}, rows={self.rows}, "
            f"rounds={len(self)})"
        )

    @property
    def cost(self) -> float:
        """The price of all labels that were asked for."""
        return self.asked * self.price

    @property
    def regression(self) -> bool:
        """Whether numbers were predicted, so that ``training_error`` is a mean loss."""
        return self.link != Link.NONE

    def log_products(self) -> Iterator[float]:
        """Yield ln ∏ Z_s after each round."""
        total = 0.0
        for entry in self.rounds:
            total += math.log(entry.normaliser)
            yield total

    def columns(self) -> dict[str, list[Any]]:
        """Return all rounds as columns, with the product bound in its three forms.

        ``bound`` is ∏ Z_t times ``factor``. ``bound_errors`` = ∏ 2√(error(1 - error)) and
        ``bound_edges`` = exp(-½ Σ edge²) are the forms of textbooks; they hold only for votes that
        are neither scaled nor capped, and are None otherwise.
        """
        table: dict[str, list[Any]] = {
            f.name: [getattr(entry, f.name) for entry in self.rounds] for f in fields(Round)
        }
        table["bound"] = [
            # exp(709) is the largest double, and a bound above 1 says nothing anyway
            self.factor * math.exp(min(product, 700.0))
            for product in self.log_products()
        ]
        table["bound_errors"] = self._form(lambda e: 0.5 * math.log1p(-(e.edge**2)))
        table["bound_edges"] = self._form(lambda e: -0.5 * e.edge**2)
        return table

    def shown(self) -> dict[str, list[float | None]]:
        """Return the numbers that only some rounds have, by their labels."""
        table = {
            label: [getattr(entry, name) for entry in self.rounds] for name, label in LABELS.items()
        }
        return {label: values for label, values in table.items() if set(values) != {None}}

    def _form(self, log_factor: Callable[[Round], float]) -> list[float | None]:
        if not self.plain_votes:
            return [None] * len(self.rounds)
        total, form = 0.0, []
        for entry in self.rounds:
            # a rule without mistakes has the product 0, while its capped vote has the
            # Z that was measured
            total += log_factor(entry) if entry.edge < 1 else math.log(entry.normaliser)
            form.append(math.exp(total))
        return list(form)

    def hardest(self, k: int = 10) -> list[HardRow]:
        """Return the k rows with the smallest margins: outliers, and suspected label errors."""
        n_rows = positive_whole("k", k)
        if not self.hard:
            raise DataError(f"the ledger lists no hard rows: {self._why_none_is_hard()}")
        if n_rows > len(self.hard) and self.rows > len(self.hard):
            raise ParameterError(
                f"k is {k}, but the ledger lists the {len(self.hard)} hardest rows; "
                "margins(X, y) of the classifier returns all margins"
            )
        return self.hard[:n_rows]

    def _why_none_is_hard(self) -> str:
        if self.refills:
            return (
                "boosting by filtering does not keep its rows. Call margins(X, y) of the classifier"
            )
        if self.regression:
            return "a regression has no margins. Compare predict(X) with y"
        if not self.rounds:
            return "the vote is empty"
        return "this kind of fit lists none. Call margins(X, y) of the classifier"

    def _repr_html_(self) -> str:
        """Show the first and the last rounds as an HTML table."""
        shown = self.rounds
        if len(shown) > 2 * ROUNDS_SHOWN:
            shown = [*shown[:ROUNDS_SHOWN], *shown[-ROUNDS_SHOWN:]]
        lines = [
            [f"{e.number:,}", f"{e.edge:.4f}", f"{e.normaliser:.4f}", f"{e.training_error:.4f}"]
            for e in shown
        ]
        head = f"{len(self):,} rounds of {self.booster} with {self.learner} on {self.rows:,} rows"
        heads = ["round", "edge", "Z", "training error"]
        return bold(head) + table(heads, lines) + bold(f"Stopped: {self.stopped or 'not yet'}.")

    def to_frame(self, backend: str = "pandas") -> Any:
        """Return all rounds as a data frame of pandas, polars or pyarrow."""
        # here, since most programs never ask for a frame
        import narwhals as nw

        return nw.from_dict(self.columns(), backend=backend).to_native()  # type: ignore[arg-type]

    def to_dict(self) -> dict[str, Any]:
        """Return the ledger as objects that JSON supports, without unused fields."""
        content = dict(vars(self))
        for name in ("rounds", "refills", "hard"):  # asdict would copy them number by number
            content[name] = [dict(vars(entry)) for entry in content[name]]
        # left out where unused, so that ledgers of runs without them keep their digest
        if self.counterexample is not None:
            content["counterexample"] = self.counterexample.to_dict()
        for name in UNUSED:
            if not content[name]:
                del content[name]
        for entry in content["rounds"]:
            for name in LABELS:
                if entry[name] is None:
                    del entry[name]
        return content

    def to_json(self) -> str:
        """Return the ledger as JSON text."""
        return json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False)

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> Ledger:
        """Create a ledger from the result of ``to_dict``."""
        try:
            rounds = [Round(**entry) for entry in content["rounds"]]
            refills = [Refill(**entry) for entry in content["refills"]]
            hard = [HardRow(**entry) for entry in content.get("hard", [])]
            parts: dict[str, Any] = {"rounds": rounds, "refills": refills, "hard": hard}
            if "counterexample" in content:
                parts["counterexample"] = Counterexample.from_dict(content["counterexample"])
            return cls(**{**content, **parts})
        except (KeyError, TypeError) as problem:
            raise DataError(f"this is not a ledger: {problem}") from problem

    @classmethod
    def from_json(cls, text: str) -> Ledger:
        """Create a ledger from the result of ``to_json``."""
        return cls.from_dict(json.loads(text))

    def core(self) -> dict[str, Any]:
        """Return the part that equal runs share: all fields but times and texts."""
        content = self.to_dict()
        for entry in content["rounds"]:
            # equal runs under other column names, and on another day, have one digest
            for name in UNCOMPARED:
                del entry[name]
        for entry in content["refills"]:
            del entry["seconds"]
        return content

    def digest(self) -> str:
        """Return a fingerprint of ``core``."""
        text = json.dumps(self.core(), sort_keys=True, allow_nan=False)
        return hashlib.sha256(text.encode()).hexdigest()
