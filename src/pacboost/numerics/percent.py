"""Format shares as per cent, and make foreign text safe to print.

A terminal obeys control characters: text from a file could move the cursor, change colours or the
title, or hide other text. ``visible`` replaces them by printable symbols.
"""

from __future__ import annotations

import math
import re


def percent(share: float, decimals: int | None = None) -> str:
    """Format a measured share; only a share of exactly 1 is 100 %.

    Without ``decimals`` the text has two or three digits, and more if the share is close to 0 or 1.

    >>> percent(0.1234), percent(0.00012), percent(0.99997), percent(1.0), percent(0.0)
    ('12.3 %', '0.012 %', '99.99 %', '100 %', '0 %')
    >>> percent(0.10266, 2)
    '10.27 %'
    """
    if decimals is not None:
        return f"{100 * share:.{decimals}f} %"
    if share < 0:
        return f"−{percent(-share)}"
    if share in (0.0, 1.0):
        return f"{100 * share:.0f} %"
    if 0.9995 <= share < 1:
        return f"{math.floor(10_000 * share) / 100:.2f} %"
    digits = max(1, 1 - math.floor(math.log10(100 * share))) if share < 0.1 else 1
    return f"{100 * share:.{min(digits, 6)}f} %"


def percent_above(bound: float, decimals: int | None = None) -> str:
    """Format an upper bound, rounded up.

    >>> percent_above(0.0406), percent_above(0.00121), percent_above(0.000312), percent_above(1.3)
    ('4.1 %', '0.13 %', '0.032 %', '100 %')
    >>> percent_above(0.116992, 2)
    '11.70 %'
    >>> percent_above(0.07, 2), percent_above(math.nextafter(0.05, 1), 2)
    ('7.00 %', '5.00 %')
    """
    if decimals is not None:
        # A target of 0.07 is 7.00 %, although 10,000 times its float is a little above 700.
        return (
            f"{math.ceil(100 * 10**decimals * bound * (1 - 1e-14)) / 10**decimals:.{decimals}f} %"
        )
    if bound >= 1:
        return "100 %"
    digits = 1 if bound >= 0.01 else min(6, 1 - math.floor(math.log10(100 * max(bound, 1e-6))))
    return f"{math.ceil(100 * 10**digits * bound * (1 - 1e-12)) / 10**digits:g} %"


def percent_below(bound: float) -> str:
    """Format a lower bound, rounded down to two decimals.

    >>> percent_below(0.116992)
    '11.69 %'
    """
    return f"{100 * (int(10_000 * bound) / 10_000):.2f} %"


def percent_digits(share: float, digits: int = 6) -> str:
    """Format a share in significant digits, without trailing zeros.

    >>> percent_digits(0.25), percent_digits(0.001), percent_digits(0.0526, 2)
    ('25 %', '0.1 %', '5.3 %')
    """
    return f"{100 * share:.{digits}g} %"


_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
"""Prefixes of text that a spreadsheet would run as a formula."""


def visible(text: str) -> str:
    """Replace control characters other than line breaks and tabs by printable symbols.

    >>> visible("a" + chr(27) + "[31mb")
    'a␛[31mb'
    """
    return text if text.isprintable() else _CONTROLS.sub(_picture, text)


def _picture(match: re.Match[str]) -> str:
    """Return the Unicode symbol of a control character, or the replacement character."""
    code = ord(match[0])
    if code < 0x20:
        return chr(0x2400 + code)
    return "\u2421" if code == 0x7F else "\ufffd"


def guarded(cell: object) -> object:
    """Put an apostrophe before text that a spreadsheet would run as a formula.

    Numbers, also those written as text, and single characters are unchanged.

    >>> guarded("=1+1"), guarded("a-b"), guarded(-1.5), guarded("-1.5"), guarded("+")
    ("'=1+1", 'a-b', -1.5, '-1.5', '+')
    """
    if not isinstance(cell, str) or len(cell) < 2 or not cell.startswith(FORMULA_STARTS):
        return cell
    try:
        float(cell)
    except ValueError:
        return f"'{cell}"
    return cell
