"""Let classifiers run on the same splits of the same sets, and print who was wrong how often.

A result is kept for each set, racer and seed. Every error is on a random quarter of the rows; the
seed gives the same rows to all, so differences between racers are paired.
"""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table
from scipy.stats import rankdata

from benchmarks.real_data import WORDS, Data, absent, read

MIN_PROBABILITY = 1e-6
"""Log losses are taken with probabilities of at least this, or one sure mistake would decide."""


class Racer(NamedTuple):
    """A classifier to be made with settings and a seed."""

    make: Callable[..., Any]
    settings: dict[str, Any]

    def fit(self, X: NDArray[np.float64], y: NDArray[np.int64], seed: int = 0) -> Any:
        """Fit a new classifier, without warnings about names and versions."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return self.make(**self.settings, random_state=seed).fit(X, y)


Racers = dict[str, Racer]
Record = dict[str, float]
Results = dict[tuple[str, str, int], Record]
"""What came of a set, a racer and a seed."""


def race(racer: Racer, data: Data, seed: int) -> Record:
    """Fit on three quarters of the rows, and measure on the others."""
    from sklearn.model_selection import train_test_split

    X, y = data
    train, test = train_test_split(np.arange(len(y)), test_size=0.25, random_state=seed)
    # A rare class may be missing from the training part, and not all libraries skip a number.
    classes, codes = np.unique(y[train], return_inverse=True)
    started = time.perf_counter()
    model = racer.fit(X[train], codes, seed)
    seconds = time.perf_counter() - started
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wrong = classes[model.predict(X[test])] != y[test]
    return {
        "error": float(wrong.mean()),
        "log_loss": log_loss(model, X[test], y[test], classes),
        "seconds": seconds,
    }


def log_loss(
    model: Any, X: NDArray[np.float64], y: NDArray[np.int64], classes: NDArray[np.int64]
) -> float:
    """Mean of -log of the probability given to the true class, among rows whose class is known."""
    has_class = np.isin(y, classes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        probabilities = model.predict_proba(X[has_class])
    true = probabilities[np.arange(len(probabilities)), np.searchsorted(classes, y[has_class])]
    return float(-np.log(np.clip(true, MIN_PROBABILITY, None)).mean())


class Store:
    """Results as lines of JSON in a file; the last line of a fit counts."""

    def __init__(self, path: Path | None, forget: set[str]) -> None:
        self.path = path
        lines = path.read_text().splitlines() if path and path.exists() else []
        entries = [json.loads(line) for line in lines]
        self._found = {
            self._key(e["set"], e["racer"], e["settings"], e["seed"]): e["result"]
            for e in entries
            if e["racer"] not in forget
        }

    def get(self, name: str, racer: str, settings: dict[str, Any], seed: int) -> Record | None:
        """Return the stored result of a fit with these settings."""
        return self._found.get(self._key(name, racer, settings, seed))

    def put(
        self, name: str, racer: str, settings: dict[str, Any], seed: int, result: Record
    ) -> None:
        """Append a result to the file, so that an interrupted run can continue."""
        if self.path:
            entry = {"set": name, "racer": racer, "settings": settings, "seed": seed}
            with self.path.open("a") as file:
                file.write(json.dumps(entry | {"result": result}) + "\n")

    @staticmethod
    def _key(name: str, racer: str, settings: dict[str, Any], seed: int) -> str:
        return json.dumps([name, racer, settings, seed], sort_keys=True)


def tournament(
    console: Console, sets: list[str], racers: Racers, splits: int, store: Store
) -> Results:
    """Run every racer on every split of every set that is present."""
    results: Results = {}
    for name in sets:
        if problem := absent(name):
            console.print(problem)
            continue
        data: Data | None = None  # read only where something is left to fit
        for seed in range(splits):
            for who, racer in racers.items():
                result = store.get(name, who, racer.settings, seed)
                if result is None:
                    data = data or read(name)
                    result = race(racer, data, seed)
                    store.put(name, who, racer.settings, seed, result)
                results[name, who, seed] = result
    return results


class Board:
    """The results of a tournament by measure."""

    def __init__(self, results: Results, racers: Racers) -> None:
        self.results, self.racers = results, racers
        self.sets = list(dict.fromkeys(name for name, _, _ in results))
        self.seeds = sorted({seed for _, _, seed in results})

    def runs(self, name: str, who: str, what: str) -> NDArray[np.float64]:
        """One figure for each split."""
        return np.array([self.results[name, who, seed][what] for seed in self.seeds])

    def ranks(self, what: str) -> NDArray[np.float64]:
        """The mean over all splits of all sets of each racer's rank; ties share theirs."""
        figures = [[self.runs(name, who, what) for who in self.racers] for name in self.sets]
        mean_ranks: NDArray[np.float64] = rankdata(np.array(figures), axis=1).mean(axis=(0, 2))
        return mean_ranks

    def show_means(self, console: Console, what: str, title: str) -> None:
        """Print means over splits, their standard errors, and mean ranks."""
        table = new_table(title, self.racers)
        for name in self.sets:
            table.add_row(
                WORDS.get(name, name),
                *(_mean(self.runs(name, who, what)) for who in self.racers),
            )
        table.add_section()
        table.add_row("mean rank", *(f"{rank:.2f}" for rank in self.ranks(what)))
        console.print(table)

    def show_seconds(self, console: Console) -> None:
        """Print seconds summed over splits."""
        table = new_table(f"seconds to fit, summed over {len(self.seeds)} splits", self.racers)
        for name in self.sets:
            sums = [self.runs(name, who, "seconds").sum() for who in self.racers]
            table.add_row(WORDS.get(name, name), *(f"{s:,.2f}" for s in sums))
        console.print(table)

    def show_ratios(self, console: Console, what: str, ours: list[str], others: list[str]) -> None:
        """Print ours as a multiple of the best of the others (by mean), and geometric means."""
        if not ours:
            return
        best_of = "the best of " if len(others) > 1 else ""
        table = new_table(f"{what}: ratio to {best_of}{', '.join(others)}", ours)
        ratios = []
        for name in self.sets:
            best = min(self.runs(name, who, what).mean() for who in others)
            means = np.array([self.runs(name, who, what).mean() for who in ours])
            ratios.append(means / best if best > 0 else np.full(len(ours), np.nan))
            table.add_row(WORDS.get(name, name), *(f"{ratio:.3f}" for ratio in ratios[-1]))
        table.add_section()
        positive = np.array([row for row in ratios if np.all(row > 0)])
        if len(positive):
            middle = np.exp(np.log(positive).mean(axis=0))
            table.add_row("geometric mean", *(f"{ratio:.3f}" for ratio in middle))
        console.print(table)


def new_table(title: str, columns: Iterable[str]) -> Table:
    """A table of figures whose rows have names."""
    table = Table(title=title, title_justify="left")
    table.add_column("", no_wrap=True)
    for column in columns:
        table.add_column(column, justify="right")
    return table


def _mean(runs: NDArray[np.float64]) -> str:
    if len(runs) == 1:
        return f"{runs[0]:.4f}"
    return f"{runs.mean():.4f} ±{runs.std(ddof=1) / np.sqrt(len(runs)):.4f}"
