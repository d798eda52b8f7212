"""The margin family on all of adult: rounds, seconds, margins, and how few rules have a vote.

    python benchmarks/bench_family.py                   as they come, and held to 100 rounds
    python benchmarks/bench_family.py adult spambase    other sets

The first table has every booster as it comes, which may end by its proof long before the rounds are
used up. In the second the margin of the worst row counts and hardly any gap is small enough to
stop, so that all rounds are run: what a round costs at worst. The goal is 60 s for 100 rounds on
all of adult, on two cores.
"""

from __future__ import annotations

import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks import real_data
from benchmarks.tournament import new_table
from pacboost import BoostClassifier
from pacboost.boosters.choose import as_booster
from pacboost.estimators.fitting.nested import with_fields

ROUNDS = 100
MAX_SECONDS = 60
FAMILY = (
    "adaboost",
    "adaboost_v",
    "arc_gv",
    "lp",
    "total",
    "soft",
    "erlp",
    "corrective_erlp",
    "mlp",
)
FIXED_PARAMETERS = {"share": 0.0, "tolerance": 0.001}


def held(name: str) -> Any:
    """Return the booster with the parameters of this benchmark: the worst row, and a small gap."""
    booster = as_booster(name)
    return with_fields(
        booster, {k: v for k, v in FIXED_PARAMETERS.items() if k in vars(booster)}, "booster"
    )


def bench(console: Console, name: str, title: str, make: Any) -> None:
    """Fit every booster on all rows, and print a table."""
    X, y = real_data.read(name)
    columns = [
        "rounds",
        "seconds",
        f"under {MAX_SECONDS} s",
        "margin",
        "gap",
        "rules with a vote",
        "training error",
    ]
    table = new_table(f"{name}, {len(y):,} rows, stumps, {title}", columns)
    for booster in FAMILY:
        started = time.perf_counter()
        model = BoostClassifier(
            make(booster), "stump", ROUNDS, early_stopping=False, random_state=0
        ).fit(X, y)
        seconds = time.perf_counter() - started
        last = model.ledger_.rounds[-1]
        table.add_row(
            booster,
            str(last.number),
            f"{seconds:.1f}",
            "met" if seconds < MAX_SECONDS else "missed",
            "" if last.margin is None else f"{last.margin:.4f}",
            "" if last.gap is None else f"{last.gap:.4f}",
            str(int(np.count_nonzero([entry.vote for entry in model.ledger_.rounds]))),
            f"{last.training_error:.4f}",
        )
    console.print(table)


def main() -> None:
    """Run both tables for every set."""
    warnings.simplefilter("ignore")
    console = Console(width=110)
    for name in sys.argv[1:] or ["adult"]:
        if reason := real_data.absent(name):
            console.print(reason)
            continue
        BoostClassifier("total", "stump", 3).fit(*real_data.read(name))  # loads modules
        bench(console, name, "as they come", as_booster)
        bench(console, name, f"held to {ROUNDS} rounds", held)


if __name__ == "__main__":
    main()
