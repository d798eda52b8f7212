"""Small pieces of HTML for notebooks, with everything escaped."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence


def escape(text: object) -> str:
    """Escape text for HTML, with a non-breaking space before "%".

    >>> escape("< 5 %")
    '&lt; 5\xa0%'
    """
    return html.escape(str(text)).replace(" %", "\xa0%")


def table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table; its first column is aligned left.

    >>> table(["a"], [["<b>"]]).endswith('<td style="text-align:left">&lt;b&gt;</td></tr></table>')
    True
    """
    lines = [_line("th", heads), *(_line("td", row) for row in rows)]
    return f"<table>{''.join(lines)}</table>"


def facts(pairs: Iterable[tuple[str, object]]) -> str:
    """Return a table of names and values without a head; both are aligned left.

    >>> facts([("size", "< 5")]).endswith('<td style="text-align:left">&lt; 5</td></tr></table>')
    True
    """
    style = 'style="text-align:left"'
    lines = (
        f"<tr><th {style}>{escape(name)}</th><td {style}>{escape(value)}</td></tr>"
        for name, value in pairs
    )
    return f"<table>{''.join(lines)}</table>"


def bold(text: str) -> str:
    """Return a paragraph in bold.

    >>> bold("wrong on < 5 %")
    '<p><b>wrong on &lt; 5\xa0%</b></p>'
    """
    return f"<p><b>{escape(text)}</b></p>"


def paragraph(text: str) -> str:
    """Return a paragraph.

    >>> paragraph("a < b")
    '<p>a &lt; b</p>'
    """
    return f"<p>{escape(text)}</p>"


def _line(tag: str, cells: Sequence[object]) -> str:
    style = ' style="text-align:left"'
    return (
        "<tr>"
        + "".join(
            f"<{tag}{style if k == 0 else ''}>{escape(cell)}</{tag}>"
            for k, cell in enumerate(cells)
        )
        + "</tr>"
    )
