"""HTML and SVG from Python: elements whose text is escaped unless it is markup already."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence


class Markup(str):
    """Text that is HTML and need not be escaped."""

    __slots__ = ()


Child = str | Iterable[str] | None
Attribute = str | float | bool | None

VOID = frozenset({"meta", "link", "input", "br"})


def tag(name: str, *children: Child, **attributes: Attribute) -> Markup:
    """Make an element; plain strings in it are escaped, ``class_`` stands for class.

    >>> tag("p", "a < b", class_="note", aria_hidden="true", title=None)
    '<p class="note" aria-hidden="true">a &lt; b</p>'
    """
    written = "".join(_attribute(key, value) for key, value in attributes.items())
    if name in VOID:
        return Markup(f"<{name}{written}>")
    return Markup(f"<{name}{written}>{together(*children)}</{name}>")


def together(*children: Child) -> Markup:
    """Put pieces one after the other, and escape those that are not markup.

    >>> together("1 < 2", None, tag("b", "!"))
    '1 &lt; 2<b>!</b>'
    """
    parts: list[str] = []
    for child in children:
        if child is None:
            continue
        if isinstance(child, str):
            parts.append(child if isinstance(child, Markup) else html.escape(child))
        else:
            parts.append(together(*child))
    return Markup("".join(parts))


def table(
    head: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    caption: str | None = None,
    words: Sequence[int] = (0,),
    class_: str = "",
) -> Markup:
    """Make a table with a head; columns in ``words`` hold words, the others numbers."""
    kinds = ["words" if k in words else "number" for k in range(len(head))]
    top = tag("tr", (tag("th", c, scope="col", class_=kind) for c, kind in zip(head, kinds)))  # noqa: B905
    body = (
        tag("tr", (tag("td", c, class_=kind) for c, kind in zip(row, kinds, strict=True)))
        for row in rows
    )
    own = None if caption is None else tag("caption", caption)
    inner = tag("table", own, tag("thead", top), tag("tbody", body), class_=class_ or None)
    return tag("div", inner, class_="scroll", tabindex="0", role="region", aria_label=caption)


def numbers(summary: str, content: Markup) -> Markup:
    """Hide a table behind a line that opens it: what a figure shows, as numbers."""
    return tag("details", tag("summary", summary), content, class_="numbers")


def short(value: float) -> str:
    """Write a length or a place of a drawing with two decimals at most.

    >>> short(12.0), short(0.1234), short(-0.001)
    ('12', '0.12', '0')
    """
    said = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if said == "-0" else said


def _attribute(key: str, value: Attribute) -> str:
    if value is None or value is False:
        return ""
    name = key.rstrip("_").replace("_", "-")
    if value is True:
        return f" {name}"
    said = short(value) if isinstance(value, float) else str(value)
    return f' {name}="{html.escape(said)}"'
