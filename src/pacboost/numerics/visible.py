"""Text of strangers, such as labels and names of columns, made safe to print.

A terminal obeys control characters: text from a file could move the cursor, change colours or the
title, or hide what follows. They are replaced by pictures of themselves.
"""

from __future__ import annotations

import re

_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""How a text begins that a spreadsheet would run as a formula."""


def visible(text: str) -> str:
    """Replace control characters, but not line breaks and tabs; others stay as they are.

    >>> visible("a" + chr(27) + "[31mb")
    'a␛[31mb'
    """
    return text if text.isprintable() else _CONTROLS.sub(_picture, text)


def _picture(found: re.Match[str]) -> str:
    """Give the picture that Unicode has of a control character; others become one sign."""
    code = ord(found[0])
    if code < 0x20:
        return chr(0x2400 + code)
    return "\u2421" if code == 0x7F else "\ufffd"


def guarded(cell: object) -> object:
    """Put an apostrophe before text that a spreadsheet would run as a formula.

    Numbers stay as they are, also where they are written as text, and so do single signs.

    >>> guarded("=1+1"), guarded("a-b"), guarded(-1.5), guarded("-1.5"), guarded("+")
    ("'=1+1", 'a-b', -1.5, '-1.5', '+')
    """
    if not isinstance(cell, str) or len(cell) < 2 or not cell.startswith(FORMULA):
        return cell
    try:
        float(cell)
    except ValueError:
        return f"'{cell}"
    return cell
