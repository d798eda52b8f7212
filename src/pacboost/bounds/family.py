"""Several claims that hold together: measures, classes, groups, lower and upper ends."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pacboost.bounds import measured, wording
from pacboost.bounds.certificate import Certificate
from pacboost.bounds.measure import POOLED, RATE
from pacboost.bounds.rounding import confidence
from pacboost.bounds.wording import GAP, quantity
from pacboost.errors import NotCertified, ParameterError
from pacboost.numerics.markup import bold, paragraph, table
from pacboost.numerics.percent import percent

HEADS = ["measure", "class", "group", "end", "certified", "seen", "rows"]


@dataclass(frozen=True, repr=False)
class Family:
    """Certificates that hold together, except with probability ``delta``.

    ``family["recall"]`` is the only certificate of a measure, and ``family.of(...)`` lists those
    of a measure, class, group or end. With groups, ``worst`` is the certificate of the
    worst group, and ``gap`` bounds the largest difference between two groups.
    """

    certificates: tuple[Certificate, ...]
    delta: float

    def __iter__(self) -> Iterator[Certificate]:
        return iter(self.certificates)

    def __len__(self) -> int:
        return len(self.certificates)

    def __getitem__(self, measure: str) -> Certificate:
        certificates = self.of(measure=measure)
        if len(certificates) == 1:
            return certificates[0]
        if not certificates:
            names = ", ".join(dict.fromkeys(repr(certificate.of_what) for certificate in self))
            raise KeyError(f"{measure!r} was not certified; {names} were")
        raise ParameterError(
            f"there are {len(certificates)} certificates for {measure!r}; say which one by "
            f"of({measure!r}, positive=…, group=…, end=…)"
        )

    def of(
        self,
        measure: str | None = None,
        *,
        positive: Any = None,
        group: Any = None,
        end: str | None = None,
    ) -> list[Certificate]:
        """Return the certificates of a measure, a class, a group or an end ("lower" or "upper")."""
        names = {"class": positive, "group": group}
        chosen = {name: str(v) for name, v in names.items() if v is not None}
        return [
            certificate
            for certificate in self
            if measure in (None, certificate.of_what)
            and chosen.items() <= certificate.details.items()
            and end in (None, wording.side_of(certificate))
        ]

    @property
    def worst(self) -> Certificate:
        """The certificate of the worst group, class or measure."""
        one = self._one_measure("the worst of them")
        kind = quantity(one)
        higher = kind is not None and kind.higher_is_better
        end = "lower" if higher else "upper"
        certificates = self.of(one, end=end)
        if not certificates:
            raise NotCertified(f"the {end} ends were not certified; leave end out, or set 'both'")
        return (min if higher else max)(certificates, key=lambda certificate: certificate.value)

    @property
    def worst_group(self) -> str:
        """The group whose certificate is the worst."""
        group = self.worst.details.get("group")
        if group is None:
            raise NotCertified("no groups were given; name them by by=")
        return str(group)

    @property
    def gap(self) -> Certificate:
        """A bound on the largest difference between two groups."""
        one = self._one_measure("a gap")
        upper = [each for each in self.of(one, end="upper") if "group" in each.details]
        lower = self.of(one, end="lower")
        if len(upper) < 2 or len(lower) != len(upper):
            raise NotCertified("a gap needs both ends of at least two groups: set end='both'")
        # the ends of all groups hold together already, so that their largest difference costs no
        # further share of delta
        classes = {certificate.details.get("class") for certificate in upper}
        of_rates = all(each.bound in (RATE.upper, POOLED.upper) for each in upper)
        if not of_rates or len(classes) > 1:
            raise NotCertified(f"no gap is certified for {one!r} of {len(classes)} classes")
        pairs, pairs_below = (
            [[int(one.inputs["k"]), int(one.inputs["n"])] for one in ends]
            for ends in (upper, lower)
        )
        if pairs_below != pairs:
            raise NotCertified(
                "the two ends count rows in different ways, because votes of some rows are tied; "
                "drop those rows"
            )
        inputs = {
            "parts": pairs, "delta": self.delta, "claims": upper[0].inputs["claims"],
        }  # fmt: skip
        details: dict[str, Any] = {
            name: v
            for name, v in upper[0].details.items()
            if name in ("class", *wording.ABOUT_ROWS)
        }
        names = [str(certificate.details["group"]) for certificate in upper]
        gap = measured.certificate(
            GAP, "rates.gap_upper", inputs, size=sum(n for _, n in pairs),
            sample=upper[0].sample, of=one, groups=names, **details,
        )  # fmt: skip
        gap = gap.filtered(upper[0].details).assuming(*upper[0].assumptions)
        return gap if upper[0].rows_checked else gap.unchecked()

    def _one_measure(self, what: str) -> str:
        names = {certificate.of_what for certificate in self}
        if len(names) > 1:
            raise ParameterError(
                f"{what} needs certificates of one measure; these are of {sorted(names)}"
            )
        return names.pop()

    def __repr__(self) -> str:
        return f"Family({len(self)} certificates, delta={self.delta:g})"

    def __str__(self) -> str:
        return "\n".join([self.table(), "", self.note])

    def table(self) -> str:
        """Return the claims as lines of text."""
        lines = self.lines()
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        return "\n".join("  ".join(map(str.ljust, line, widths)).rstrip() for line in lines)

    def _repr_html_(self) -> str:
        heads, *lines = self.lines()
        return bold(self.note) + table(heads, lines) + paragraph(" ".join(self.claims))

    @property
    def claims(self) -> list[str]:
        """Every claim as a sentence."""
        return [certificate.claim for certificate in self]

    def lines(self) -> list[tuple[str, ...]]:
        """Return heads and cells of a table of the claims, without empty columns."""
        rows = [
            [
                certificate.of_what,
                str(certificate.details.get("class", "")),
                str(certificate.details.get("group", "")),
                wording.side_of(certificate),
                wording.number_of(certificate, _in_per_cent(certificate)),
                _seen(certificate),
                f"{certificate.size:,}",
            ]
            for certificate in self
        ]
        columns = [column for column in zip(HEADS, *rows, strict=True) if any(column[1:])]
        return list(zip(*columns, strict=True))

    @property
    def note(self) -> str:
        """A sentence about the delta that all claims share."""
        checked = all(certificate.rows_checked for certificate in self)
        new = "" if checked else ", if these rows are new"
        what = dict.fromkeys(words for each in self for words in wording.unanswered(each.details))
        times = any(wording.HAVE_TIMES in certificate.details for certificate in self)
        later = f" {wording.NOT_LATER}." if times else ""
        several = len(self) > 1
        hold = f"All {len(self)} claims hold together" if several else "This claim holds"
        return (
            f"{hold} with {confidence(self.delta)} confidence{new}."
            f"{''.join(f' {words.capitalize()}.' for words in what)}{later}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values for JSON."""
        return {"delta": self.delta, "certificates": [each.to_dict() for each in self]}

    def to_json(self) -> str:
        """Return everything as JSON text."""
        return json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False)

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> Family:
        """Read the result of ``to_dict``."""
        return cls(tuple(map(Certificate.from_dict, content["certificates"])), content["delta"])


def _seen(certificate: Certificate) -> str:
    if "seen" not in certificate.details:
        return ""
    value = float(certificate.details["seen"])
    return percent(value, 2) if _in_per_cent(certificate) else f"{value:.4g}"


def _in_per_cent(certificate: Certificate) -> bool:
    kind = quantity(certificate.of_what)
    return kind is not None and kind.in_per_cent
