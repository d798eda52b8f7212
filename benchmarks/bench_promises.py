"""How often promises are broken on real data: recall, precision, sets and intervals.

    python benchmarks/bench_promises.py [--draws 200]

A small forest is fitted on 2,000 rows of each set. The other rows are the world: 3,000 rows are
drawn with replacement, 200 times, so that what a promise is worth is known exactly. From each draw
a threshold with recall 0.95, one with precision 0.9, sets that hold the class of 90 % and intervals
that hold 90 % are made, all with delta 0.05. Printed are how many of the draws gave a promise, how
many broke it, the number that a valid promise exceeds with probability 1e-4 at most, and its price.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

import pacboost
from pacboost import RandomForestClassifier, RandomForestRegressor
from pacboost.errors import NotCertified

if __package__ in (None, ""):
    sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.real_data import HOME, absent, read

TWO = ("adult", "bank_additional", "credit_default", "magic_telescope", "electricity", "spambase",
       "churn", "phoneme")  # fmt: skip
SETS_OF_MANY_CLASSES = ("letter", "satimage", "pendigits", "waveform5000")
NUMBERS = {"california_housing": "medianHouseValue", "abalone": "Class_Rings"}
FIT, DRAWN, DELTA = 2000, 3000, 0.05
Doubles = NDArray[np.float64]
Draw = tuple[bool, float] | None
"""Whether a promise was broken, and its price; None if no promise was made."""


class Known:
    """A classifier or regressor whose answers for numbered rows are known."""

    def __init__(self, probabilities: Doubles, classes: NDArray[Any] | None = None) -> None:
        self._said = probabilities
        if classes is not None:
            self.classes_ = classes
            self.predict_proba = self._answers

    def _answers(self, X: Any) -> Doubles:
        return self._said[np.asarray(X)[:, 0].astype(np.intp)]

    def predict(self, X: Any) -> Any:
        """Return the most probable class, or the number."""
        answers = self._answers(X)
        return self.classes_[answers.argmax(axis=1)] if hasattr(self, "classes_") else answers


def world(rows: tuple[Any, Any], forest: Any) -> tuple[Known, Any]:
    """Fit on a part of the rows; return the answers for the others, and their labels."""
    X, y = rows
    order = np.random.default_rng(1).permutation(len(y))
    fit, rest = order[:FIT], order[FIT:]
    forest.fit(X[fit], y[fit])
    if hasattr(forest, "classes_"):
        return Known(forest.predict_proba(X[rest]), forest.classes_), y[rest]
    return Known(forest.predict(X[rest])), y[rest]


def draws(rows: int, count: int) -> Iterator[NDArray[np.intp]]:
    """Draw certifying rows."""
    generator = np.random.default_rng(0)
    for _ in range(count):
        yield generator.integers(rows, size=DRAWN)


def threshold(model: Known, y: Any, chosen: NDArray[np.intp], wish: dict[str, Any]) -> Draw:
    """Choose a threshold by the drawn rows; measure it on all rows."""
    try:
        chosen_model: Any = pacboost.choose_threshold(
            model, chosen[:, None], y[chosen], positive=1, copies="draws", delta=DELTA, **wish
        )
    except NotCertified:
        return None
    is_predicted, is_positive = model._said[:, 1] >= chosen_model.threshold_, y == 1
    recall, precision = (
        (is_predicted & is_positive).sum() / is_positive.sum(),
        (is_predicted & is_positive).sum() / max(1, is_predicted.sum()),
    )
    false = (is_predicted & ~is_positive).sum() / (~is_positive).sum()
    if "recall" in wish:
        return bool(recall < wish["recall"]), float(false)
    return bool(precision < wish["precision"]), float(recall)


def label_set(model: Known, y: Any, chosen: NDArray[np.intp]) -> Draw:
    """Calibrate sets by the drawn rows; measure their coverage of all rows and mean size."""
    sets = pacboost.sets(model, chosen[:, None], y[chosen], copies="draws", delta=DELTA)
    covered = sets.rule.holds(model._said, None)
    return bool(covered[np.arange(len(y)), y].mean() < 0.9), float(covered.sum(axis=1).mean())


def interval(model: Known, y: Any, chosen: NDArray[np.intp]) -> Draw:
    """Calibrate intervals by the drawn rows; measure their coverage and width."""
    intervals = pacboost.intervals(model, chosen[:, None], y[chosen], copies="draws", delta=DELTA)
    missed = np.abs(y - model._said) > intervals.cutoff_
    return bool((~missed).mean() < 0.9), float(2 * intervals.cutoff_)


def row(name: str, promise: str, draws_done: list[Draw], price: str) -> str:
    """Return a line of the table."""
    promises = [draw for draw in draws_done if draw is not None]
    broken = sum(draw[0] for draw in promises)
    allowed = int(binom.isf(1e-4, len(draws_done), DELTA))
    mean = f"{np.mean([draw[1] for draw in promises]):.3g}" if promises else "-"
    share = f"{broken} ({broken / len(draws_done):.1%})".replace("%", " %")
    return f"| {name} | {promise} | {len(promises)} | {share} | {allowed} | {price} {mean} |"


def numbers(name: str, target: str) -> tuple[Doubles, Doubles]:
    """Read a set of numbers."""
    from pacboost.sources.file_rows import read_csv

    data = read_csv(HOME / name / "data.csv.gz", target, categories=True)
    return np.asarray(data.table.rows(), dtype=np.float64), np.asarray(data.labels, np.float64)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=200)
    count = parser.parse_args().draws
    print(
        "| set | promise | made | broken | at most by chance | price |\n|---|---|---|---|---|---|"
    )
    for name in (*TWO, *SETS_OF_MANY_CLASSES, *NUMBERS):
        if absent(name):
            print(absent(name))
            continue
        if name in NUMBERS:
            forest: Any = RandomForestRegressor(30, random_state=0, n_jobs=1)
            model, y = world(numbers(name, NUMBERS[name]), forest)
            draws_done = [interval(model, y, chosen) for chosen in draws(len(y), count)]
            print(row(name, "intervals 0.9", draws_done, "width"), flush=True)
            continue
        model, y = world(read(name), RandomForestClassifier(60, random_state=0, n_jobs=1))
        for promise, wish, price in (
            ("recall 0.95", {"recall": 0.95}, "false alarms"),
            ("precision 0.9", {"precision": 0.9}, "recall"),
        ):
            if name in TWO:
                draws_done = [threshold(model, y, chosen, wish) for chosen in draws(len(y), count)]
                print(row(name, promise, draws_done, price), flush=True)
        draws_done = [label_set(model, y, chosen) for chosen in draws(len(y), count)]
        print(row(name, "sets 0.9", draws_done, "classes"), flush=True)


if __name__ == "__main__":
    main()
