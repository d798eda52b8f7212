"""Trees and stumps on sparse matrices beside LightGBM: milliseconds a round, errors, memory.

    python benchmarks/bench_sparse.py        the table (a minute or two on two cores)

Both boost 50 trees of 31 leaves at a rate of 0.1, on one thread each, without early stopping; time
is the processor's, so that other work on the machine does no harm. "wide" is drawn: 20,000 rows of
200,000 columns, a million cells stored, most of them in the first columns. The others are TF-IDF of
word 1-2-grams. A quarter of the rows is set aside where a set comes in one piece. Memory is the
most that our fit holds at once, not counting the matrix handed in; "opened up" are the MB of one
byte a cell.

LightGBM leaves out columns with fewer rows than a leaf has to have. We go by weight, so any column
may come to matter, and trees are those that the same rows would give opened up.
"""

from __future__ import annotations

import sys
import time
import tracemalloc
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table
from scipy import sparse
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import train_test_split

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.bench_text import WORDS, read
from benchmarks.real_data import HOME
from pacboost import AdaBoostClassifier, BoostClassifier

ROUNDS = 50
TEXTS = ("subjectivity", "sms_spam", "trec_qc")
HEADS = (
    *("set", "rows", "columns", "stored", "LightGBM", "trees", "stumps"),
    *("LightGBM", "trees", "memory", "opened up"),
)


def wide() -> tuple[Any, Any, Any, Any]:
    """Draw a matrix of 4,000 million cells whose first columns determine the class."""
    generator = np.random.default_rng(0)
    rows, columns, stored = 20_000, 200_000, 1_000_000
    row = generator.integers(rows, size=stored)
    column = (columns * generator.random(stored) ** 3).astype(np.int64)
    cells = (generator.normal(size=stored), (row, column))
    matrix = sparse.csr_array(cells, shape=(rows, columns))
    signal: NDArray[np.float64] = np.asarray(matrix[:, :50].sum(axis=1)).ravel()
    y = (signal + 0.1 * generator.normal(size=rows) > 0).astype(np.int64)
    parts = train_test_split(matrix, y, random_state=0)
    return parts[0], parts[2], parts[1], parts[3]


def words(name: str) -> tuple[Any, Any, Any, Any]:
    """Weigh the words of texts."""
    data = read(name)
    reader = TfidfVectorizer(ngram_range=(1, 2), token_pattern=WORDS)
    train = reader.fit_transform(data.train)
    return train, np.array(data.labels), reader.transform(data.test), np.array(data.truth)


def a_round(fit: Callable[[int], Any]) -> float:
    """Return the milliseconds per round: the difference between 50 rounds and one."""
    seconds = []
    for rounds in (1, 1, ROUNDS):  # the first one loads modules
        started = time.process_time()
        fit(rounds)
        seconds.append(time.process_time() - started)
    return 1e3 * (seconds[2] - seconds[1]) / (ROUNDS - 1)


def line(name: str) -> list[str]:
    """Fit every library on a set; return a line of the table."""
    from lightgbm import LGBMClassifier

    X, y, X_test, truth = wide() if name == "wide" else words(name)
    stumps = AdaBoostClassifier(n_estimators=ROUNDS)

    def trees(rounds: int) -> Any:
        model = BoostClassifier(
            n_estimators=rounds, max_leaves=31, min_leaf_rows=20, subsample=1.0, max_features=1.0,
            early_stopping=False, random_state=0, n_jobs=1,
        )  # fmt: skip
        return model.fit(X, y)

    def theirs(rounds: int) -> Any:
        return LGBMClassifier(n_estimators=rounds, verbose=-1, n_jobs=1).fit(X, y)

    times = [a_round(fit) for fit in (theirs, trees)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of names that LightGBM makes up
        models = theirs(ROUNDS), trees(ROUNDS), stumps.fit(X, y)
        errors = [float((model.predict(X_test) != truth).mean()) for model in models]
    tracemalloc.start()
    trees(2)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    shape = [f"{number:,}" for number in (*X.shape, X.nnz)]
    shown = [f"{error:.4f}" for error in errors] + [f"{ms:.1f}" for ms in times]
    return [name, *shape, *shown, f"{peak / 1e6:,.0f} MB", f"{X.shape[0] * X.shape[1] / 1e6:,.0f}"]


def main() -> None:
    """Print the table, a line at a time."""
    there = ["wide", *(name for name in TEXTS if (HOME / name).exists())]
    for name in sys.argv[1:] or there:
        table = Table(*HEADS, title="errors on test rows, ms a round, memory")
        table.add_row(*line(name))
        Console(width=130).print(table)


if __name__ == "__main__":
    main()
