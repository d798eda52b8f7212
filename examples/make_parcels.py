"""Make the two files of this folder: parcels that arrived late or not, in a world of our own.

    python examples/make_parcels.py

Whether a parcel is late depends on the carrier, the distance, the day on which it was shipped and
whether it crosses a border; one parcel in twenty is late or in time by chance alone. Some cells
are empty, as in real files.
"""

from __future__ import annotations

import csv
from datetime import date, timedelta
from pathlib import Path

import numpy as np

COLUMNS = (
    "shipped", "carrier", "service", "weight_kg", "distance_km", "items", "border", "fragile",
    "value", "late",
)  # fmt: skip
CARRIERS = ("Alba", "Boreal", "Corvo", "Delta Post", "Ember")
BY_CHANCE = 0.05
EMPTY = 0.02


def parcel(draw: np.random.Generator) -> list[str]:
    """Draw one parcel."""
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
    late = (trouble > 3.2) != (draw.random() < BY_CHANCE)
    cells = [
        shipped.isoformat(), CARRIERS[carrier], "express" if express else "standard",
        f"{weight:.2f}", f"{distance:.0f}", str(1 + draw.poisson(1.5)), "yes" if border else "no",
        "yes" if draw.random() < 0.1 else "no", f"{draw.lognormal(3.5, 1.0):.2f}",
    ]  # fmt: skip
    return ["" if draw.random() < EMPTY else cell for cell in cells] + ["yes" if late else "no"]


def main() -> None:
    """Write both files."""
    draw = np.random.default_rng(2025)
    for name, rows in (("parcels.csv", 3000), ("parcels_new.csv", 1000)):
        with (Path(__file__).parent / name).open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(COLUMNS)
            writer.writerows(parcel(draw) for _ in range(rows))


if __name__ == "__main__":
    main()
