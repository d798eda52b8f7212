"""How accurate StrongClassifier is beside BoostClassifier, and how close its certificates come.

    python benchmarks/bench_product.py                            all reported sets, three splits
    python benchmarks/bench_product.py adult letter --splits 1    or those named
    python benchmarks/bench_product.py --out results.jsonl        keep results, and go on from them

All are fitted on the same random three quarters of the rows. StrongClassifier sets rows apart for
the certificate and never learns from them; BoostClassifier learns from all, by its defaults and
tuned: up to 1000 rounds, as many as are best on held-back rows, then refitted on all. What has to
hold: the error of StrongClassifier() is at most 1.03 times theirs, in the geometric mean over the
sets. Another table has the bounds beside the errors on the last quarter. A bound may fail with
probability 1/20, and those errors are estimates themselves.

That a twentieth of many rows certifies, and not a tenth, and the most rounds with many classes were
settled after a look at these sets; all else on those of ``bench_strong.py choose``.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from rich.console import Console

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.real_data import REPORTED
from benchmarks.tournament import Board, Racer, Racers, Results, Store, new_table, tournament
from pacboost import BoostClassifier
from pacboost.estimators.strong.classifier import StrongClassifier

DEFAULT, TUNED, STRONG = "BoostClassifier()", "tuned", "StrongClassifier()"
TUNING = {"n_estimators": 1000, "early_stopping": "refit"}
CERTIFIED = "certified"


class Telling(StrongClassifier):
    """A classifier that records its certified bound for the tournament."""

    notes: list[float] = []  # noqa: RUF012

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, **options: Any) -> Any:
        """Fit, and record the bound."""
        super().fit(X, y, sample_weight, **options)
        self.notes.append(self.verdict_.value)
        return self


def racers() -> Racers:
    """Defaults, defaults tuned by hand, and the one that tunes and certifies itself."""
    return {
        DEFAULT: Racer(BoostClassifier, {}),
        TUNED: Racer(BoostClassifier, TUNING),
        STRONG: Racer(Telling, {}),
    }


class NotingStore(Store):
    """Keeps the bound with the result."""

    def put(
        self, name: str, racer: str, settings: dict[str, Any], seed: int, result: dict[str, float]
    ) -> None:
        """Add the certified bound, if there is one."""
        if racer == STRONG:
            result[CERTIFIED] = Telling.notes.pop()
        super().put(name, racer, settings, seed, result)


def show_certificates(console: Console, board: Board, results: Results) -> None:
    """Print bounds beside errors on test rows."""
    table = new_table("StrongClassifier()", ["error", "certified", "at most", "violations"])
    for name in board.sets:
        errors = board.runs(name, STRONG, "error")
        bounds = board.runs(name, STRONG, CERTIFIED)
        table.add_row(
            name, f"{errors.mean():.4f}", f"{bounds.mean():.4f}",
            f"{(bounds / errors).mean():.2f} x", str(int((bounds < errors).sum())),
        )  # fmt: skip
    console.print(table)


def main() -> None:
    """Hold the tournament and print its tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("sets", nargs="*", help="names of data sets; without, all reported ones")
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--out", type=Path, help="file that keeps results")
    options = parser.parse_args()
    console = Console() if sys.stdout.isatty() else Console(width=120)
    sets = list(options.sets or REPORTED)
    every = racers()
    store = NotingStore(options.out, set())
    results = tournament(console, sets, every, options.splits, store)
    if not results:
        return
    board = Board(results, every)
    board.show_means(console, "error", f"errors, mean of {options.splits} splits")
    board.show_ratios(console, "error", [STRONG, TUNED], [DEFAULT])
    board.show_ratios(console, "error", [STRONG], [TUNED])
    show_certificates(console, board, results)
    board.show_seconds(console)


if __name__ == "__main__":
    main()
