"""The confusion matrix of many classes as a picture: a square for every pair of classes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pacboost.numerics.percent import percent
from pacboost.reports.page.drawing import Frame, figure
from pacboost.reports.page.markup import Markup, table, tag, together

MOST_SQUARES = 2500
"""If more pairs of classes occur, the most common ones are drawn."""
SHADES = 9
MOST_TICKS = 30
"""Up to so many classes are named along the axes of the picture."""
LETTERS = 16
"""Longer names are cut at the axes; the tables have them whole."""
FEWER = 10
"""The same where there is little room."""
SIDE = 620
"""The most that the picture is wide."""
LEAST_CELL = 15.0
"""If the squares are smaller, classes have numbers at the lower axis in the place of names."""
ROOM_FOR_NUMBERS = 12.0
"""If the squares are smaller, every second number is left out."""

Counts = NDArray[np.int64]


def shade(share: float) -> int:
    """Give one of some shades, 0 for nothing; by the square root, so that small shares differ.

    >>> [shade(share) for share in (0.0, 0.001, 0.05, 0.25, 1.0)]
    [0, 1, 3, 5, 9]
    """
    return max(0, min(SHADES, int(np.ceil(np.sqrt(share) * SHADES))))


def picture(names: tuple[str, ...], counts: Counts, worst: list[tuple[int, int, int]]) -> Markup:
    """A square for every pair of classes that occurs, and a list of the most common mistakes."""
    totals = np.maximum(counts.sum(axis=1), 1)
    size = len(names)
    order = np.argsort(-counts, axis=None, kind="stable")[:MOST_SQUARES].tolist()
    pairs = [(k // size, k % size) for k in order if counts[k // size, k % size]]

    def draw(width: int) -> Markup:
        side = min(width, SIDE)
        ticks = [_short(name) for name in names] if size <= MOST_TICKS else []
        left = bottom = 26 + 7 * max(map(len, ticks), default=0)
        numbered = bool(ticks) and (side - left) / size < LEAST_CELL
        if numbered:
            ticks = [f"{_short(name, FEWER)} {k}" for k, name in enumerate(names, start=1)]
            left, bottom = 26 + int(5.6 * max(map(len, ticks))), 38
        height = side - left + bottom  # the squares are squares
        frame = Frame.of(side, height, (0, size), (0, size), left=left, bottom=bottom, right=2,
                         top=2)  # fmt: skip
        cell = (frame.x.end - frame.x.start) / size
        squares = []
        for i, j in pairs:
            kind = "right" if i == j else "wrong"
            share = percent(float(counts[i, j] / totals[i]))
            said = f"{names[i]} → {names[j]}: {counts[i, j]:,} rows, {share} of “{names[i]}”"
            squares.append(
                tag("rect", tag("title", said), x=float(frame.x.start + j * cell),
                    y=float(frame.y.end + i * cell), width=float(cell * 0.94),
                    height=float(cell * 0.94),
                    class_=f"{kind} shade{shade(float(counts[i, j] / totals[i]))}")
            )  # fmt: skip
        edge = tag("rect", x=frame.x.start, y=frame.y.end, width=frame.x.end - frame.x.start,
                   height=frame.y.start - frame.y.end, class_="edge")  # fmt: skip
        low = frame.y.start + bottom - 6
        says = tag("text", "predicted class →", x=frame.x.start, y=low, class_="label")
        turned = f"translate(13 {frame.y.start:g}) rotate(-90)"
        is_ = tag("text", "true class →", transform=turned, class_="label")
        return frame.svg("Confusion matrix", f"{size} classes; squares on the diagonal are right",
                         edge, squares, says, is_, _ticks(frame, cell, ticks, numbered),
                         class_="confusion")  # fmt: skip

    listed = [(names[a], names[b], f"{n:,}", percent(n / int(totals[a]))) for a, b, n in worst]
    made = table(["true class", "predicted class", "rows", "share of the class"], listed,
                 caption="The most common mistakes", words=(0, 1))  # fmt: skip
    return together(figure(draw, key=_scale()), made)


def _ticks(frame: Frame, cell: float, names: list[str], numbered: bool) -> Markup:
    """The names of the classes at both axes, or their numbers at the lower one."""
    small = "tick small" if numbered else "tick"
    found = []
    for k, name in enumerate(names):
        middle = (k + 0.5) * cell
        at, low = frame.x.start + middle, frame.y.start + 6
        found.append(
            tag("text", name, x=float(frame.x.start - 5), y=float(frame.y.end + middle + 4),
                text_anchor="end", class_=small)
        )  # fmt: skip
        if not numbered:
            turned = f"translate({at + 4:g} {low:g}) rotate(-90)"
            found.append(tag("text", name, transform=turned, text_anchor="end", class_=small))
        elif k % 2 == 0 or cell > ROOM_FOR_NUMBERS:
            place = {"x": float(at), "y": float(low + 6)}
            found.append(tag("text", f"{k + 1}", **place, text_anchor="middle", class_=small))
    return together(found)


def _scale() -> Markup:
    """What the shades stand for: shares of the rows of a true class."""
    wide, parts = 30, []
    for k in range(SHADES):
        for line, kind in enumerate(("right", "wrong")):
            parts.append(tag("rect", x=60 + wide * k, y=15 * line, width=wide - 1, height=13,
                             class_=f"{kind} shade{k + 1}"))  # fmt: skip
        share = f"{100 * ((k + 1) / SHADES) ** 2:.0f} %"
        parts.append(tag("text", share, x=60 + wide * (k + 0.5), y=42, text_anchor="middle",
                         class_="tick small"))  # fmt: skip
    for line, kind in enumerate(("right", "wrong")):
        parts.append(tag("text", kind, x=54, y=15 * line + 11, text_anchor="end", class_="tick"))
    drawn = tag("svg", parts, viewBox=f"0 0 {60 + wide * SHADES} 46", class_="scale",
                aria_hidden="true")  # fmt: skip
    said = "Shades show the share of the rows of the true class, up to:"
    return tag("div", tag("p", said, class_="remark"), drawn, class_="shades")


def _short(name: str, most: int = LETTERS) -> str:
    """Cut a long name in the middle: many names differ at the end only.

    >>> _short("transfer_not_received_by_recipient")
    'transfer…ecipient'
    """
    half = most // 2
    return name if len(name) <= most + 1 else f"{name[:half]}…{name[-half:]}"
