"""The status of a monitor, as numbers and as sentences."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from pacboost.bounds.rounding import confidence
from pacboost.numerics.markup import bold, paragraph
from pacboost.numerics.percent import percent, percent_above, percent_below, percent_digits


@dataclass(frozen=True)
class DriftStatus:
    """The result of comparing new rows, without labels, with reference rows."""

    rows: int
    compared: int
    left: int | None
    """Number of unused reference rows; None if they were not passed after loading a file."""
    capital: float
    drifted_at: int | None
    columns: Mapping[str, float]
    rules: tuple[str, ...]


@dataclass(frozen=True)
class MonitorStatus:
    """The error so far, whether the certificate is refuted, and whether something has changed."""

    rows: int
    mistakes: int
    error: float | None
    """The share of mistakes among the labelled rows; None if there are none."""
    lower: float
    upper: float
    """Interval of the mean error of all rows so far, which holds at every moment at once."""
    certified: float
    delta: float
    log_capital: float
    refuted_at: int | None
    run_length: int
    detector: float
    sounded_at: int | None
    sounded_last: int | None
    sounded: int
    drift: DriftStatus | None

    @property
    def alarm(self) -> bool:
        """True if the certificate is refuted, the detector has sounded, or rows have drifted."""
        drifted = self.drift is not None and self.drift.drifted_at is not None
        return self.refuted_at is not None or self.sounded > 0 or drifted

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain objects that JSON knows."""
        content = asdict(self)
        if content["drift"] is not None:
            content["drift"]["rules"] = list(content["drift"]["rules"])
        return {"alarm": self.alarm, "sentences": self.sentences, **content}

    @property
    def sentences(self) -> list[str]:
        """The status in sentences; those that report an alarm begin with ALARM."""
        return [
            f"ALARM: {text[:1].lower()}{text[1:]}" if alarm else text
            for text, alarm in self.statements()
        ]

    def statements(self) -> list[tuple[str, bool]]:
        """Return all sentences, each with True if it reports an alarm."""
        sentences = [(self._error(), False)]
        if self.rows:
            sentences.append((self._certificate(), self.refuted_at is not None))
            sentences.append((self._detector(), self.sounded > 0))
        if self.drift is not None:
            first, *others = _drift(self.drift, self.delta)
            sentences.append((first, self.drift.drifted_at is not None))
            sentences += [(sentence, False) for sentence in others]
        return sentences

    def _error(self) -> str:
        if self.error is None:
            return "No labelled rows have come in yet."
        share = percent(self.error, 2)
        return (
            f"{self.mistakes:,} mistakes on {self.rows:,} labelled rows ({share}): "
            f"the mean error so far lies between {percent_below(self.lower)} and "
            f"{percent_above(self.upper, 2)} ({confidence(self.delta)} confidence, at all moments "
            "at once)."
        )

    def _certificate(self) -> str:
        claim = f"error at most {percent_digits(self.certified, 4)}"
        if self.refuted_at is None:
            # the exponential of more than 709 overflows; by then the alarm has sounded long ago
            capital = math.exp(min(self.log_capital, 700.0))
            return (
                f"The certificate ({claim}) is not refuted; evidence against the "
                f"certificate: {capital:.2g} (alarm at {1 / self.delta:.4g})."
            )
        return (
            f"The certificate ({claim}) was refuted at labelled row {self.refuted_at:,}. "
            "If the certificate is true, the chance that this alarm ever sounds is at most "
            f"{percent_digits(self.delta, 4)}."
        )

    def _detector(self) -> str:
        rate = (
            f"while the error stays at most {percent_digits(self.certified, 4)}, it sounds after "
            f"{self.run_length:,} rows on average, or later"
        )
        # a mean run length, no probability: a detector that runs for ever sounds at last
        if not self.sounded:
            return f"The change detector has not sounded ({rate})."
        times = "once" if self.sounded == 1 else f"{self.sounded:,} times"
        last = "" if self.sounded == 1 else f", and last at row {self.sounded_last:,}"
        return (
            f"The change detector has sounded {times}, first at labelled row "
            f"{self.sounded_at:,}{last} ({rate})."
        )

    def __str__(self) -> str:
        return "\n".join(self.sentences)

    def _repr_html_(self) -> str:
        is_bold = [True, *(alarm for _, alarm in self.statements()[1:])]
        return "".join(
            (bold if strong else paragraph)(sentence)
            for sentence, strong in zip(self.sentences, is_bold, strict=True)
        )


def _drift(drift: DriftStatus, delta: float) -> list[str]:
    sentences = []
    if drift.drifted_at is None:
        sentences.append(
            f"No drift was found in {drift.compared:,} rows: evidence for drift: "
            f"{drift.capital:.2g} (alarm at {1 / delta:.4g})."
        )
    else:
        ahead = list(drift.columns.items())[:3]
        named = ", ".join(f"{name} ({percent(share, 0)})" for name, share in ahead)
        sentences += [
            f"The rows have drifted, as row {drift.drifted_at:,} showed. If they had not, the "
            f"chance that this alarm ever sounds would be at most {percent_digits(delta, 4)}.",
            f"Columns that changed (share of the evidence): {named}.",
            *(f"  {rule}" for rule in drift.rules[:3]),
            "Labelled rows from before the drift can bound the error now: see Monitor.now, or "
            "certify with new rows.",
        ]
    if drift.rows > drift.compared:
        sentences.append(
            f"{drift.rows - drift.compared:,} rows were not compared: every row needs a reference "
            "row that was not used before, and there are no more."
        )
    return sentences
