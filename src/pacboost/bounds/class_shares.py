"""Bounds on the error where classes will have other shares than among the certifying rows.

If only the shares q_c of the classes change, R ≤ Σ q_c u_c, where u_c bounds the error of class c
at its part of delta (docs/proofs/shift.md).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pacboost.bounds import measured, wording
from pacboost.bounds.certificate import Certificate
from pacboost.bounds.family import Family
from pacboost.bounds.rates import Parts, rate_upper, read_parts
from pacboost.bounds.registry import bound
from pacboost.bounds.rounding import outward
from pacboost.bounds.shift import PROOF
from pacboost.errors import NotCertified, ParameterError
from pacboost.numerics.percent import percent_digits

SUM_SLACK = 1e-9


def _shares_in_words(inputs: Mapping[str, Any], who: str) -> str:
    boxes = _read_boxes(inputs["shares"])
    if all(box == (0, 1) for box in boxes.values()):
        classes = wording.listed([*boxes], "classes")
        of_answers = f" among {wording.ANSWERED}" if wording.ANSWERED in who else ""
        return f"whatever the shares of {classes} are{of_answers}, if there are no others"
    if len(boxes) > wording.MAX_NAMES_LISTED:
        return f"if the shares of the {len(boxes)} classes are those that were given"
    shares = [
        " to ".join(percent_digits(end, 12) for end in dict.fromkeys(b)) for b in boxes.values()
    ]
    named = [f"{share} are of class {name!r}" for share, name in zip(shares, boxes, strict=True)]
    return "if " + " and ".join(", ".join(part) for part in (named[:-1], named[-1:]) if part)


@bound(
    "shift.shares_upper",
    theorem="R ≤ max Σ q_c u_c over the shares q, u_c = BinInv(k_c, n_c, delta/(claims·classes))",
    reference=f"{measured.CLOPPER}; {PROOF}",
    condition=_shares_in_words,
    again=lambda stored, _: measured.made_again(stored),
    of=("measure",),
    measures=("error",),
)
def shares_upper(
    parts: Parts, shares: Mapping[str, Sequence[float]], delta: float, claims: int = 1
) -> float:
    """Bound the error if the shares of the classes lie within given limits.

    ``parts`` counts mistakes and rows of each class; ``shares`` holds the smallest and the
    largest share of each class. The largest mean of the bounds takes the smallest shares first and
    gives the rest to the classes with the largest bounds.

    >>> round(shares_upper([[3, 100], [5, 50]], {"a": [0.4, 0.4], "b": [0.6, 0.6]}, 0.05), 6)
    0.164952
    """
    counted, boxes = read_parts(parts), list(_read_boxes(shares).values())
    if len(counted) != len(boxes):
        raise ParameterError(
            f"{len(boxes)} classes have shares, but {len(counted)} have rows", parameter="shares"
        )
    errors = [rate_upper(k, n, delta, claims * len(counted)) for k, n in counted]
    value, rest = 0.0, max(0.0, 1 - sum(low for low, _ in boxes))
    # a linear function over a box with a fixed sum: filling up the largest errors first is exact
    for error, (low, high) in sorted(zip(errors, boxes, strict=True), reverse=True):
        extra = min(rest, high - low)
        value, rest = value + (low + extra) * error, rest - extra
    return outward(value + rest * max(errors))  # shares may lack a little to a sum of 1


def _read_boxes(shares: Mapping[str, Sequence[float]]) -> dict[str, tuple[float, float]]:
    """Return the ends of the shares; refuse shares that no distribution has."""
    try:
        boxes = {name: (float(low), float(high)) for name, (low, high) in shares.items()}
    except (AttributeError, TypeError, ValueError) as problem:
        raise ParameterError(
            f"shares is {shares!r:.80}; each class needs one number, or two ({problem})",
            parameter="shares",
        ) from problem
    for name, (low, high) in boxes.items():
        if not 0 <= low <= high <= 1:
            raise ParameterError(
                f"the share of {name!r} is {low:g} to {high:g}; it is within 0 to 1",
                parameter="shares",
            )
    smallest, largest = (sum(box[end] for box in boxes.values()) for end in (0, 1))
    if smallest > 1 + SUM_SLACK or largest < 1 - SUM_SLACK:
        between = f"{smallest:.6g}" + (f" to {largest:.6g}" if smallest != largest else "")
        raise ParameterError(
            f"the shares of all classes sum to {between}; together they are 1", parameter="shares"
        )
    return boxes


def shares_certificate(
    family: Family, shares: Any, classes: Iterable[Any], models: int
) -> Certificate:
    """Certify the error for other shares of the classes, which are the groups of the family.

    ``shares`` is "any", or maps each class to its share, or to its smallest and largest share.
    """
    rows = {str(certificate.details["group"]): certificate for certificate in family}
    labels = {label: str(label) for label in classes}
    names = dict.fromkeys([*rows, *labels.values()])
    first = family.certificates[0]
    if isinstance(shares, str) and shares == "any":
        shares = dict.fromkeys(names, (0.0, 1.0))
    elif "missing_abstain" in first.details:
        raise NotCertified(
            "some rows have no answer, and the shares of the classes among answered examples are "
            "not those among all: give missing='wrong', or shares 'any'"
        )
    if not isinstance(shares, Mapping):
        raise ParameterError(
            f"shares is {shares!r}; it is 'any', or a mapping of classes to shares",
            parameter="shares",
        )
    share_ends = {
        labels.get(name, str(name)): box if isinstance(box, tuple | list) else (box, box)
        for name, box in shares.items()
    }
    if share_ends.keys() != names.keys():
        raise ParameterError(
            f"shares names {', '.join(map(repr, share_ends))}; the classes are "
            f"{', '.join(map(repr, names))}, and each has to be named, with 0 if there is none",
            parameter="shares",
        )
    boxes = _read_boxes(share_ends)
    if missing := [name for name, (_, high) in boxes.items() if name not in rows and high > 0]:
        raise NotCertified(f"there are no rows of class {missing[0]!r}, whose share is above 0")
    parts = [[int(part.inputs["k"]), int(part.inputs["n"])] for part in rows.values()]
    ends = {name: [*boxes[name]] for name in rows}
    certificate = measured.certificate(
        "error",
        "shift.shares_upper",
        {"parts": parts, "shares": ends, "delta": family.delta, "claims": models},
        size=sum(n for _, n in parts),
        sample=first.sample,
        unit="classes",
    )  # fmt: skip
    # The first assumption, that rows are like new examples, is the one that shares replace.
    certificate = certificate.assuming(*first.assumptions[1:])
    about = {name: first.details[name] for name in wording.ABOUT_ROWS if name in first.details}
    return replace(certificate.detailed(about), rows_checked=first.rows_checked)
