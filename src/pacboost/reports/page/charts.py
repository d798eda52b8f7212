"""Elements of pages in HTML and SVG: tags, tables, scales, drawings and sections."""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pacboost.numerics.markup import escape
from pacboost.numerics.percent import percent_digits
from pacboost.numerics.same_bits import log


class Markup(str):
    """HTML, which is not escaped again."""

    __slots__ = ()


Child = str | Iterable[str] | None
Attribute = str | float | bool | None

VOID = frozenset({"meta", "link", "input", "br"})


def tag(name: str, *children: Child, **attributes: Attribute) -> Markup:
    """Return an element; strings that are not markup are escaped, and ``class_`` means class.

    >>> tag("p", "a < b", class_="note", aria_hidden="true", title=None)
    '<p class="note" aria-hidden="true">a &lt; b</p>'
    """
    written = "".join(_attribute(key, value) for key, value in attributes.items())
    if name in VOID:
        return Markup(f"<{name}{written}>")
    return Markup(f"<{name}{written}>{together(*children)}</{name}>")


def together(*children: Child) -> Markup:
    """Join pieces, and escape those that are not markup.

    >>> together("1 < 2", None, tag("b", "!"))
    '1 &lt; 2<b>!</b>'
    """
    parts: list[str] = []
    for child in children:
        if child is None:
            continue
        if isinstance(child, str):
            parts.append(child if isinstance(child, Markup) else escape(child))
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
    """Return a table with a head; columns in ``words`` have words, the others numbers."""
    kinds = ["words" if k in words else "number" for k in range(len(head))]
    top = tag("tr", (tag("th", c, scope="col", class_=kind) for c, kind in zip(head, kinds)))  # noqa: B905
    body = (
        tag("tr", (tag("td", c, class_=kind) for c, kind in zip(row, kinds, strict=True)))
        for row in rows
    )
    caption_tag = None if caption is None else tag("caption", caption)
    inner = tag("table", caption_tag, tag("thead", top), tag("tbody", body), class_=class_ or None)
    return tag("div", inner, class_="scroll", tabindex="0", role="region", aria_label=caption)


def numbers(summary: str, content: Markup) -> Markup:
    """Return a table, such as the numbers of a figure, that a click unfolds."""
    return tag("details", tag("summary", summary), content, class_="numbers")


def numbers_table(
    head: Sequence[str], rows: Iterable[Sequence[str]], caption: str, words: Sequence[int] = (0,)
) -> Markup:
    """Return the table of the numbers of a figure."""
    return numbers("The numbers", table(head, rows, caption=caption, words=words))


def remark(*notes: str) -> Markup | None:
    """Return a line in small letters; None without notes."""
    text = "; ".join(note for note in notes if note)
    return tag("p", text, class_="remark") if text else None


def terms(facts: Iterable[tuple[str, str]], **attributes: str) -> Markup:
    """Return a list of names and texts."""
    return tag("dl", (tag("div", tag("dt", n), tag("dd", v)) for n, v in facts), **attributes)


def bars(
    lines: Iterable[tuple[str, Markup, str]], caption: str | None = None, class_: str = "bars"
) -> Markup:
    """Return a table of bars: names, meters and numbers."""
    rows = (
        tag("tr", tag("th", name, scope="row", class_="words"), tag("td", drawn, class_="bar"),
            tag("td", number, class_="number"))
        for name, drawn, number in lines
    )  # fmt: skip
    head = None if caption is None else tag("caption", caption)
    return tag("table", head, tag("tbody", rows), class_=class_)


def ranked_bars(
    lines: Sequence[tuple[str, float, str]],
    caption: str | None = None,
    class_: str = "bars",
    width: int = 120,
) -> Markup:
    """Return bars of names, sizes and texts; the largest bar fills the column."""
    largest = max((size for _, size, _ in lines), default=1.0) or 1.0
    drawn = ((name, meter(size / largest, width=width), text) for name, size, text in lines)
    return bars(drawn, caption, class_)


def short(value: float) -> str:
    """Format a length or a position in a drawing with at most two decimals.

    >>> short(12.0), short(0.1234), short(-0.001)
    ('12', '0.12', '0')
    """
    digits = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if digits == "-0" else digits


def _attribute(key: str, value: Attribute) -> str:
    if value is None or value is False:
        return ""
    name = key.rstrip("_").replace("_", "-")
    if value is True:
        return f" {name}"
    text = short(value) if isinstance(value, float) else str(value)
    return f' {name}="{html.escape(text)}"'


Doubles = NDArray[np.float64]

UNITS = ((1e9, "G", 1e9), (1e6, "M", 1e6), (1e3, "k", 1e4))
"""Units of large numbers: factor, letter, and the smallest number that uses it."""


