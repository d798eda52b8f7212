"""Small example data: ten points that explain AdaBoost, and parcels that arrive late."""

from __future__ import annotations

import csv
from datetime import date, timedelta
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

CYCLING = (
    "-++++--+",
    "-++--+++",
    "+-+++-++",
    "+-++-+++",
    "+-+-+++-",
    "++-++++-",
    "++-+++-+",
    "++++--+-",
)
PLUS = ((0, 2), (1, 0), (7, 7), (4, 9), (6, 6))
MINUS = ((2, 5), (5, 3), (3, 1), (9, 8), (8, 4))


def lecture_points() -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the ten points (10, 2) of the lecture slides, and their labels in {-1, +1}.

    Three stumps, which split on x, x and y, classify them. Their weighted errors are 3/10, 3/14 and
    3/22, however ties are broken.
    """
    return np.array(PLUS + MINUS, dtype=np.float64), np.repeat(np.array([1, -1]), 5)


def cycling_matrix() -> NDArray[np.int8]:
    """Return y·h(x) of eight rules (columns) on eight rows, for which AdaBoost may cycle.

    Some vote has margin 3/8 on every row, but AdaBoost may cycle among rules and reach only 1/3
    (Rudin, Daubechies and Schapire 2004).

    >>> best = np.array([2, 3, 4, 1, 2, 2, 1, 1]) / 16
    >>> (cycling_matrix() @ best).tolist() == [3 / 8] * 8
    True
    """
    return np.array([[1 if sign == "+" else -1 for sign in row] for row in CYCLING], dtype=np.int8)


COLUMNS = (
    "shipped", "carrier", "service", "weight_kg", "distance_km", "items", "border", "fragile",
    "value", "late",
)  # fmt: skip
CARRIERS = ("Alba", "Boreal", "Corvo", "Delta Post", "Ember")
NOISE_SHARE = 0.05
EMPTY_SHARE = 0.02


def _parcel(draw: np.random.Generator) -> list[str]:
    """Return the cells of a random parcel.

    Whether it is late depends on the carrier, the distance, the day of shipping and whether it
    crosses a border; a share of labels is flipped at random, and a share of cells is empty.
    """
    shipped = date(2025, 1, 1) + timedelta(days=int(draw.integers(365)))
    carrier = int(draw.choice(len(CARRIERS), p=[0.35, 0.25, 0.2, 0.15, 0.05]))
    express = draw.random() < 0.3
    weight, distance = draw.lognormal(0.5, 0.8), 20 + draw.gamma(2.0, 250.0)
    border = draw.random() < 0.2
    trouble = (
        distance / 400
        + (0.9, 0.3, 1.2, 0.0, 2.0)[carrier]
        + 1.5 * (shipped.weekday() >= 4)
        + 2.0 * (shipped.month == 12)
        + (2.0 if border and not express else 0.5 * border)
        + 0.8 * (weight > 10)
        - 1.5 * express
    )
    late = (trouble > 3.2) != (draw.random() < NOISE_SHARE)
    cells = [
        shipped.isoformat(), CARRIERS[carrier], "express" if express else "standard",
        f"{weight:.2f}", f"{distance:.0f}", str(1 + draw.poisson(1.5)), "yes" if border else "no",
        "yes" if draw.random() < 0.1 else "no", f"{draw.lognormal(3.5, 1.0):.2f}",
    ]  # fmt: skip
    return ["" if draw.random() < EMPTY_SHARE else cell for cell in cells] + [
        "yes" if late else "no"
    ]


def write_parcels(folder: Path) -> None:
    """Write the example files: 3,000 parcels to learn from and 1,000 new ones."""
    draw = np.random.default_rng(2025)
    for name, rows in (("parcels.csv", 3000), ("parcels_new.csv", 1000)):
        with (folder / name).open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(COLUMNS)
            writer.writerows(_parcel(draw) for _ in range(rows))
