"""A certificate: a claim, the number in it, and everything needed to check it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from inspect import signature
from typing import TYPE_CHECKING, Any, ParamSpec

from pacboost.bounds import counted_rows, estimates, shift, wording
from pacboost.bounds.certified_number import CertifiedNumber
from pacboost.bounds.registry import BOUNDS, all_bounds, bound_of, name_of
from pacboost.bounds.rounding import confidence
from pacboost.errors import ParameterError
from pacboost.numerics.checks import plain
from pacboost.numerics.markup import bold, facts
from pacboost.numerics.percent import percent

if TYPE_CHECKING:
    from pacboost.ledgers.ledger import Ledger

GROUNDS = (
    "theorem", "reference", "independent_of", "assumptions", "valid_after_looking",
    "of_what",
)  # fmt: skip
VERSION = 2
"""The form of ``to_dict``: since 2, counts are lists of numbers, and no values stand in texts."""
MAX_CHARACTERS_OF_COUNTS = 100
"""Longer inputs, such as the losses of all rows, are not printed; the mean ``seen`` is."""
P = ParamSpec("P")


@dataclass(frozen=True, repr=False)
class Certificate(CertifiedNumber):
    """A claim with its value, its grounds and its assumptions.

    ``delta`` is the probability that the claim fails; 0 for a theorem that always holds. The claim
    is not stored: it is written from ``of_what``, the value and the details (bounds/wording.py).
    """

    def __post_init__(self) -> None:
        if not isinstance(self.sample, Mapping):
            raise ParameterError(f"sample is {self.sample!r:.80}; it holds facts by their names")
        measured = wording.is_measured(self.of_what)
        if not measured and self.of_what not in wording.SUBJECTS:
            allowed = ", ".join(map(repr, wording.SUBJECTS))
            raise ParameterError(f"of_what is {self.of_what!r}; it may be {allowed}, or a measure")
        allowed_kinds = int | float | str | list if measured else int | float
        if not all(isinstance(value, allowed_kinds) for value in self.details.values()):
            raise ParameterError(f"details are {dict(self.details)!r}; they have to be numbers")

    @classmethod
    def by(
        cls, name: str, inputs: Mapping[str, Any], *, delta: float | None = None, **grounds: Any
    ) -> Certificate:
        """Certify by a registered bound; ``grounds`` and ``delta`` replace its defaults."""
        if name not in BOUNDS:
            family, _, function = name.partition(".")
            parts = (other.partition(".") for other in BOUNDS)
            names = ", ".join(other for start, _, other in parts if start == family)
            raise ParameterError(f"bound is {function!r}; there are {names}")
        bound = BOUNDS[name]
        value = bound.compute(**inputs)
        defaults = {ground: getattr(bound, ground) for ground in GROUNDS if ground not in grounds}
        if "sample" not in grounds:
            defaults["sample"] = {}
        if "size" not in grounds:
            defaults["size"] = int(inputs[bound.size])
        chance = float(inputs["delta"]) if delta is None else delta
        return cls(value, chance, inputs=dict(inputs), bound=name, **defaults, **grounds)

    def of(self, ledger_digest: str) -> Certificate:
        """Return the same certificate, tied to a ledger."""
        return replace(self, ledger_digest=ledger_digest)

    def assuming(self, *assumptions: str) -> Certificate:
        """Return the same certificate with further assumptions; those it has are not repeated."""
        new = tuple(text for text in assumptions if text not in self.assumptions)
        return replace(self, assumptions=(*self.assumptions, *new))

    def of_distinct_rows(self) -> Certificate:
        """Return the same certificate with the claim about distinct rows."""
        return self.detailed({wording.DISTINCT_ROWS: 1})

    def repeating_learned(self, share: float) -> Certificate:
        """Return the same certificate that also states the share of rows equal to training rows."""
        return self.detailed({wording.SHARE_LEARNED: share}) if share else self

    def counted_without_weights(self) -> Certificate:
        """Return the same certificate for a classifier that was trained with sample weights."""
        return self.detailed({wording.WITHOUT_WEIGHTS: 1})

    def detailed(self, details: Mapping[str, Any]) -> Certificate:
        """Return the same certificate with more details in its claim, and what they assume."""
        changed = replace(self, details={**self.details, **details})
        return changed.assuming(*wording.assumed_beside(details))

    def unchecked(self) -> Certificate:
        """Return the same certificate for rows that were not compared with the training rows."""
        return replace(self.assuming(wording.UNCHECKED), rows_checked=False)

    def under(self, **move: float) -> Certificate:
        """Certify an error or a rate after a shift of the distribution.

        ``contamination=r``: a share r of new examples comes from anywhere. ``total_variation=r``:
        no event gains or loses more than r. ``ratio=B``: none becomes more than B times as likely.
        ``kl=r`` and ``chi2=r``: the divergence of the new distribution from that of the rows. For
        a rate among some examples (recall, precision, a group) the move is among those examples.

        >>> from pacboost.bounds import holdout
        >>> print(holdout.certificate(3, 100, 0.05).under(contamination=0.02).claim)
        The classifier is wrong on at most 9.42 % of new examples, as long as at most 2 % of them \
