"""The ledger: what the loop measured, round by round.

Certificates, reports and pages are functions of the ledger alone; it can be saved and read again
without the data. Rates are under the starting distribution D_1; ties count as mistakes.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from typing import Any

from pacboost.errors import DataError, ParameterError
from pacboost.numerics.checks import positive_whole
from pacboost.numerics.markup import bold, table

# Rows with small margins: they are worth looking at, because their labels are often wrong.

KEPT = 100
"""So many of the hardest rows go into the ledger."""


@dataclass(frozen=True)
class HardRow:
    """What the final vote of a run says about one of its rows."""

    row: int
    """Its number in what was given to fit, counted from 0."""
    label: str
    """What it is said to be; of several labels the one that the vote contradicts most."""
    margin: float
    """Its normalised margin: below 0 where the vote says something else, -1 where all rules do."""
    wrong: float
    """The share of all votes against its label: that of the rules that are wrong on it."""


# What was measured when a new sample was drawn, in boosting by filtering.


@dataclass(frozen=True)
class Refill:
    """One filling of the sample, all of it scored by the vote of the first ``rounds`` rounds."""

    number: int
    rounds: int
    """How many rounds the vote had that did the filtering."""
    draws: int
    """Examples that were looked at and scored."""
    fresh: int
    """How many of them nothing had looked at before, not even to choose bins; of a source in
    blocks, how many rows drawn over all of it were scored besides, to test the vote."""
    accepted: int
    scale: float
    """An example of weight w was kept with chance w/scale, if that is below 1."""
    mean: float
    """μ: the mean weight of the fresh examples; if there are none, of those that were not learned
    from, and if there are none of those either, of all."""
    lower: float
    upper: float
    """A confidence interval for μ: all of a run hold together with the chance that ``delta`` of
    every one of them leaves."""
    error: float
    """Progressive error: of the same examples, scored before anything was learned from them."""
    error_upper: float
    """What the error is at most: the smaller of the factor of the booster times ``upper`` and the
    upper end of an interval for the mistakes; 1 where the examples are no fair draw."""
    loss: float
    """Progressive log loss of the same examples."""
    delta: float
    """The failure probability of the test: half of it is for μ, half for the mistakes."""
    smoothness: float
    """No example weighs more than this many times what it does under the distribution: 1/μ, or
    what is known of it where no draw weighed anything."""
    again: int = 0
    """How many had been drawn before."""
    tested: int = 0
    """How many more were drawn to test the edge of the rule that was learned, if it was."""
    mistakes: int = field(kw_only=True)
    """On how many of the same examples the vote was wrong or tied."""
    seconds: float = 0.0

    @property
    def acceptance(self) -> float:
        """The share of the draws that were kept."""
        return self.accepted / self.draws if self.draws else 0.0


OUTSIDE = ("rule", "seconds")
"""Fields of a round that two equal runs may differ in: words hold column names, clocks differ."""

LOSSES = frozenset({"square", "absolute", "huber", "quantile", "poisson", "gamma", "custom_loss"})
"""Potentials of regression, which are losses."""
LOG_LINK = frozenset({"poisson", "gamma"})
"""Those of them whose scores are logarithms of predictions."""

ROUNDS_SHOWN = 5
"""In a notebook, so many at the beginning and so many at the end."""


@dataclass(frozen=True)
class Round:
    """What the loop measured of one round t."""

    number: int
    error: float
    """Weighted error of the rule under D_t, after negating the rule if it was above 1/2."""
    edge: float
    """1 - 2·error: the correlation of the rule with the labels under D_t."""
    vote: float
    """Its vote; the largest in absolute value where cells have votes of their own."""
    normaliser: float
    """Z_t = Σ D_t(i) exp(-vote·y_i h(x_i)), with the vote it really got; for other potentials than
    the exponential, by how much the round multiplied their mean; 1 in boosting by filtering."""
    training_error: float
    """Share of the sample (under D_1) on which the vote so far is wrong or tied."""
    effective_size: float
    """1 / Σ D_t(i)²: how many equally weighted rows D_t is worth."""
    weight: int
    """The sum of the whole-number weights that D_t was made of."""
    memory: list[float]
    """What the booster needs to go on from here, besides votes and margins."""
    rule: str
    seconds: float
    validation: float | None = None
    """The evaluation metric on validation rows, where there are some."""
    margin: float | None = None
    """The margin after the round, where that is what the booster maximises."""
    gap: float | None = None
    """By how much any vote could exceed it at most, if the learner found the best rules."""


@dataclass
class Ledger:
    """The record of one run."""

    booster: str
    potential: str
    learner: str
    rows: int
    classes: int
    weighted: bool
    """Whether the rows came with weights of their own."""
    plain_votes: bool
    """Whether every vote is ½ ln((1 - error)/error), unscaled and uncapped."""
    factor: float = 1.0
    """The training error is at most this times ∏ Z_t: 1 for two classes, K/2 for pairs of row and
    class (K where the potential is not convex), log₂ K for softmax."""
    multiclass: str = ""
    """How more than two classes were treated; empty for two."""
    cells: bool = False
    """Whether cells have votes of their own; else ``vote`` is that of the whole rule."""
    metric: str = ""
    """What was measured on validation rows, if there were any."""
    vc_dimension: int | None = None
    log_size: float | None = None
    stopped: str = ""
    """Why the run ended."""
    rounds: list[Round] = field(default_factory=list)

    several_labels: bool = False
    """Whether a row may have several labels; rates are then of pairs of row and label."""
    refills: list[Refill] = field(default_factory=list)
    """How the sample was drawn anew, in boosting by filtering; rates of rounds are then of the
    sample of that time, and ``rows`` counts all draws."""
    revised: bool = False
    """Whether later rounds changed the votes of earlier ones; those recorded are the last."""
    hard: list[HardRow] = field(default_factory=list)
    """The rows that the final vote finds hardest, the hardest first; ``hardest`` reads them."""
    vote_digest: str = ""
    """A fingerprint of the rules and votes that the run left (hypotheses/vote.py)."""

    def __len__(self) -> int:
        return len(self.rounds)

    def __repr__(self) -> str:
        """Name the run and its size; ``rounds`` holds the rest."""
        return (
            f"Ledger(booster={self.booster!r}, learner={self.learner!r}, rows={self.rows}, "
            f"rounds={len(self)})"
        )

    @property
    def regression(self) -> bool:
        """Whether numbers were predicted, so that ``training_error`` is a mean loss."""
        return self.potential in LOSSES

    def log_products(self) -> Iterator[float]:
        """ln ∏ Z_s after each round."""
        total = 0.0
        for entry in self.rounds:
            total += math.log(entry.normaliser)
            yield total

    def columns(self) -> dict[str, list[Any]]:
        """Everything as columns, with the product bound in its three forms.

        ``bound`` is ∏ Z_t times ``factor``. ``bound_errors`` = ∏ 2√(error(1 - error)) and
        ``bound_edges`` = exp(-½ Σ edge²) are the forms of textbooks; they hold for plain votes only
        and are None for others.
        """
        table: dict[str, list[Any]] = {
            f.name: [getattr(entry, f.name) for entry in self.rounds] for f in fields(Round)
        }
        table["bound"] = [
            self.factor * math.exp(min(product, 700.0)) for product in self.log_products()
        ]
        table["bound_errors"] = self._form(lambda e: 0.5 * math.log1p(-(e.edge**2)))
        table["bound_edges"] = self._form(lambda e: -0.5 * e.edge**2)
        return table

    def _form(self, log_factor: Any) -> list[float | None]:
        if not self.plain_votes:
            return [None] * len(self.rounds)
        total, form = 0.0, []
        for entry in self.rounds:
            total += log_factor(entry) if entry.edge < 1 else math.log(entry.normaliser)
            form.append(math.exp(total))
        return list(form)

    def hardest(self, k: int = 10) -> list[HardRow]:
        """Return the k rows with the smallest margins: outliers, and suspected label errors."""
        wanted = positive_whole("k", k)
        if not self.hard:
            raise DataError(f"no rows are known to be hard: {self._why_none_is_hard()}")
        if wanted > len(self.hard) and self.rows > len(self.hard):
            raise ParameterError(
                f"k is {k}, but the ledger keeps the {len(self.hard)} hardest rows; "
                "margins(X, y) of the classifier has all"
            )
        return self.hard[:wanted]

    def _why_none_is_hard(self) -> str:
        if self.refills:
            return (
                "the rows were drawn, learned from and forgotten. Ask margins(X, y) of the "
                "classifier for rows at hand"
            )
        if self.regression:
            return "numbers have no margins. Compare predict(X) with y"
        if not self.rounds:
            return "the vote is empty"
        return "this kind of fit lists none. Ask margins(X, y) of the classifier"

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
        """Everything as a data frame of pandas, polars or pyarrow."""
        import narwhals as nw

        return nw.from_dict(self.columns(), backend=backend).to_native()  # type: ignore[arg-type]

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain objects that JSON knows; what is not used is left out."""
        content = dict(vars(self))
        for name in ("rounds", "refills", "hard"):  # asdict would copy them number by number
            content[name] = [dict(vars(entry)) for entry in content[name]]
        for name in ("revised", "hard", "vote_digest"):
            if not content[name]:
                del content[name]
        for entry in content["rounds"]:
            for name in ("margin", "gap"):
                if entry[name] is None:
                    del entry[name]
        return content

    def to_json(self) -> str:
        """Everything as JSON text."""
        return json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False)

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> Ledger:
        """Read what ``to_dict`` wrote."""
        try:
            rounds = [Round(**entry) for entry in content["rounds"]]
            refills = [Refill(**entry) for entry in content["refills"]]
            hard = [HardRow(**entry) for entry in content.get("hard", [])]
            return cls(**{**content, "rounds": rounds, "refills": refills, "hard": hard})
        except (KeyError, TypeError) as problem:
            raise DataError(f"this is not a ledger: {problem}") from problem

    @classmethod
    def from_json(cls, text: str) -> Ledger:
        """Read what ``to_json`` wrote.

        >>> ledger = Ledger("adaboost", "exponential", "stump", 10, 1, False, True)
        >>> Ledger.from_json(ledger.to_json()) == ledger
        True
        """
        return cls.from_dict(json.loads(text))

    def core(self) -> dict[str, Any]:
        """What two equal runs share: everything but clock times and words."""
        content = self.to_dict()
        for entry in content["rounds"]:
            for name in OUTSIDE:
                del entry[name]
        for entry in content["refills"]:
            del entry["seconds"]
        return content

    def digest(self) -> str:
        """A fingerprint of ``core``."""
        text = json.dumps(self.core(), sort_keys=True, allow_nan=False)
        return hashlib.sha256(text.encode()).hexdigest()
