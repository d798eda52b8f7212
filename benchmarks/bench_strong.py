"""How accurate and how fast boosted trees are, beside the libraries people use.

    python benchmarks/bench_strong.py                     all of these but the last, in turn:
    python benchmarks/bench_strong.py accuracy            default settings on real data, five splits
    python benchmarks/bench_strong.py speed               100 trees of 31 leaves, all cores
    python benchmarks/bench_strong.py memory              the peak beyond the input
    python benchmarks/bench_strong.py letter              26 classes
    python benchmarks/bench_strong.py share               what rows that certify cost, and give

    python benchmarks/bench_strong.py accuracy --sets adult,letter --splits 2 --out results.jsonl
    python benchmarks/bench_strong.py choose --variant 'slow:{"learning_rate": 0.05}' --peers

``choose`` and ``share`` compare settings of pacboost on other sets than those of ``accuracy``, so
that no published error comes from a set that had a say in the defaults. ``--out`` keeps every fit
as a line of JSON; what it already has is not fitted again (``--again`` fits pacboost anew).

Errors are on the same rows for all: a random quarter, seeds 0, 1, ... Text is coded alike for all
(see real_data.py). Real data that is absent is skipped, and a line says so.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from scipy.special import expit

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.bench_spine import least
from benchmarks.real_data import CHOOSING, REPORTED, Data, absent, read
from benchmarks.tournament import Board, Racer, Racers, Store, log_loss, new_table, tournament

OURS = "pacboost"
BOOSTING = ("LightGBM", "XGBoost", "HistGradientBoosting")
SPLITS = 5
TREES, LEAVES, RATE = 100, 31, 0.1
DELTA = 0.05
ROWS_OF_SHARES, TEST_ROWS = (500, 1000, 2000, 4000), 20_000


def peers() -> Racers:
    """The other libraries with their default settings, on all cores."""
    from lightgbm import LGBMClassifier
    from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
    from xgboost import XGBClassifier

    return {
        "LightGBM": Racer(LGBMClassifier, {"n_jobs": -1, "verbose": -1}),
        "XGBoost": Racer(XGBClassifier, {"n_jobs": -1}),
        "HistGradientBoosting": Racer(HistGradientBoostingClassifier, {}),
        "RandomForest": Racer(RandomForestClassifier, {"n_jobs": -1}),
        "AdaBoost": Racer(_adaboost, {}),
    }


def _adaboost(random_state: int) -> Any:
    """Return scikit-learn's AdaBoost with medians for missing numbers, which it refuses."""
    from sklearn.ensemble import AdaBoostClassifier
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline

    imputer = SimpleImputer(strategy="median", keep_empty_features=True)
    return make_pipeline(imputer, AdaBoostClassifier(random_state=random_state))


def ours(
    console: Console, variants: dict[str, dict[str, Any]], classes: tuple[int, ...] = (2, 3)
) -> Racers:
    """Return pacboost once for each variant, loaded; empty if it cannot be imported."""
    try:
        from pacboost import BoostClassifier  # type: ignore[attr-defined, unused-ignore]
    except ImportError as problem:
        console.print(f"{OURS}: left out ({problem})")
        return {}
    X = np.random.default_rng(0).normal(size=(300, 3))
    racers = {name: Racer(BoostClassifier, settings) for name, settings in variants.items()}
    for racer in racers.values():
        for count in classes:
            racer.fit(X, np.digitize(X[:, 0], [-0.4, 0.4][: count - 1]))
    return racers


def bench_accuracy(console: Console, options: argparse.Namespace) -> None:
    """Compare default settings on the reported sets."""
    sets = _chosen(options, REPORTED)
    our_racers = {} if options.without_ours else ours(console, {OURS: {}})
    compare(console, options, sets, our_racers, our_racers | peers(), ["error"])


def bench_choose(console: Console, options: argparse.Namespace) -> None:
    """Compare settings of pacboost on the sets kept for that."""
    sets = _chosen(options, CHOOSING)
    our_racers = {} if options.without_ours else ours(console, options.variant or {OURS: {}})
    racers = our_racers | peers() if options.peers else our_racers
    compare(console, options, sets, our_racers, racers, ["error", "log_loss"])


