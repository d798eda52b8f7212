"""Whether the numbers of a file can be those of a fit, so that nothing fails on them later.

``fields`` and ``records`` check kinds and lengths. Here the record of the run and the certificate
are checked for what their numbers mean, and all that is said of them in words is made once: a file
that loads can be reported on, verified and saved again.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pacboost.bounds import estimates, training
from pacboost.bounds.certificate import Certificate
from pacboost.bounds.held_out import HeldOut
from pacboost.errors import NotCertified
from pacboost.ledgers.ledger import Ledger, Round
from pacboost.models.file.fields import LARGEST

if TYPE_CHECKING:
    from pacboost.bounds.coverage import IntervalRule, SetRule

MOST_ROWS = 2**62
COMMITTEES = ("three_way", "three_learners", "majority_of", "subsampled", "bagged")


def check_ledger(ledger: Ledger, classes: int) -> None:
    """Refuse a record that no run could have left."""
    _within("ledger.rows", ledger.rows, 0, MOST_ROWS)
    _within("ledger.classes", ledger.classes, 1, MOST_ROWS)
    _within("ledger.factor", ledger.factor, 0, LARGEST)
    for name in ("vc_dimension", "log_size"):
        value = getattr(ledger, name)
        if value is not None:
            _within(f"ledger.{name}", value, 0, LARGEST)
    if classes == 0 and (not ledger.regression or ledger.booster in COMMITTEES):
        raise ValueError(f"there are no classes, but {ledger.booster!r} names classes")
    for place, entry in enumerate(ledger.rounds):
        _check_round(f"ledger.rounds[{place}]", entry, ledger)
    for place, refill in enumerate(ledger.refills):
        _check_numbers(f"ledger.refills[{place}]", vars(refill))
    for place, hard in enumerate(ledger.hard):
        _check_numbers(f"ledger.hard[{place}]", vars(hard))
    ledger.columns()
    try:
        training.product_bound(ledger)
    except NotCertified:
        return


def check_certificate(
    certificate: Certificate | None, held_out: HeldOut | None, names: Sequence[str]
) -> None:
    """Refuse a certificate that nothing can be said about."""
    if certificate is None:
        return
    _within("certificate.value", certificate.value, 0, LARGEST)
    _within("certificate.size", certificate.size, 0, MOST_ROWS)
    if not 0 <= certificate.delta < 1:
        raise ValueError(f"certificate.delta is {certificate.delta!r:.40}; it must lie in [0, 1)")
    _check_numbers("certificate.inputs", certificate.inputs)
    _check_numbers("certificate.details", certificate.details)
    str(certificate)
    estimates.in_words(certificate, held_out, names)
    estimates.next_step(certificate, held_out)


def check_coverage(rule: SetRule | IntervalRule | None, classes: int) -> None:
    """Refuse sets or intervals that do not go with the classes of the model."""
    if rule is None:
        return
    groups = len(getattr(rule, "groups", ()))
    allowed = (groups,) if groups else (1, classes)
    if hasattr(rule, "score") != bool(classes) or len(rule.cutoffs) not in allowed:
        raise ValueError(f"the sets or intervals are not those of a model of {classes} classes")


def _check_round(where: str, entry: Round, ledger: Ledger) -> None:
    _check_numbers(where, vars(entry))
    exponential = ledger.potential in ("exponential", "projected")
    _within(f"{where}.weight", entry.weight, 1 if exponential else 0, MOST_ROWS)
    if not entry.normaliser > 0:
        raise ValueError(f"{where}.normaliser is {entry.normaliser!r}; it must be above 0")
    if ledger.plain_votes and abs(entry.edge) > 1:
        raise ValueError(f"{where}.edge is {entry.edge!r}; it must lie in [-1, 1]")
    if not ledger.regression:
        _within(f"{where}.training_error", entry.training_error, 0, 1 + 1e-9)
    for name in ("effective_size", "seconds"):
        _within(f"{where}.{name}", getattr(entry, name), 0, LARGEST)


def check_numbers(where: str, entries: Sequence[Any]) -> None:
    """Refuse records that hold numbers which no run has left."""
    for place, entry in enumerate(entries):
        _check_numbers(f"{where}[{place}]", vars(entry))


def _check_numbers(where: str, values: Mapping[str, Any]) -> None:
    for name, value in values.items():
        for number in value if isinstance(value, list) else (value,):
            if isinstance(number, int | float):
                _within(f"{where}.{name}", number, -LARGEST, LARGEST)


def _within(where: str, value: float, least: float, most: float) -> None:
    if not (math.isfinite(value) and least <= value <= most):
        raise ValueError(f"{where} is {value!r:.40}; it must lie in [{least:g}, {most:g}]")
