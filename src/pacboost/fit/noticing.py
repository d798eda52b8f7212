"""What is noticed about the rows that certify, and said in claims: it changes no count.

Rows may have times, so that later rows are another world. They may equal rows learned from: these
may be copies of one example, or draws that happen to agree.
"""

from __future__ import annotations

from dataclasses import replace

from pacboost.bounds.certificate import Certificate
from pacboost.bounds.wording import HAVE_TIMES, SHARE_BUT_ONE, SHARE_LEARNED, equal_to_learned
from pacboost.errors import InputWarning, warn
from pacboost.samples.same_example import Examples, share_learned, share_repeated


def compared(examples: Examples, learned: object, certifying: object) -> Examples:
    """Warn if certifying rows equal training rows and may be copies; note their share."""
    return _noted(examples, *share_learned(learned, certifying))


def repeated(examples: Examples, X: object) -> Examples:
    """Do the same for rows that are both learned from and certify, as out of bag."""
    return _noted(examples, share_repeated(X), but_one=False)


def _noted(examples: Examples, share: float, but_one: bool) -> Examples:
    if share:
        warn(equal_to_learned(share, but_one=but_one), InputWarning)
    return replace(examples, share_learned=share, but_one=but_one)


def noticed(examples: Examples) -> dict[str, float]:
    """Return the details of a certificate by which its claim says what was noticed."""
    equal = SHARE_BUT_ONE if examples.but_one else SHARE_LEARNED
    details = {HAVE_TIMES: int(examples.have_times), equal: examples.share_learned}
    return {name: value for name, value in details.items() if value}


def counted(certificate: Certificate, examples: Examples | None) -> Certificate:
    """Add to a certificate what is known of its rows: their times, and equal rows."""
    if examples is None:
        return certificate
    certificate = certificate.detailed(noticed(examples))
    if not examples.distinct:
        return certificate
    return certificate.of_distinct_rows().assuming(*examples.assumptions)
