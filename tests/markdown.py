"""The pages that people read, taken apart: links, anchors, tables, code and what it printed."""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

HOUSE = Path(__file__).parents[1]
DOCS = HOUSE / "docs"

FENCE = re.compile(r"^( *)(`{3,}|:{3,})(.*?)\n(.*?)^\1\2 *$\n?", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\]\(<?([^)\s>]+)>?(?: \"[^\"]*\")?\)|\b(?:src|srcset|href)=\"([^\"]+)\"")
HEADING = re.compile(r"^#{1,6} +(.+?) *#*$", re.MULTILINE)
MARK = re.compile(r"<!-- (not run|not compared): \S[^>]*-->\s*\Z")
"""Stands before a block, with the reason."""


@dataclass(frozen=True)
class Block:
    """A piece of Python, where it stands, and what the page says that it prints."""

    code: str
    line: int
    printed: str | None


def pages() -> list[Path]:
    """List what is read as text: the front pages, and everything under docs that is not built."""
    front = sorted(HOUSE.glob("*.md"))
    return front + [p for p in sorted(DOCS.rglob("*.md")) if "_build" not in p.parts]


def commands_of_readme() -> list[list[str]]:
    """List the commands that README shows on the files of ``examples``, without "pacboost"."""
    text = (HOUSE / "README.md").read_text(encoding="utf-8")
    block = re.search(r"```\n(pacboost fit examples/.*?)```", text, re.DOTALL)
    assert block is not None
    return [shlex.split(line, comments=True)[1:] for line in block[1].splitlines()]


def prose(text: str) -> str:
    """Leave code out: what looks like a link or a heading in it is none.

    >>> prose("see `a[0](b)` and [there](x.md)")
    'see  and [there](x.md)'
    """
    without = FENCE.sub(lambda match: match[4] if match[2][0] == ":" else "", text)
    return re.sub(r"(`+)[^`].*?\1", "", without)


def anchors(text: str) -> set[str]:
    """Name the headings as Sphinx and GitHub do.

    >>> sorted(anchors("# The `U`-curve, again\\n\\n## Why?\\n\\n## Why?"))
    ['the-u-curve-again', 'why', 'why-1']
    """
    named: list[str] = []
    for heading in HEADING.findall(FENCE.sub("", text)):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        slug = re.sub(r"[^\w\- ]", "", words).strip().replace(" ", "-")
        repeats = sum(1 for other in named if re.fullmatch(rf"{re.escape(slug)}(-\d+)?", other))
        named.append(f"{slug}-{repeats}" if repeats else slug)
    return set(named)


def links(page: Path) -> Iterator[tuple[str, Path, str]]:
    """Return each link within the house: as it is written, the file it means, the heading."""
    for one, other in LINK.findall(prose(page.read_text(encoding="utf-8"))):
        target = one or other
        if not re.match(r"[a-z]+:", target):
            path, _, anchor = target.partition("#")
            yield target, (page.parent / path).resolve() if path else page, anchor


def dead_links(page: Path) -> Iterator[str]:
    """Name the links of a page that lead nowhere."""
    for target, there, anchor in links(page):
        if not there.exists():
            yield f"{page.name}: {target}: there is no such file"
        elif anchor and anchor not in anchors(there.read_text(encoding="utf-8")):
            yield f"{page.name}: {target}: there is no such heading"


def tables(text: str) -> Iterator[list[list[str]]]:
    """Return the tables of a page as rows of cells, the head first."""
    for match in re.finditer(r"(?:^\|.*\|\n)+", text, re.MULTILINE):
        rows = [line.strip("|").split("|") for line in match[0].splitlines()]
        yield [[cell.strip() for cell in row] for row in rows if set("".join(row)) - set("-: ")]


@dataclass(frozen=True)
class Shown:
    """A command that a page shows, and what it says that the command prints, perhaps nothing."""

    command: str
    printed: str


def shown_commands(text: str) -> Iterator[Shown]:
    """Return the commands after ``$`` that are to run: those of pacboost, and ``head``.

    >>> list(shown_commands("```console\\n$ cd examples\\n$ head -1 a.csv\\nx,y\\n```\\n"))
    [Shown(command='head -1 a.csv', printed='x,y\\n')]
    """
    for fence in FENCE.finditer(text):
        mark = MARK.search(text[: fence.start()])
        if fence[3].strip() not in {"", "console"} or (mark and mark[1] == "not run"):
            continue
        for part in re.split(r"^\$ ", fence[4], flags=re.MULTILINE)[1:]:
            command, _, printed = part.partition("\n")
            if command.split()[0] in {"pacboost", "head"}:
                yield Shown(command, printed)


def python_blocks(text: str) -> Iterator[Block]:
    """Return the blocks that are to run, each with the block of text right after it.

    >>> for block in python_blocks("```python\\nprint(2)\\n```\\n\\n```text\\n2\\n```\\n"):
    ...     print(block)
    Block(code='print(2)\\n', line=1, printed='2\\n')
    """
    fences = list(FENCE.finditer(text))
    for fence, after in zip_longest(fences, fences[1:]):
        mark = MARK.search(text[: fence.start()])
        if fence[3].strip() != "python" or (mark and mark[1] == "not run"):
            continue
        printed = None
        if after and after[3].strip() in {"", "text"} and not mark:
            printed = None if text[fence.end() : after.start()].strip() else after[4]
        yield Block(fence[4], text[: fence.start()].count("\n") + 1, printed)