are unlike the certified rows.
        """
        return shift.under(self, **move)

    def holds_until(self, goal: float) -> shift.HoldsUntil:
        """Return how large a shift of each kind may be before the bound exceeds a goal.

        >>> from pacboost.bounds import holdout
        >>> until = holdout.certificate(3, 100, 0.05).holds_until(0.1)
        >>> print(until.stays, until.words("contamination"))
        It stays below 10 % as long as at most 2.62 % of new examples are unlike the certified rows
        """
        return shift.holds_until(self, goal)

    def filtered(self, details: Mapping[str, Any]) -> Certificate:
        """Return the same certificate for rows that were kept at random, if ``details`` say how."""
        coins = {name: value for name, value in details.items() if name in wording.BY_RATIO}
        if not coins:
            return self
        moved = {wording.DRAWN: wording.FILTERED}
        assumptions = tuple(moved.get(text, text) for text in self.assumptions)
        return replace(self.detailed(coins), assumptions=assumptions)

    @property
    def claim(self) -> str:
        """The claim, in one sentence written from the numbers."""
        return str(wording.claim(self))

    @property
    def sentence(self) -> str:
        """The claim with its confidence, what was counted, estimates and what to do next."""
        return estimates.in_words(self, *(self.beside or ()))

    @property
    def rows_in_words(self) -> str:
        """Which rows were counted, as text."""
        return counted_rows.words(self)

    @property
    def vacuous(self) -> bool:
        """True if the number says nothing, because every classifier satisfies it."""
        return wording.says_nothing(self)

    def __repr__(self) -> str:
        return (
            f"Certificate({self.of_what!r}, {self.value:.6g}, delta={self.delta:g}, "
            f"bound={self.bound!r}, size={self.size})"
        )

    def __str__(self) -> str:
        lines = [self.sentence, ""]
        lines += [f"  {name:<15} {text}" for name, text in self._facts()]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return bold(self.sentence) + facts(self._facts())

    def _facts(self) -> list[tuple[str, str]]:
        chance = "100 % (it always holds)" if self.delta == 0 else confidence(self.delta)
        later = (
            "valid after looking" if self.valid_after_looking else "not for choosing among models"
        )
        facts = [
            ("bound", f"{self.value:.6g}" + (" (vacuous)" if self.vacuous else "")),
            ("confidence", chance),
            ("theorem", self.theorem),
            ("reference", self.reference),
            ("sample", self.rows_in_words),
            ("size", f"{self.size:,}"),
            ("independent of", self.independent_of),
            ("assumes", "; ".join(self.assumptions) or "nothing"),
            ("use", later),
        ]
        k, n = (self.inputs.get(name) for name in ("k", "n"))
        share = k / n if isinstance(k, int) and isinstance(n, int) and n > 0 else None
        if share is not None and self.of_what in (wording.NEW_EXAMPLES, wording.PERIOD):
            facts.insert(1, ("seen", f"wrong on {k:,} of {n:,} rows ({percent(share)})"))
        seen = {name: value for name, value in self.details.items() if name == "seen"}
        bound = bound_of(self.bound)
        if bound is not None and bound.loose:
            facts.append(("tightness", wording.TIGHTER))
        facts += [
            (name, f"{value:.6g}" if isinstance(value, float) else str(value))
            for name, value in {**self.inputs, **seen}.items()
            if (name, value) not in (("delta", self.delta), ("n", self.size), ("models", 1))
            and not (name == "k" and share is not None)
            and len(str(value)) <= MAX_CHARACTERS_OF_COUNTS
        ]
        return [*facts, ("ledger", self.ledger_digest[:16])] if self.ledger_digest else facts

    def to_json(self) -> str:
        """Return the certificate as JSON text, without the counts in ``beside``."""
        return json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False)

    def to_dict(self) -> dict[str, Any]:
        """Return the certificate as plain values for JSON; the claim is included for readers."""
        return {"version": VERSION, "claim": self.claim, **self.stored()}

    def stored(self) -> dict[str, Any]:
        """Return the values that a file stores: all but the claim and the counts in ``beside``."""
        content = asdict(replace(self, beside=None))
        del content["beside"]
        return {**content, "assumptions": list(self.assumptions)}

    @classmethod
    def from_json(cls, text: str) -> Certificate:
        """Return the certificate from the JSON of ``to_json``."""
        return cls.from_dict(json.loads(text))

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Certificate:
        """Return the certificate from ``to_dict``; its claim is written again."""
        # older forms packed counts into texts, which nothing reads any more
        if content.get("version") != VERSION:
            raise ParameterError(
                f"this certificate has version {content.get('version', 1)!r:.20} of the JSON form; "
                f"version {VERSION} can be read, so certify again with this version of pacboost"
            )
        return cls.from_stored({k: v for k, v in content.items() if k not in ("version", "claim")})

    @classmethod
    def from_stored(cls, content: Mapping[str, Any]) -> Certificate:
        """Return the certificate from ``stored``."""
        return cls(**{**content, "assumptions": tuple(content["assumptions"])})


Maker = Callable[[Certificate, "Ledger"], Certificate]


def certified(bound: Callable[P, float]) -> Callable[P, Certificate]:
    """Return a function that certifies by a registered bound, from its inputs."""
    name = name_of(bound)

    def certificate(*args: P.args, **kwargs: P.kwargs) -> Certificate:
        numbers = signature(bound).bind(*args, **kwargs)
        numbers.apply_defaults()
        return Certificate.by(name, {key: plain(v) for key, v in numbers.arguments.items()})

    return certificate


def from_inputs(stored: Certificate, _: Ledger) -> Certificate:
    """Recompute a certificate from its inputs and the grounds of its bound."""
    return Certificate.by(stored.bound, stored.inputs)


def makers(*kinds: str) -> Mapping[str, Maker]:
    """Return the functions that recompute certificates of some kinds, by the names of bounds."""
    return {
        name: registered.again
        for name, registered in all_bounds().items()
        if registered.again is not None and set(kinds) & set(registered.of)
    }
