"""Measure what wrong labels cost each booster: errors on clean rows after training on noisy ones.

    python benchmarks/bench_label_noise.py                  four data sets, five splits
    python benchmarks/bench_label_noise.py phoneme churn    other data sets with two classes

A share of the training labels, drawn at random, is flipped; the labels of the test rows are left as
they are. Every booster runs with its default settings on trees and on stumps. BrownBoost and
boosting by majority run a second time with ``epsilon`` set to the share of flipped labels, which is
how their theorems mean it to be used, and LogitBoost a second time with early stopping.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks import real_data
from benchmarks.tournament import new_table
from pacboost import BoostClassifier
from pacboost.boosters.brown import Brown
from pacboost.boosters.majority import Majority

SETS = ("phoneme", "magic_telescope", "spambase", "twonorm")
NOISE = (0.0, 0.1, 0.2, 0.3)
SPLITS = 5
MAX_ROWS = 4_000
"""Training rows; half of a data set if that is fewer."""
LEARNERS = ("tree", "stump")
BOOSTERS = ("adaboost", "logit", "mada", "soft", "brown", "majority")
EXTRAS = (
    "logit, early stopping",
    "mada, early stopping",
    "brown, ε = noise",
    "majority, ε = noise",
)


def classifier(name: str, learner: str, noise: float, seed: int) -> BoostClassifier:
    """Make the classifier of one line of the table."""
    booster: Any = name.split(",", maxsplit=1)[0]
    if name.endswith("ε = noise"):
        booster = {"brown": Brown, "majority": Majority}[booster](epsilon=noise)
    stopping = name.endswith("early stopping")
    return BoostClassifier(booster, learner, early_stopping=stopping, random_state=seed)


def splits(y: NDArray[np.int64], noise: float) -> Iterator[tuple[Any, Any, NDArray[np.int64]]]:
    """Return training rows, test rows and the labels to train on; splits are the same for all."""
    for seed in range(SPLITS):
        generator = np.random.default_rng(seed)
        order = generator.permutation(len(y))
        rows = min(MAX_ROWS, len(y) // 2)
        flipped = generator.random(len(y)) < noise
        yield order[:rows], order[rows:], np.where(flipped, 1 - y, y)


def errors(name: str, learner: str, noise: float, sets: list[str]) -> NDArray[np.float64]:
    """Measure the mean error over splits on clean test rows, one number for each data set."""
    shares = []
    for X, y in (real_data.read(one) for one in sets):
        parts = []
        for seed, (train, test, labels) in enumerate(splits(y, noise)):
            model = classifier(name, learner, noise, seed).fit(X[train], labels[train])
            parts.append(float(np.mean(model.predict(X[test]) != y[test])))
        shares.append(float(np.mean(parts)))
    return np.array(shares)


def bench(console: Console, learner: str, sets: list[str]) -> None:
    """Print the errors for each booster and share of wrong labels, and their means over sets."""
    names = ["mean", *sets]
    for noise in NOISE:
        table = new_table(f"{learner}s, {noise:.0%} of the training labels flipped", names)
        for name in (*BOOSTERS, *EXTRAS):
            if noise == 0 and name.endswith("noise"):
                continue
            each = errors(name, learner, noise, sets)
            table.add_row(name, *(f"{value:.4f}" for value in (each.mean(), *each)))
        console.print(table)


def main() -> None:
    """Print a table for each learner and share of wrong labels."""
    warnings.simplefilter("ignore")
    console = Console(width=110)
    names = sys.argv[1:] or list(SETS)
    for name in names:
        if reason := real_data.absent(name):
            console.print(reason)
    present = [name for name in names if real_data.absent(name) is None]
    for learner in LEARNERS if present else ():
        bench(console, learner, present)


if __name__ == "__main__":
    main()