@dataclass(frozen=True)
class Scale:
    """A map of the numbers from ``low`` to ``high`` to positions from ``start`` to ``end``."""

    low: float
    high: float
    start: float
    end: float
    kind: str = "even"
    """"even", "log", or "bent", which compresses values far from the middle (asinh)."""
    middle: float = 0.0
    unit: float = 1.0
    """Distance from the middle at which a bent scale begins to compress."""

    def at(self, values: ArrayLike) -> Doubles:
        """Return the position of each number; numbers beyond the ends are clipped.

        >>> Scale(0, 10, 100, 200).at([0, 5, 20]).tolist()
        [100.0, 150.0, 200.0]
        """
        low, high = self._bend(np.array([self.low, self.high]))
        inside = np.clip(np.asarray(values, dtype=np.float64), self.low, self.high)
        share = (self._bend(inside) - low) / (high - low if high > low else 1.0)
        return np.asarray(self.start + share * (self.end - self.start))

    def _bend(self, values: Doubles) -> Doubles:
        if self.kind == "log":
            return np.asarray(log(values))
        if self.kind != "bent":
            return values
        x = (values - self.middle) / self.unit
        size = np.abs(x)
        # asinh, by the logarithm that has the same bits on any machine, as pages have
        return np.asarray(np.copysign(log(size + np.sqrt(size * size + 1)), x))

    def ticks(self, limit: int = 6) -> list[float]:
        """Return round numbers between the ends, about ``limit`` at most.

        >>> Scale(0, 0.43, 0, 1).ticks(5)
        [0.0, 0.1, 0.2, 0.3, 0.4]
        >>> Scale(0.001, 0.5, 0, 1, "log").ticks()
        [0.001, 0.01, 0.1]
        """
        if self.kind == "log":
            return _powers(self.low, self.high, limit)
        if self.kind == "bent":
            near = (max(self.low, self.middle - 2 * self.unit),
                    min(self.high, self.middle + 2 * self.unit))  # fmt: skip
            ends = (self.low, self.high)
            return sorted({*round_numbers(*near, limit // 2), *round_numbers(*ends, limit // 2)})
        return round_numbers(self.low, self.high, limit)


def round_numbers(low: float, high: float, limit: int = 6) -> list[float]:
    """Return multiples of 1, 2 or 5 times a power of ten, from low to high."""
    if not high > low:
        return [low]
    raw = (high - low) / limit
    if not 1e-300 < raw < 1e300:  # that power of ten is not a float
        return [low, high]
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(power * k for k in (1, 2, 5, 10) if power * k >= raw * (1 - 1e-9))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    # 3 · 0.1 is not 0.3 in floats, and would be written at the axis
    return [round(k * step, 12) for k in range(first, last + 1)]


def _powers(low: float, high: float, limit: int) -> list[float]:
    """Return powers of ten between the ends; if they are few, also their multiples by 2 and 5."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    tens = [10.0**k for k in range(first, last + 1)]
    fine = [factor * ten for ten in tens for factor in (1, 2, 5)]
    for steps in (fine, tens):
        inside = [t for t in steps if low * (1 - 1e-9) <= t <= high * (1 + 1e-9)]
        if len(inside) <= limit:
            return [float(f"{t:.6g}") for t in inside]
    return [float(f"{t:.6g}") for t in inside[:: -(-len(inside) // limit)]]


def number_words(value: float) -> str:
    """Format a number for an axis.

    >>> [number_words(v) for v in (0.0, 0.25, 12000.0, 2500000.0)]
    ['0', '0.25', '12k', '2.5M']
    """
    size = abs(value)
    large, letter = next((unit for unit in UNITS if size >= unit[2]), (1.0, "", 0.0))[:2]
    return f"{value / large:.4g}{letter}".replace("-", "−")


def signed(value: float, digits: int = 2) -> str:
    """Format a number with its sign."""
    return f"{value:+.{digits}f}".replace("-", "−")


WIDTH, HALF, HEIGHT = 600, 340, 300
"""Width of a figure, width of one of two side by side, and height."""


@dataclass(frozen=True)
class Frame:
    """The area of a figure: its size and two scales."""

    width: int
    height: int
    x: Scale
    y: Scale

    @classmethod
    def of(
        cls,
        x: tuple[float, float],
        y: tuple[float, float],
        *,
        width: int = WIDTH,
        height: int = HEIGHT,
        log: bool = False,
        left: int = 62,
        bottom: int = 42,
        right: int = 14,
        top: int = 10,
    ) -> Frame:
        """Return a frame for numbers between these ends."""
        across = Scale(*x, left, width - right)
        return cls(width, height, across, Scale(*y, height - bottom, top, "log" if log else "even"))

    def axes(
        self, x_label: str, *, shares: bool = True, x_shares: bool = False, integers: bool = False
    ) -> Markup:
        """Draw both axes, with horizontal lines at the ticks of y."""
        say, say_x = (
            percent_digits if is_share else number_words for is_share in (shares, x_shares)
        )
        x_min, x_max, bottom = self.x.start, self.x.end, self.y.start
        parts = []
        for value, place in _placed(self.y, 5 if self.height > 160 else 4):
            parts.append(tag("line", x1=x_min, x2=x_max, y1=place, y2=place, class_="grid"))
            parts.append(
                tag("text", say(value), x=x_min - 7, y=place + 4, text_anchor="end", class_="tick")
            )
        for value, place in _placed(self.x, 7 if self.width > HALF else 5):
            if integers and value != int(value):
                continue
            parts.append(
                tag("text", say_x(value), x=place, y=bottom + 17, text_anchor="middle",
                    class_="tick")
            )  # fmt: skip
        parts.append(tag("line", x1=x_min, x2=x_max, y1=bottom, y2=bottom, class_="axis"))
        parts.append(
            tag("text", x_label, x=x_max, y=bottom + 37, text_anchor="end", class_="label")
        )
        return together(parts)

    def line(self, x: ArrayLike, y: ArrayLike, class_: str) -> Markup:
        """Draw a line through points, with gaps where y is NaN."""
        heights = np.asarray(y, dtype=np.float64)
        is_number = ~np.isnan(heights)
        across, up = self.x.at(x), self.y.at(np.where(is_number, heights, self.y.low))
        path, pen = [], "M"
        for there, a, b in zip(is_number, across, up, strict=True):
            if there:
                path.append(f"{pen}{short(a)} {short(b)}")
            pen = "L" if there else "M"
        return tag("path", d="".join(path), class_=class_)

    def area(self, x: ArrayLike, low: ArrayLike, high: ArrayLike, class_: str = "area") -> Markup:
        """Fill the area between two lines."""
        x, low, high = self.x.at(x), self.y.at(low), self.y.at(high)
        points = zip([*x, *x[::-1]], [*high, *low[::-1]], strict=True)
        path = "L".join(f"{short(a)} {short(b)}" for a, b in points)
        return tag("path", d=f"M{path}Z", class_=class_)

    def upright(self, x: float, class_: str = "zero") -> Markup:
        """Draw a vertical line."""
        at = float(self.x.at(x))
        return tag("line", x1=at, x2=at, y1=self.y.start, y2=self.y.end, class_=class_)

    def point(self, x: float, y: float, class_: str, r: int = 6) -> Markup:
        """Draw a dot."""
        return tag("circle", cx=float(self.x.at(x)), cy=float(self.y.at(y)), r=r, class_=class_)

    def svg(
        self, title: str, text: str, *content: Child, class_: str = "", **attributes: str
    ) -> Markup:
        """Return the drawing, with a title and a description for screen readers."""
        return tag(
            "svg", tag("title", title), tag("desc", text), *content,
            viewBox=f"0 0 {self.width} {self.height}", role="img", aria_label=f"{title}. {text}",
            class_=class_ or None, **attributes,
        )  # fmt: skip


def figure(drawing: Markup, *below: Child, key: Child = None, **attributes: str) -> Markup:
    """Return a figure: the key, the drawing, and what follows it."""
    return tag("figure", key, drawing, *below, **attributes)


def square(
    title: str, up: str, across: str, text: str, draw: Callable[[Frame], Iterable[Markup]]
) -> Markup:
    """Draw shares against shares, both from 0 to 1, as one of two figures side by side."""
    frame = Frame.of((0, 1), (0, 1), width=HALF, left=46, top=26)
    label = tag("text", f"{up} ↑", x=2, y=12, class_="label")
    axes = frame.axes(f"{across} →", x_shares=True)
    return tag("figure", tag("h3", title), frame.svg(title, text, axes, label, draw(frame)))


def key(entries: Sequence[tuple[str, str]]) -> Markup:
    """Return a legend, from pairs of a mark's class and its text."""
    marks = (tag("li", tag("i", class_=f"mark {kind}"), words) for kind, words in entries)
    return tag("ul", marks, class_="key")


def meter(share: float, kind: str = "", *, width: int = 120, signed: bool = False) -> Markup:
    """Draw a share as a bar in a row of a table; from the middle if ``signed``."""
    room = width / 2 if signed else float(width)
    # a pixel at least: little is not nothing
    length = max(1.0, abs(share) * room)
    start = (room - length if share < 0 else room) if signed else 0.0
    middle = tag("line", x1=room, x2=room, y1=-2, y2=10, class_="axis") if signed else None
    bar = tag("rect", x=start, y=0, width=length, height=8)
    drawn = f"meter {kind}".strip()
    return tag("svg", middle, bar, viewBox=f"0 0 {width} 8", preserveAspectRatio="none",
               class_=drawn, aria_hidden="true")  # fmt: skip


def _placed(scale: Scale, limit: int) -> list[tuple[float, float]]:
    values = scale.ticks(limit)
    return list(zip(values, scale.at(values).tolist(), strict=True))


@dataclass(frozen=True)
class Section:
    """A part of a page with a heading; ``lead`` explains how to read it."""

    name: str
    """The target of links, a single word."""
    title: str
    lead: Sequence[Child]
    """Paragraphs; those that are None or empty are left out."""
    body: Markup

    def markup(self, number: int) -> Markup:
        """Return the section as markup."""
        head = tag(
            "header",
            tag("p", f"{number:02}", class_="count", aria_hidden="true"),
            tag("h2", self.title, id=f"{self.name}-title"),
            tag("div", (tag("p", text) for text in self.lead if text), class_="lead"),
        )
        body = tag("div", self.body, class_="body")
        return tag("section", head, body, id=self.name, aria_labelledby=f"{self.name}-title")
