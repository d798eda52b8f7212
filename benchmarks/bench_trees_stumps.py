"""Compare a pruned decision tree with boosted stumps on all sets, as the lectures' scatter does.

    python benchmarks/bench_trees_stumps.py                     all sets with classes
    python benchmarks/bench_trees_stumps.py --noise 0.2         with wrong training labels
    python benchmarks/bench_trees_stumps.py --output trees.png  and draw the scatter
    python benchmarks/bench_trees_stumps.py phoneme churn       some sets only

The tree is scikit-learn's, split by entropy and pruned by the parameter that three-fold
cross-validation on the training rows prefers, which is what is nearest to C4.5 there. Boosted
stumps are AdaBoost's, as many rounds as ``--rounds`` says. Both learn from one half of a set (4,000
rows at most) and are tested on the rest (10,000 at most), whose labels are left as they are.
"""

from __future__ import annotations

import argparse
import csv
import sys
import warnings
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeClassifier

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks import real_data
from pacboost import AdaBoostClassifier
from pacboost.theory.pictures.boosting import duel, sign_test

TRAIN, TEST = 4_000, 10_000
PRUNING = (0.0, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02)
TEXTS = ("trec_qc",)


def sets() -> list[str]:
    """Name all sets of the index that have one class for each row and a table of numbers."""
    path = real_data.HOME / "index.csv"
    if not path.exists():
        return []
    with path.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return [row["name"] for row in rows if named_classes(row) and row["name"] not in TEXTS]


def named_classes(row: dict[str, str]) -> bool:
    """Check whether every row of a set has one class."""
    return int(row["features"]) > 1 and (row["task"] == "binary" or "class" in row["task"])


def errors(name: str, noise: float, rounds: int, seed: int = 0) -> tuple[float, float]:
    """Return the test errors of the tree and of boosted stumps."""
    X, y = real_data.read(name)
    order = np.random.default_rng(seed).permutation(len(y))
    train, test = order[: min(TRAIN, len(y) // 2)], order[-min(TEST, len(y) // 2) :]
    labels = flipped(y[train], noise, seed)
    tree = GridSearchCV(
        DecisionTreeClassifier(criterion="entropy", min_samples_leaf=2, random_state=seed),
        {"ccp_alpha": PRUNING}, cv=3,
    )  # fmt: skip
    stumps = AdaBoostClassifier(n_estimators=rounds, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return tuple(  # type: ignore[return-value]
            float(1 - model.fit(X[train], labels).score(X[test], y[test]))
            for model in (tree, stumps)
        )


def flipped(y: NDArray[np.int64], noise: float, seed: int) -> NDArray[np.int64]:
    """Replace a share of the labels by another class each."""
    generator = np.random.default_rng((seed, 1))
    classes = np.unique(y)
    shift = generator.integers(1, max(2, classes.size), y.size)
    other = classes[(np.searchsorted(classes, y) + shift) % classes.size]
    return np.where(generator.random(y.size) < noise, other, y)


def main() -> None:
    """Measure, print and draw."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", nargs="*", help="names of sets; without any, all of them")
    parser.add_argument("--noise", type=float, default=0.0, help="share of wrong training labels")
    parser.add_argument("--rounds", type=int, default=300, help="rounds of AdaBoost")
    parser.add_argument("--output", type=Path, help="write the scatter to this file")
    asked = parser.parse_args()
    results: dict[str, tuple[float, float]] = {}
    for name in asked.sets or sets():
        why = real_data.absent(name)
        if why is not None:
            print(why)
            continue
        try:
            results[name] = errors(name, asked.noise, asked.rounds)
        except (ValueError, KeyError) as problem:
            print(f"{name}: skipped ({problem})")
            continue
        print(f"{name:28} tree {results[name][0]:.4f}   stumps {results[name][1]:.4f}", flush=True)
    if not results:
        return
    wins, losses, chance = sign_test(results)
    print(f"boosted stumps better on {wins}, tree on {losses}; sign test p = {chance:.3g}")
    if asked.output is not None:
        axes = duel(results, "a pruned tree", "boosted stumps")
        axes.figure.savefig(asked.output, dpi=120)


if __name__ == "__main__":
    main()
