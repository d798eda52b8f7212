"""Bagging beside scikit-learn's: seconds to fit, error on new rows, and what is certified.

    python benchmarks/bench_bagging.py                       adult: 100 stumps, 20 trees
    python benchmarks/bench_bagging.py covtype_7 letter      other sets
    python benchmarks/bench_bagging.py --members 100         as many trees as stumps

A fifth of the rows is for testing. Everyone has all cores; a small fit comes first, which loads
modules. Ours asks every member about the rows outside its bag while it fits. The stump of scikit-
learn splits by Gini's index and ours by error, so that these two are not the same; trees grow until
their leaves are pure. The last row of a table is ours again, with a certificate.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from sklearn.ensemble import BaggingClassifier as Peer
from sklearn.tree import DecisionTreeClassifier

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks import real_data
from benchmarks.tournament import new_table
from pacboost import BaggingClassifier

Numbers = NDArray[np.float64]


def contenders(stumps: int, trees: int) -> dict[str, Any]:
    """Return the estimators to compare."""
    stump = DecisionTreeClassifier(max_depth=1)
    return {
        f"{stumps} stumps, pacboost": BaggingClassifier("stump", stumps, random_state=0),
        f"{stumps} stumps, scikit-learn": Peer(stump, stumps, n_jobs=-1, random_state=0),
        f"{trees} trees, pacboost": BaggingClassifier(None, trees, random_state=0),
        f"{trees} trees, scikit-learn": Peer(None, trees, n_jobs=-1, random_state=0),
        f"{trees} trees, certified": BaggingClassifier(None, trees, certify="oob", random_state=0),
    }


def main() -> None:
    """Print a table for each set."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("sets", nargs="*", default=["adult"])
    parser.add_argument("--stumps", type=int, default=100)
    parser.add_argument("--members", type=int, default=20)
    options = parser.parse_args()
    console = Console()
    for name in options.sets:
        missing = real_data.absent(name)
        if missing is not None:
            console.print(missing)
            continue
        X, y = real_data.read(name)
        console.print(_table(name, X, y, contenders(options.stumps, options.members)))


def _table(name: str, X: Numbers, y: NDArray[np.int64], models: dict[str, Any]) -> Any:
    order = np.random.default_rng(0).permutation(len(y))
    test, train = np.split(order, [len(y) // 5])
    title = f"{real_data.WORDS.get(name, name)}: {len(train):,} rows"
    table = new_table(title, ["seconds", "error", "out of bag", "certified"])
    for words, model in models.items():
        if isinstance(model, BaggingClassifier):
            model.__class__(**{**model.get_params(), "n_estimators": 2}).fit(
                X[train[:500]], y[train[:500]]
            )
        start = time.perf_counter()
        model.fit(X[train], y[train])
        seconds = time.perf_counter() - start
        error = float((model.predict(X[test]) != y[test]).mean())
        outside = f"{1 - model.oob_score_:.4f}" if hasattr(model, "oob_score_") else "–"
        bound = f"≤ {model.certificate_.value:.3f}" if "certified" in words else "–"
        table.add_row(words, f"{seconds:.2f}", f"{error:.4f}", outside, bound)
    return table


if __name__ == "__main__":
    main()
