"""Drawings: a frame with axes in SVG, lines, steps and bars in it; twice where phones differ."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from pacboost.numerics.percent import percent_digits
from pacboost.reports.page.markup import Child, Markup, short, tag, together
from pacboost.reports.page.scales import Scale, number_words

WIDE, NARROW = 700, 340
"""Widths that figures are drawn at, so that their letters are legible on either screen."""


@dataclass(frozen=True)
class Frame:
    """The place of a figure: two scales, and the room that they leave for axes."""

    width: int
    height: int
    x: Scale
    y: Scale

    @classmethod
    def of(
        cls,
        width: int,
        height: int,
        x: tuple[float, float],
        y: tuple[float, float],
        *,
        log: bool = False,
        left: int = 46,
        bottom: int = 36,
        right: int = 10,
        top: int = 10,
    ) -> Frame:
        """Lay out a frame for numbers between these ends."""
        across = Scale(*x, left, width - right)
        return cls(width, height, across, Scale(*y, height - bottom, top, "log" if log else "even"))

    def axes(
        self, x_label: str, *, shares: bool = True, x_shares: bool = False, whole: bool = False
    ) -> Markup:
        """Draw both axes: level lines at the ticks of y, ticks of x below."""
        say, say_x = (percent_digits if own else number_words for own in (shares, x_shares))
        left, right, bottom = self.x.start, self.x.end, self.y.start
        parts = []
        for value, place in _placed(self.y, 5 if self.height > 160 else 4):
            parts.append(tag("line", x1=left, x2=right, y1=place, y2=place, class_="grid"))
            parts.append(
                tag("text", say(value), x=left - 7, y=place + 4, text_anchor="end", class_="tick")
            )
        for value, place in _placed(self.x, 8 if self.width > 500 else 5):
            if whole and value != int(value):
                continue
            parts.append(
                tag("text", say_x(value), x=place, y=bottom + 17, text_anchor="middle",
                    class_="tick")
            )  # fmt: skip
        parts.append(tag("line", x1=left, x2=right, y1=bottom, y2=bottom, class_="axis"))
        parts.append(
            tag("text", x_label, x=right, y=bottom + 33, text_anchor="end", class_="label")
        )
        return together(parts)

    def line(self, x: ArrayLike, y: ArrayLike, class_: str) -> Markup:
        """Draw a line through points; it is broken where y is no number."""
        heights = np.asarray(y, dtype=np.float64)
        known = ~np.isnan(heights)
        across, up = self.x.at(x), self.y.at(np.where(known, heights, self.y.low))
        path, pen = [], "M"
        for there, a, b in zip(known, across, up, strict=True):
            if there:
                path.append(f"{pen}{short(a)} {short(b)}")
            pen = "L" if there else "M"
        return tag("path", d="".join(path), class_=class_)

    def svg(self, title: str, text: str, *content: Child, class_: str = "", **more: str) -> Markup:
        """Make the drawing, with a title and a description for those who cannot see it."""
        return tag(
            "svg",
            tag("title", title),
            tag("desc", text),
            *content,
            viewBox=f"0 0 {self.width} {self.height}",
            role="img",
            aria_label=f"{title}. {text}",
            class_=class_ or None,
            **more,
        )


def figure(draw: Callable[[int], Markup], *below: Child, key: Child = None, **more: str) -> Markup:
    """Draw for wide screens and for phones; only one of the two is shown, by width."""
    wide = tag("div", draw(WIDE), class_="wide")
    narrow = tag("div", draw(NARROW), class_="narrow")
    return tag("figure", key, wide, narrow, *below, **more)


def key(entries: Sequence[tuple[str, str]]) -> Markup:
    """Say what the colours mean: (class of the mark, words)."""
    marks = (tag("li", tag("i", class_=f"mark {kind}"), words) for kind, words in entries)
    return tag("ul", marks, class_="key")


def meter(share: float, kind: str = "", *, width: int = 120, signed: bool = False) -> Markup:
    """Draw a share as a bar in a line of a table; to either side of the middle if ``signed``."""
    room = width / 2 if signed else float(width)
    length = max(1.0, abs(share) * room)
    start = (room - length if share < 0 else room) if signed else 0.0
    middle = tag("line", x1=room, x2=room, y1=-2, y2=10, class_="axis") if signed else None
    bar = tag("rect", x=start, y=0, width=length, height=8)
    drawn = f"meter {kind}".strip()
    return tag("svg", middle, bar, viewBox=f"0 0 {width} 8", preserveAspectRatio="none",
               class_=drawn, aria_hidden="true")  # fmt: skip


def _placed(scale: Scale, most: int) -> list[tuple[float, float]]:
    values = scale.ticks(most)
    return list(zip(values, scale.at(values).tolist(), strict=True))
