"""Diffs as pages show them: two lines name the file, hunks begin with ``@@`` alone."""

import re
from collections.abc import Iterator

from tests.markdown import FENCE


def diffs(page: str) -> Iterator[tuple[str, list[str]]]:
    """Return the path and the hunks of each change to a file on a page.

    >>> list(diffs("```diff\\n--- a/x.py\\n+++ b/x.py\\n@@\\n-1\\n+2\\n```\\n"))
    [('x.py', ['-1\\n+2\\n'])]
    """
    for block in FENCE.finditer(page):
        if block[3].strip() == "diff":
            _, *parts = re.split(r"^--- a/(\S+)\n\+\+\+ b/\S+\n", block[4], flags=re.MULTILINE)
            for path, hunks in zip(parts[::2], parts[1::2], strict=True):
                yield path, re.split(r"^@@\n", hunks, flags=re.MULTILINE)[1:]


def applied(source: str, hunks: list[str]) -> str:
    """Return a source with hunks applied; what a hunk replaces stands in the source once.

    >>> applied("1\\n3\\n", [" 1\\n+2\\n"])
    '1\\n2\\n3\\n'
    """
    for hunk in hunks:
        lines = hunk.splitlines()
        old = "".join(f"{line[1:]}\n" for line in lines if line[:1] in (" ", "-", ""))
        new = "".join(f"{line[1:]}\n" for line in lines if line[:1] in (" ", "+", ""))
        assert source.count(old) == 1, f"this is in the file {source.count(old)} times:\n{old}"
        source = source.replace(old, new)
    return source
