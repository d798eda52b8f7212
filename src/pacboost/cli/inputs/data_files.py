"""Files of rows on the command line: their options, and the standard input as "-"."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pacboost.errors import ParameterError
from pacboost.sources.data_file import MISSING, DataFile

STANDARD_INPUT = "-"
TABS = ("\\t", "tab")


def data_file(path: Path, given: Mapping[str, Any]) -> DataFile:
    """Make a file of rows from its path and the options that say how it is written.

    >>> data_file(Path("rows.csv"), {"sep": "tab", "missing": ("none", "-99")}).sep
    '\\t'
    """
    content = sys.stdin.buffer.read() if str(path) == STANDARD_INPUT else None
    return DataFile(
        path,
        sep=separator(given.get("sep")),
        encoding=given.get("encoding"),
        missing=missing_words(given.get("missing") or ()),
        skip_unlabelled=bool(given.get("skip_unlabelled")),
        day_first=given.get("dayfirst"),
        content=content,
    )


def missing_words(words: tuple[str, ...]) -> frozenset[str]:
    """Give the words that count as missing: the default ones, or those given and empty cells."""
    return frozenset({"", *(word.strip().lower() for word in words)}) if words else MISSING


def separator(asked: str | None) -> str | None:
    """Check what separates cells."""
    if asked is None:
        return None
    asked = "\t" if asked.lower() in TABS else asked
    if len(asked) != 1 or asked in '"\r\n':
        raise ParameterError(f"--sep is {asked!r}; it has to be one character, or tab")
    return asked
