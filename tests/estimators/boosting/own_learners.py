"""Worlds of rows that are no tables of numbers, with a weak learner for each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

WORDS = ("refund", "hello", "late", "thanks", "parcel", "code", "blue", "seven")


@dataclass(frozen=True)
class World:
    """Rows and their labels, and questions about a row that a rule may ask."""

    rows: Any
    labels: Any
    questions: Sequence[Callable[[Any], bool]]

    def learner(self) -> Callable[..., Any]:
        """Return a learner that finds the best question for weighted rows."""

        def best(X: Any, y: Any, weights: Any) -> Any:
            answers = [signs(ask, X) for ask in self.questions]
            edges = [float(weights @ (y * one)) for one in answers]
            k = int(np.argmax(np.abs(edges)))
            sign = 1 if edges[k] >= 0 else -1
            return lambda rows: sign * signs(self.questions[k], rows)

        return best

    def some(self, first: int, last: int) -> Any:
        part = slice(first, last)
        return self.rows.iloc[part] if hasattr(self.rows, "iloc") else self.rows[part]


def holds(word: str, row: Any) -> bool:
    return word in row


def bright(corner: tuple[int, int], row: Any) -> bool:
    return bool(row[corner] > 0.5)


def signs(ask: Callable[[Any], bool], rows: Any) -> Any:
    each = rows.to_dict("records") if hasattr(rows, "to_dict") else rows
    return np.array([1 if ask(row) else -1 for row in each])


def texts(n: int = 400, seed: int = 0) -> World:
    """Answer 1 for complaints: two of three words occur."""
    draw = np.random.default_rng(seed)
    rows = [" ".join([*draw.permutation(WORDS)[: draw.integers(2, 7)], f"#{i}"]) for i in range(n)]
    labels = [sum(word in row for word in ("refund", "late", "parcel")) > 1 for row in rows]
    return World(rows, np.array(labels), [partial(holds, word) for word in WORDS])


def mappings(n: int = 400, seed: int = 0) -> World:
    """Answer "vip" for two of three: many orders, an address abroad, a gift."""
    draw = np.random.default_rng(seed)
    rows = [
        {"number": i, "orders": int(draw.integers(9)), "country": str(draw.choice(["de", "ch"])),
         "items": [{"gift": bool(draw.integers(2))}] * int(draw.integers(1, 3))}
        for i in range(n)
    ]  # fmt: skip
    questions: list[Callable[[Any], bool]] = [
        lambda row: bool(row["orders"] > 4),
        lambda row: bool(row["country"] == "ch"),
        lambda row: any(item["gift"] for item in row["items"]),
    ]
    labels = ["vip" if sum(ask(row) for ask in questions) > 1 else "other" for row in rows]
    return World(rows, np.array(labels), questions)


def graphs(n: int = 400, seed: int = 0) -> World:
    """Answer 1 for two of three: a triangle, a loop at node 0, more edges than nodes."""
    draw = np.random.default_rng(seed)
    rows = []
    for i in range(n):
        nodes = int(draw.integers(3, 6))
        pairs = draw.integers(nodes, size=(int(draw.integers(2, 9)), 2))
        rows.append((list(range(nodes)), [(int(a), int(b)) for a, b in pairs], i))

    def triangle(row: Any) -> bool:
        edges = {frozenset(pair) for pair in row[1]}
        return {frozenset(p) for p in ((0, 1), (1, 2), (0, 2))} <= edges or len(edges) > 4

    questions: list[Callable[[Any], bool]] = [
        triangle,
        lambda row: any(0 in pair for pair in row[1]),
        lambda row: len(row[1]) > len(row[0]),
    ]
    labels = [sum(ask(row) for ask in questions) > 1 for row in rows]
    return World(rows, np.array(labels).astype(int), questions)


def images(n: int = 400, seed: int = 0) -> World:
    """Answer 1 if two of three corners of a 4 x 4 image are bright."""
    rows = np.random.default_rng(seed).random((n, 4, 4))
    corners = ((0, 0), (0, 3), (3, 0))
    questions = [partial(bright, corner) for corner in corners]
    labels = [sum(ask(row) for ask in questions) > 1 for row in rows]
    return World(rows, np.array(labels).astype(int), questions)


WORLDS = {"texts": texts, "mappings": mappings, "graphs": graphs, "images": images}
