"""Small example data: ten points that explain AdaBoost, late parcels, and telephone calls."""

from __future__ import annotations

import csv
import re
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


REQUESTS = """
AreaCode: what is the area code for {} / I need the area code of {}
BillingCredit: I rang the wrong number in {}, take it off my bill / my card was billed twice to {}
CallingCard: I would like to place a call on my master card / charge this call to {} to my card
Collect: I would like to place a collect call to {} / I want to call {} and they pay for it
Competitor: I want to reach another long distance company / get me the other phone company in {}
DialForMe: could you dial {} for me / I cannot see the buttons, please dial this number
Directory: I need directory assistance for {} / I am looking for the number of a hotel in {}
HowToDial: how do I dial {} / how do I make a call to {} from here
PersonToPerson: I want to make a person to person call to {} / I only want to talk to John in {}
Rate: how much does a call to {} cost / what is the rate to {} on the weekend
Service: I want to change my calling plan / I moved to {} and want to keep my number
ThirdNumber: I need to make a call but bill it to my office / bill this call to {} to my home number
Time: what time is it in {} / could you tell me the time in {}
TimeCharge: I want to know time and charges of my call to {} / tell me afterwards what {} costs
"""
"""Types of calls as in "How may I help you?" (Gorin, Riccardi and Wright 1997), and requests."""
LINES = [line.partition(": ") for line in REQUESTS.strip().splitlines()]
CALLS = {kind: requests.split(" / ") for kind, _, requests in LINES}
PLACES = (
    "Sioux City", "Chicago", "Denver", "Newark", "Boston", "Reno", "Spain", "Japan", "my mother",
    "a motel",
)  # fmt: skip
BEFORE = (
    "", "yes", "operator", "hello", "hi", "excuse me", "yes operator", "good morning", "uh", "well",
)  # fmt: skip
AFTER = ("", "please", "thank you", "if I may", "thanks", "right now", "please thank you")
UNCLEAR = ("CallingCard", "Collect", "DialForMe")
"""Types of callers who sometimes only say that they want to make a call."""
UNCLEAR_SHARE = 0.1
PLACED = (*UNCLEAR, "PersonToPerson", "ThirdNumber")
"""Types of callers who want a call to be placed; others want to know or to change something."""
SPOKEN = " ".join(requests for *_, requests in LINES)
WORDS = tuple(sorted({*re.sub("[{},/]", " ", SPOKEN).split()}))


def draw_calls(rows: int, seed: int) -> tuple[list[str], list[str]]:
    """Return what callers say to a telephone company, and the types of their calls.

    >>> draw_calls(2, 3)
    (['yes I need to make a call but bill it to my office please', 'uh my card was billed twice to \
Sioux City'], ['ThirdNumber', 'BillingCredit'])
    """
    draw = np.random.default_rng(seed)
    types = [str(kind) for kind in draw.choice(list(CALLS), rows)]
    utterances = []
    for kind in types:
        before, request, after = (str(draw.choice(part)) for part in (BEFORE, CALLS[kind], AFTER))
        if kind in UNCLEAR and draw.random() < UNCLEAR_SHARE:
            request = "I would like to make a call to {}"
        words = f"{before} {request.format(draw.choice(PLACES))} {after}"
        utterances.append(" ".join(words.split()))
    return utterances, types


def counted_calls(rows: int, seed: int) -> tuple[NDArray[np.float64], NDArray[np.int64], list[str]]:
    """Return how often each of ``WORDS`` is said, +1 for calls to be placed, and the types.

    >>> X, y, types = counted_calls(100, 0)
    >>> bool((y[X[:, WORDS.index("collect")] > 0] == 1).all())
    True
    """
    utterances, types = draw_calls(rows, seed)
    said = [utterance.replace(",", "").split() for utterance in utterances]
    counts = np.array([[words.count(word) for word in WORDS] for words in said], dtype=np.float64)
    return counts, np.where(np.isin(types, PLACED), 1, -1), types


def write_calls(folder: Path) -> None:
    """Write 600 calls, one in a line: what is said, and the type."""
    with (folder / "calls.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("utterance", "type"))
        writer.writerows(zip(*draw_calls(600, 0), strict=True))