def bench_letter(console: Console, options: argparse.Namespace) -> None:
    """Compare error and time on 26 classes with LightGBM."""
    our_racers = {} if options.without_ours else ours(console, {OURS: {}})
    racers = our_racers | {"LightGBM": peers()["LightGBM"]}
    compare(console, options, ["letter"], our_racers, racers, ["error"])


def _chosen(options: argparse.Namespace, sets: tuple[str, ...]) -> list[str]:
    if strangers := set(options.sets) - set(sets):
        message = f"{', '.join(sorted(strangers))}: not among the sets of this part"
        raise SystemExit(f"{message}, which are {', '.join(sets)}")
    return [name for name in sets if name in (options.sets or sets)]


def compare(
    console: Console,
    options: argparse.Namespace,
    sets: list[str],
    our_racers: Racers,
    racers: Racers,
    measures: list[str],
) -> None:
    """Hold a tournament and print its tables."""
    store = Store(options.out, forget=set(our_racers) if options.again else set())
    results = tournament(console, sets, racers, options.splits, store)
    if not results:
        return
    board = Board(results, racers)
    others = [who for who in BOOSTING if who in racers] or list(our_racers)[:1]
    for what in measures:
        title = f"{what}: mean ± standard error of {options.splits} random splits, 75 % to 25 %"
        board.show_means(console, what, title)
        board.show_ratios(console, what, list(our_racers), others)
    board.show_seconds(console)
    board.show_ratios(console, "seconds", list(our_racers), others[:1])


def make_world(rows: int, features: int = 28) -> Data:
    """Gaussian features and a label drawn with odds that no sum of single features gives."""
    generator = np.random.default_rng(0)
    X = generator.normal(size=(rows, features))
    odds = X[:, 0] * X[:, 1] + np.sin(2 * X[:, 2]) + np.abs(X[:, 3]) - 0.8
    odds += 0.5 * np.where(X[:, 4] > 0.5, X[:, 5], -X[:, 6]) + 0.1 * X[:, 7:17].sum(axis=1)
    return X, (generator.random(rows) < expit(odds)).astype(np.int64)


def large_data(console: Console) -> dict[str, Callable[[], Data]]:
    """Return the large sets by name; those that are absent are left out."""

    def covtype() -> Data:
        X, y = read("covtype")
        return X, (y == 1).astype(np.int64)

    sets: dict[str, Callable[[], Data]] = {}
    if problem := absent("covtype"):
        console.print(problem)
    else:
        sets["covtype, class 2 or not"] = covtype
    sets["28 Gaussian features"] = partial(make_world, 1_000_000)
    return sets


def equal_work(trees: int = TREES) -> Racers:
    """Return the settings of each library for trees of 31 leaves at rate 0.1."""
    from lightgbm import LGBMClassifier
    from sklearn.ensemble import HistGradientBoostingClassifier
    from xgboost import XGBClassifier

    light = {
        "n_estimators": trees,
        "num_leaves": LEAVES,
        "learning_rate": RATE,
        "n_jobs": -1,
        "verbose": -1,
    }
    extreme = {"n_estimators": trees, "learning_rate": RATE, "tree_method": "hist", "n_jobs": -1}
    leafwise = {"grow_policy": "lossguide", "max_leaves": LEAVES, "max_depth": 0}
    histogram = {
        "max_iter": trees,
        "max_leaf_nodes": LEAVES,
        "learning_rate": RATE,
        "early_stopping": False,
    }
    return {
        "LightGBM": Racer(LGBMClassifier, light),
        "LightGBM, quantised": Racer(LGBMClassifier, light | {"use_quantized_grad": True}),
        "XGBoost, 31 leaves": Racer(XGBClassifier, extreme | leafwise),
        "XGBoost, depth 6": Racer(XGBClassifier, extreme | {"max_depth": 6}),
        "HistGradientBoosting": Racer(HistGradientBoostingClassifier, histogram),
    }


def our_work(console: Console, trees: int = TREES) -> Racers:
    """Our two boosters with the same settings."""
    settings = {
        "n_estimators": trees,
        "learning_rate": RATE,
        "max_leaves": LEAVES,
        "min_leaf_rows": 20,
        "subsample": 1.0,
        "max_features": 1.0,
        "early_stopping": False,
    }
    boosters = {f"{OURS}, logit": "logit", f"{OURS}, adaboost": "adaboost"}
    variants = {name: settings | {"booster": booster} for name, booster in boosters.items()}
    return ours(console, variants, classes=(2,))


def bench_speed(console: Console, options: argparse.Namespace) -> None:
    """Time a fit, binning included, and print its error on test rows."""
    from sklearn.model_selection import train_test_split

    racers = ({} if options.without_ours else our_work(console)) | equal_work()
    for name, load in large_data(console).items():
        X, y = load()
        rows = X.shape
        X, X_test, y, y_test = train_test_split(X, y, test_size=0.2, random_state=0)
        seconds, models = timed(racers, X, y)
        title = f"{name}: {len(y):,} of {rows[0]:,} x {rows[1]}, {TREES} trees, binning included"
        first = next(iter(seconds))
        table = new_table(title, ["seconds", f"times {first}", "log loss", "error"])
        for who, model in models.items():
            loss = log_loss(model, X_test, y_test, np.array([0, 1]))
            error = float((model.predict(X_test) != y_test).mean())
            times = seconds[who] / seconds[first]
            table.add_row(who, f"{seconds[who]:.2f}", f"{times:.2f}", f"{loss:.4f}", f"{error:.4f}")
        console.print(table)


def timed(
    racers: Racers, X: NDArray[np.float64], y: NDArray[np.int64]
) -> tuple[dict[str, float], dict[str, Any]]:
    """Seconds of the fastest fit of each, and the models."""
    models: dict[str, Any] = {}

    def fit(who: str) -> None:
        models[who] = racers[who].fit(X, y)

    return least({who: partial(fit, who) for who in racers}), models


MEMORY = """
import sys
import numpy as np
from rich.console import Console
folder, who, root = sys.argv[1:]
sys.path.insert(0, root)
from benchmarks.bench_strong import equal_work, our_work
X, y = np.load(folder + "/X.npy"), np.load(folder + "/y.npy")
racers = equal_work(20)
racer = racers[who] if who in racers else our_work(Console(stderr=True), 20)[who]
racer.fit(X[:20_000], y[:20_000])
open("/proc/self/clear_refs", "w").write("5")
peak = lambda key: int(next(l for l in open("/proc/self/status") if l.startswith(key)).split()[1])
before = peak("VmRSS")
racer.fit(X, y)
print((peak("VmHWM") - before) * 1024)
"""


def bench_memory(console: Console, options: argparse.Namespace) -> None:
    """Measure the peak memory beyond the input, each in its own process."""
    if not Path("/proc/self/clear_refs").exists():
        console.print("memory: needs Linux's /proc, skipped")
        return
    our_racers = [] if options.without_ours else list(our_work(console, 1))
    for name, load in large_data(console).items():
        with tempfile.TemporaryDirectory() as folder:
            X, y = load()
            np.save(f"{folder}/X.npy", X)
            np.save(f"{folder}/y.npy", y)
            size, shape = X.nbytes, X.shape
            del X, y
            extra = {who: _peak(folder, who) for who in [*our_racers, "LightGBM"]}
        title = f"{name}, {shape[0]:,} x {shape[1]}: memory beyond the input of"
        table = new_table(f"{title} {size / 1e6:,.0f} MB", ["MB", "bytes a cell", "times LightGBM"])
        for who, peak in extra.items():
            times = peak / extra["LightGBM"]
            cells = shape[0] * shape[1]
            table.add_row(who, f"{peak / 1e6:,.1f}", f"{peak / cells:.2f}", f"{times:.2f}")
        console.print(table)


def _peak(folder: str, who: str) -> int:
    root = str(Path(__file__).parents[1])
    command = [sys.executable, "-c", MEMORY, folder, who, root]
    return int(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)


def bench_share(console: Console, options: argparse.Namespace) -> None:
    """Compare as many certifying rows as StrongClassifier has with a tenth, up to 100, and none.

    Random rows of a set are fitted to; up to 20,000 of its other rows measure errors.
    """
    from pacboost.fit.role_sizes import certifying_rows

    for rows in ROWS_OF_SHARES:
        fewer = max(min(100, rows // 10), rows // 20)
        counts = {"now": certifying_rows(rows, None, DELTA), "fewer": fewer, "none": 0}
        figures = {}
        for name in _chosen(options, CHOOSING):
            if absent(name) or len((data := read(name))[1]) < min(2 * rows, rows + 1000):
                continue
            runs = [divided(data, rows, counts, seed) for seed in range(options.splits)]
            figures[name] = {who: np.mean([run[who] for run in runs], axis=0) for who in counts}
        if not figures:
            continue
        title = (
            f"{rows:,} rows, {counts['now']} or {fewer} certify: geometric mean ± standard error"
        )
        table = new_table(f"{title} of {len(figures)} sets", ["certificate", "error", "log loss"])
        for other in ("fewer", "none"):
            logs = np.log([each["now"] / each[other] for each in figures.values()])
            ratios, errors = np.exp(logs.mean(axis=0)), logs.std(axis=0, ddof=1) / len(logs) ** 0.5
            cells = [f"{r:.3f} ±{r * e:.3f}" for r, e in zip(ratios, errors, strict=True)]
            table.add_row(f"ratio to {other}", *(cells if counts[other] else ["", *cells[1:]]))
        console.print(table)


def divided(
    data: Data, rows: int, counts: dict[str, int], seed: int
) -> dict[str, tuple[float, float, float]]:
    """Fit to so many rows, of which some certify; return certificates, errors and log losses."""
    from pacboost import BoostClassifier

    X, y = data
    order = np.random.default_rng([seed, rows]).permutation(len(y))
    learn, test = order[:rows], order[rows : rows + TEST_ROWS]
    measured = {}
    for who, count in counts.items():
        apart = {"certify": "holdout", "holdout": count / rows} if count else {}
        model = Racer(BoostClassifier, {"n_jobs": 1, **apart}).fit(X[learn], y[learn], seed)
        certified = model.certificate_.value if count else 1.0
        error = float((model.predict(X[test]) != y[test]).mean())
        measured[who] = (certified, error, log_loss(model, X[test], y[test], model.classes_))
    return measured


PARTS = {
    "accuracy": bench_accuracy,
    "speed": bench_speed,
    "memory": bench_memory,
    "letter": bench_letter,
    "choose": bench_choose,
    "share": bench_share,
}


def _variant(text: str) -> tuple[str, dict[str, Any]]:
    name, _, settings = text.partition(":")
    try:
        return name, dict(json.loads(settings or "{}"))
    except (ValueError, TypeError) as problem:
        message = f"{text!r} is not name:{{...}} with settings as a JSON object ({problem})"
        raise argparse.ArgumentTypeError(message) from problem


def _options() -> argparse.Namespace:
    first = (__doc__ or "").partition("\n")[0]
    parser = argparse.ArgumentParser(description=first)
    add = parser.add_argument
    add("parts", nargs="*", metavar="part", help=", ".join(PARTS))
    add("--sets", default="", help="names of data sets, with commas; all of the part if not given")
    add("--splits", type=int, default=SPLITS, help="random splits of each set")
    add("--out", type=Path, help="file that keeps results, and from which a run goes on")
    add("--again", action="store_true", help="fit pacboost anew, though --out has results of it")
    add("--without-ours", action="store_true", help="leave pacboost out")
    add("--variant", type=_variant, action="append", help="name:{settings}, for choose; repeatable")
    add("--peers", action="store_true", help="let the other libraries take part in choose")
    options = parser.parse_args()
    if unknown := set(options.parts) - set(PARTS):
        parser.error(f"{', '.join(sorted(unknown))}: no such part; there are {', '.join(PARTS)}")
    options.sets = [name for name in options.sets.split(",") if name]
    options.variant = dict(options.variant or [])
    return options


def main() -> None:
    """Run the parts that the command line names."""
    options = _options()
    console = Console() if sys.stdout.isatty() else Console(width=160)
    for part in options.parts or [part for part in PARTS if part not in ("choose", "share")]:
        PARTS[part](console, options)


if __name__ == "__main__":
    main()
