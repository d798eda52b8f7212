"""Boosting by filtering beside LightGBM and XGBoost: time to a loss, memory, and rows kept.

    python benchmarks/bench_filtering.py                          a tour at 2,000,000 rows
    python benchmarks/bench_filtering.py speed thin --rows 10_000_000 --learner tree --target 0.06
    python benchmarks/bench_filtering.py floor thin --rows 10_000_000     what 5 % of the rows reach
    python benchmarks/bench_filtering.py growth thin --target 0.06        1, 3 and 10 million rows
    python benchmarks/bench_filtering.py memory --memory 1 --in-memory    Parquet, 10 times that
    python benchmarks/bench_filtering.py rows_kept                        memory against ln(1/ε)

``--out FILE`` keeps every result as a line of JSON as soon as it is there; ``--ours key=value``
sets parameters of FilterBoostClassifier. The worlds, and why data matter in them, are in
filtering_worlds.py.

Time to a loss. The clock runs from arrays in memory to the first round after which the log loss on
200,000 fresh rows is at or below the target; looking at these rows is not on it. Ours is the median
of complete fits with the number of rounds that earlier fits needed: drawing, encoding, scoring,
boosting, and the certificate. Peers start with the construction of their data sets, and are stopped
at ``--limit`` times our time, or when their loss has not fallen for half of their rounds; the round
that reached the target is found by bisection, so how often one looks costs them nothing. Uniform
subsamples are the first rows of the array, which costs nothing either. Everyone has the same rate
and as many leaves, all cores, and its own process, and reads the data before the clock starts.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks import filtering_worlds as worlds
from benchmarks.filtering_runs import (
    GROUP_ROWS,
    LEAVES,
    REACHED,
    TEST_ROWS,
    TIME_UP,
    Floats,
    Result,
    Spec,
)
from benchmarks.tournament import new_table

OURS = "pacboost"
RUNS = Path(__file__).with_name("filtering_runs.py")
RATES = {"tree": 0.2, "stump": 0.3}
FRACTIONS = {"1/1000": 0.001, "1/100": 0.01, "1/20": 0.05, "1/5": 0.2, "1/2": 0.5}
SMALL_FRACTION = 0.05
"""Share of rows: a uniform subsample of this size must not reach the target where data matter."""
BELOW = 0.97
"""Without a target, it is this times what a subsample of 5 % reaches: out of its reach."""
ABOVE = 1.01
"""And this times that in a saturated world: within reach of a sample that is smaller still."""
BAGGING = {"bagging_fraction": 0.1, "bagging_freq": 5}
ALL_ROWS = ("LightGBM", "LightGBM, l2 = 1")
"""The runs of LightGBM that do not sample."""
CALM = {"rare": {"lambda_l2": 1.0}, "crowd": {"lambda_l2": 1.0}}
"""Where LightGBM as it comes diverges: leaves of a rare class have next to no curvature. XGBoost
and we have this penalty by default."""
TOUR = (("thin", "tree"), ("additive", "stump"), ("rare", "tree"), ("saturated", "tree"))
EPSILONS = (0.2, 0.1, 0.05, 0.02, 0.01)
BUSY = 0.15
"""So many cores in use by others, and a run has to be taken again."""


def work(what: str, spec: Spec, **environment: str) -> Result:
    """Run a job in a new process; record its memory and the load of the machine.

    ``others`` is how many cores other processes had, on average. Libraries whose threads spin while
    they wait for each other lose far more by that than the others take.
    """
    import psutil

    command = [sys.executable, str(RUNS), json.dumps([what, spec])]
    before, started, peak_bytes = _processor_seconds(), time.perf_counter(), 0
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env={**os.environ, **environment}
    )
    watched = psutil.Process(process.pid)
    try:
        while process.poll() is None:
            with contextlib.suppress(psutil.Error):  # it may have ended since
                peak_bytes = max(peak_bytes, watched.memory_info().rss)
            time.sleep(0.02)
    finally:
        process.kill()  # when this one is interrupted
    out, _ = process.communicate()
    if process.returncode:
        raise SystemExit(f"{what} ended with {process.returncode}")
    others = (_processor_seconds() - before) / (time.perf_counter() - started)
    result: Result = json.loads(out.splitlines()[-1])
    return {**result, "peak_seen": peak_bytes, "others": others}


def _processor_seconds() -> float:
    """Return the processor time of all processes so far, except for our finished ones."""
    import psutil

    times = psutil.cpu_times()
    idle = times.idle + getattr(times, "iowait", 0.0)
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return float(sum(times[:8]) - idle - usage.ru_utime - usage.ru_stime)


class Bench:
    """The options of a run, its console and its file."""

    def __init__(self, options: argparse.Namespace, console: Console) -> None:
        self.options, self.console = options, console

    def keep(self, part: str, who: str, spec: Spec, result: Result) -> Result:
        """Append a result to the file."""
        if self.options.out:
            entry = {"part": part, "who": who, **_without(spec, "cache", "folder"), **result}
            with self.options.out.open("a") as file:
                file.write(json.dumps(entry) + "\n")
        return result

    def say(self, text: str) -> None:
        """Print a line."""
        self.console.print(text, highlight=False)

    def warn(self, results: dict[str, Result]) -> None:
        """Name the runs during which other processes were busy."""
        busy = [f"{w} ({r['others']:.1f})" for w, r in results.items() if r["others"] > BUSY]
        if busy:
            self.say(f"not to be trusted: others used cores during the runs of {', '.join(busy)}")

    def spec(self, world: str, learner: str, **settings: Any) -> Spec:
        """Return the settings that all runs of a race share."""
        options = self.options
        rate = options.rate or RATES[learner]
        shared = {"world": world, "learner": learner, "rate": rate, "ours": dict(options.ours)}
        return {**shared, "cache": str(options.cache), **settings}

    def race(self, world: str, learner: str, rows: int, **settings_of_world: Any) -> Spec:
        """Return the settings of a race on arrays, which are written if they are absent."""
        spec = self.spec(world, learner, rows=rows, **settings_of_world)
        work("arrays", spec)
        return spec


def _without(spec: Spec, *names: str) -> Spec:
    return {name: value for name, value in spec.items() if name not in names}


def peers(world: str) -> Iterator[tuple[str, str, float, Spec]]:
    """Yield name, library, share of the rows and settings of every peer."""
    calm = CALM.get(world, {})
    yield ALL_ROWS[0], "lightgbm", 1.0, {}
    if calm:
        yield ALL_ROWS[1], "lightgbm", 1.0, calm
    yield "LightGBM, bagging 0.1", "lightgbm", 1.0, {**BAGGING, **calm}
    yield "LightGBM, GOSS", "lightgbm", 1.0, {"data_sample_strategy": "goss", **calm}
    yield "XGBoost", "xgboost", 1.0, {}
    yield "XGBoost, subsample 0.1", "xgboost", 1.0, {"subsample": 0.1}
    for name, fraction in FRACTIONS.items():
        yield f"LightGBM on {name}", "lightgbm", fraction, calm
        yield f"XGBoost on {name}", "xgboost", fraction, {}


def bench_floor(bench: Bench) -> None:
    """Print the loss that 5 % of the rows reach without a time limit."""
    options = bench.options
    floor(bench, bench.race(options.world, options.learner, options.rows))


def floor(bench: Bench, spec: Spec) -> float:
    """The least loss that libraries reach on a uniform subsample of 5 %."""
    reached = math.inf
    for who in ("lightgbm", "xgboost"):
        limits = {"target": -1.0, "seconds": bench.options.patience, "fraction": SMALL_FRACTION}
        settings = CALM.get(spec["world"], {}) if who == "lightgbm" else {}
        result = work(who, {**spec, **limits, "settings": settings})
        bench.keep("floor", who, spec, result)
        reached = min(reached, result["loss"])
        bench.say(
            f"{spec['world']}, {spec['learner']}, {who} on 5 % of {spec['rows']:,} rows: loss "
            f"{result['loss']:.5f} ({result['outcome']} after {result['seconds']:.0f} s, "
            f"{result['rounds']} rounds)"
        )
    return reached


def bench_speed(bench: Bench) -> None:
    """Race to a loss."""
    race(bench, bench.options.world, bench.options.learner)


def race(bench: Bench, world: str, learner: str) -> None:
    """Run every library to the target, ours first."""
    options = bench.options
    spec = bench.race(world, learner, options.rows)
    factor = ABOVE if world in worlds.SATURATED else BELOW
    spec["target"] = options.target or factor * floor(bench, spec)
    limits = {"most_rounds": options.most_rounds, "repeats": options.repeats}
    ours = bench.keep("speed", OURS, spec, work("ours", {**spec, **limits}))
    title = f"{world}, {options.rows:,} rows, {learner}, to a log loss of {spec['target']:.5f}"
    if ours["seconds"] is None:
        bench.say(f"{title}: {OURS} came to {ours['loss']:.5f} only ({ours['stopped']})")
        return
    bench.say(
        f"{title}: {OURS} {ours['seconds']:.2f} s ({ours['drawing']:.2f} s of it drawing; "
        f"{ours['draws']:,} draws in {ours['refills']} refills)"
    )
    limit = options.limit * ours["seconds"]
    results = {OURS: {**ours, "outcome": REACHED, "fraction": 1.0}}
    for who, library, fraction, settings in peers(world):
        if options.peers and not any(word in who for word in options.peers):
            continue
        request = {**spec, "fraction": fraction, "settings": settings, "seconds": limit}
        results[who] = {**work(library, request), "fraction": fraction}
        bench.keep("speed", who, request, results[who])
        last = results[who]
        bench.say(f"  {who}: {last['outcome']}, {last['seconds']:.1f} s, loss {last['loss']:.5f}")
    _show_race(bench, title, results)


def _show_race(bench: Bench, title: str, results: dict[str, Result]) -> None:
    our_seconds = results[OURS]["seconds"]
    columns = ["seconds", "times ours", "rounds", "loss", "error", ""]
    table = new_table(title, columns)
    for who, result in results.items():
        prefix = "> " if result["outcome"] == TIME_UP else ""
        never = result["outcome"] not in (REACHED, TIME_UP)
        table.add_row(
            who,
            f"{prefix}{result['seconds']:,.2f}",
            "never" if never else f"{prefix}{result['seconds'] / our_seconds:,.1f}",
            f"{result['rounds']:,}",
            f"{result['loss']:.5f}",
            f"{result['error']:.5f}",
            result["outcome"],
        )
    bench.console.print(table)
    bench.warn(results)
    others = {who: result for who, result in results.items() if who != OURS}
    reached = {w: r["seconds"] / our_seconds for w, r in others.items() if r["outcome"] == REACHED}
    fastest = min(reached, key=lambda who: reached[who], default="")
    headline = f"{reached[fastest]:.1f} ({fastest})" if fastest else f"> {bench.options.limit:g}"
    times = [reached[who] for who in ALL_ROWS if who in reached]
    all_rows = f"{min(times):.1f}" if times else f"> {bench.options.limit:g}"
    if not others.keys() & set(ALL_ROWS):
        all_rows = "was not asked"
    on_few_rows = [who for who in reached if others[who]["fraction"] <= SMALL_FRACTION]
    bench.say(
        f"headline: the fastest peer that reached it takes {headline} times our time; LightGBM on "
        f"all rows {all_rows}; subsamples of 5 % or less that reached it: "
        f"{', '.join(on_few_rows) or 'none'}"
    )
    summary = {
        "headline": reached.get(fastest),
        "fastest": fastest,
        "few": on_few_rows,
        "title": title,
    }
    bench.keep("summary", OURS, {"limit": bench.options.limit}, summary)


def bench_growth(bench: Bench) -> None:
    """Time ours to the same loss on growing numbers of rows."""
    options = bench.options
    sizes = [int(size) for size in options.sizes.split(",")]
    spec = bench.race(options.world, options.learner, max(sizes))
    spec |= {"most_rounds": options.most_rounds, "repeats": options.repeats}
    spec["target"] = options.target or BELOW * floor(bench, {**spec, "rows": min(sizes)})
    title = f"{options.world}, {options.learner}, to a log loss of {spec['target']:.5f}"
    table = new_table(title, ["seconds", "times the first", "rounds", "draws", "loss"])
    first = None
    for rows in sizes:
        result = work("ours", {**spec, "rows": rows})
        bench.keep("growth", OURS, {**spec, "rows": rows}, result)
        seconds = result["seconds"]
        first = first or seconds
        shown = ["not reached", ""] if seconds is None else [f"{seconds:.2f}", "1.00"]
        if seconds is not None and first is not None:
            shown[1] = f"{seconds / first:.2f}"
        loss = f"{result['loss']:.5f}"
        table.add_row(f"{rows:,}", *shown, str(result["rounds"]), f"{result['draws']:,}", loss)
    bench.console.print(table)


def bench_memory(bench: Bench) -> None:
    """Learn from a folder that is larger than the memory limit."""
    if not Path("/proc/self/status").exists():
        bench.say("memory: needs Linux's /proc, skipped")
        return
    options = bench.options
    size = options.gigabytes or 10 * options.memory
    rows = max(GROUP_ROWS, int(size * 1e9 / (4 * worlds.features(options.world))))
    with tempfile.TemporaryDirectory(dir=options.cache) as folder:
        spec = bench.spec(
            options.world, options.learner, rows=rows, folder=folder, memory=options.memory
        )
        written = work("parquet", spec)["bytes"]
        bench.say(f"{options.world}: {rows:,} rows, {written / 1e9:.2f} GB of Parquet")
        reader = work("reader", {**spec, "passes": options.passes})
        bench.keep("memory", "reader", spec, reader)
        bench.say(
            f"reading alone: {reader['seconds_a_pass']:.1f} s a pass; "
            "MB after each pass: "
            + ", ".join(f"{size / 1e6:.0f}" for size in reader["after_passes"])
        )
        ours = work("source", {**spec, "in_memory": False})
        results = {f"{OURS}, memory={options.memory:g}GB": ours}
        bench.keep("memory", OURS, spec, ours)
        if options.in_memory:
            results[f"{OURS}, all in memory"] = work("source", {**spec, "in_memory": True})
            bench.keep("memory", "in memory", spec, results[f"{OURS}, all in memory"])
        limits = {"target": ours["loss"], "seconds": options.limit * ours["seconds"]}
        other = work("xgboost_external", {**spec, **limits})
        bench.keep("memory", "XGBoost external memory", {**spec, **limits}, other)
        results["XGBoost, external memory"] = other
    _show_memory(bench, rows, results)
    mib = [size / 1e6 for size in ours["after_refills"]]
    half = mib[len(mib) // 2 :]
    bench.say(
        f"MB after refills: first {mib[0]:.0f}, largest of the first half "
        f"{max(mib[: len(mib) // 2 + 1]):.0f}, of the second {max(half):.0f}; "
        f"{ours['draws'] / rows:.2f} passes in {len(mib)} refills, "
        f"{ours['drawing']:.1f} of {ours['seconds']:.1f} s drawing"
    )


def _show_memory(bench: Bench, rows: int, results: dict[str, Result]) -> None:
    columns = ["peak MB", "with test rows", "seconds", "rounds", "loss", "error", ""]
    table = new_table(f"{bench.options.world}, {rows:,} rows of Parquet", columns)
    for who, result in results.items():
        table.add_row(
            who,
            f"{result['peak'] / 1e6:,.0f}",
            f"{result['peak_seen'] / 1e6:,.0f}",
            f"{result['seconds']:,.1f}",
            str(result["rounds"]),
            f"{result['loss']:.5f}",
            f"{result['error']:.5f}",
            result.get("outcome", ""),
        )
    bench.console.print(table)
    bench.warn(results)


def bench_rows_kept(bench: Bench) -> None:
    """Print the rows in memory against ε, with the projected booster.

    A PAC learner can forget most of its sample: memory grows like ln(1/ε), though the draws grow
    like 1/ε and more. Two things are held, and ε has little to do with either. The rows that a
    round learns from are as many as the learner needs to find its edge, 2 ln(2G/δ_t)/γ² of G
    rules, whatever ε is; δ_t falls with the rounds, so ε comes in by ln ln(1/ε). Rules are as
    many as rounds, at most 2 ln(1/ε)/edge². The other boosters by filtering need 1/ε rounds and
    more; this one does not, and that is what the table shows: the largest number of rows that a
    round had, and rules at the end. ``held`` is the largest number of rows that stood in memory
    while a sample was drawn: rows are drawn by the ten thousands, and for a large ε more of them
    are kept than are wanted.

    The world is such that the rounds are needed: each stump has the edge promised and no more.
    """
    from pacboost import FilterBoostClassifier

    world = worlds.WeakFeatures()
    title = f"projection, stumps of edge {world.edge:g} among {world.features} features"
    table = new_table(
        title, ["ln(1/ε)", "rows", "rules", "rows + rules", "held", "draws", "error", "seconds"]
    )
    X_test, y_test = world.draw(TEST_ROWS, 1)
    rows_kept, rules = [], []
    epsilons = [float(epsilon) for epsilon in bench.options.epsilons.split(",")]
    for epsilon in epsilons:
        started = time.perf_counter()
        model = FilterBoostClassifier(
            "projection", "stump", edge=world.edge, epsilon=epsilon, n_certify=0, random_state=0
        ).fit_source(world)
        seconds = time.perf_counter() - started
        ledger = model.ledger_
        # A round's sample has equal weights, so its effective size is its size.
        rows = round(max(entry.effective_size for entry in ledger.rounds))
        accepted = max(refill.accepted for refill in ledger.refills)
        draws = sum(refill.draws for refill in ledger.refills)
        error = float((model.decision_function(X_test) * y_test <= 0).mean())
        rows_kept.append(rows + len(ledger))
        rules.append(len(ledger))
        figures = {"rows": rows, "rules": len(ledger), "held": accepted, "draws": draws}
        result = {**figures, "error": error, "seconds": seconds, "stopped": ledger.stopped}
        bench.keep("rows_kept", OURS, {"epsilon": epsilon}, result)
        bench.say(f"  ε = {epsilon:g}: {rows} rows, {len(ledger)} rules; {ledger.stopped}")
        table.add_row(
            f"ε = {epsilon:g}", f"{-math.log(epsilon):.2f}", f"{rows:,}", str(len(ledger)),
            f"{rows + len(ledger):,}", f"{accepted:,}", f"{draws:,}", f"{error:.4f}",
            f"{seconds:.1f}",
        )  # fmt: skip
    bench.console.print(table)
    logs = -np.log(epsilons)
    _show_line(bench, "rows + rules", logs, np.array(rows_kept, dtype=np.float64))
    _show_line(bench, "rules", logs, np.array(rules, dtype=np.float64))


def _show_line(bench: Bench, what: str, logs: Floats, figures: Floats) -> None:
    """Fit figure = a + b·ln(1/ε), and print the explained variance."""
    if logs.size < 3:
        return
    slope, start = np.polyfit(logs, figures, 1)
    fit = np.corrcoef(logs, figures)[0, 1] ** 2
    other = np.corrcoef(np.exp(logs), figures)[0, 1] ** 2
    bench.say(
        f"{what} = {start:.1f} + {slope:.1f}·ln(1/ε): R² = {fit:.3f} (a line in 1/ε: {other:.3f}); "
        f"×{figures[-1] / figures[0]:.2f} while ln(1/ε) grew ×{logs[-1] / logs[0]:.2f} and 1/ε "
        f"×{math.exp(logs[-1] - logs[0]):.0f}"
    )


def bench_tour(bench: Bench) -> None:
    """Race in all worlds to a loss that 5 % of the rows do not reach, and count rows kept."""
    for world, learner in TOUR:
        race(bench, world, learner)
    bench_rows_kept(bench)


PARTS: dict[str, Callable[[Bench], None]] = {
    "tour": bench_tour,
    "speed": bench_speed,
    "floor": bench_floor,
    "growth": bench_growth,
    "memory": bench_memory,
    "rows_kept": bench_rows_kept,
}


def _setting(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"{text!r} is not key=value")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


def _options() -> argparse.Namespace:
    first = (__doc__ or "").partition("\n")[0]
    parser = argparse.ArgumentParser(description=first)
    add = parser.add_argument
    add("part", nargs="?", default="tour", choices=PARTS, help="all worlds if not given")
    add("world", nargs="?", default="thin", choices=worlds.WORLDS)
    add("--learner", default="tree", choices=LEAVES)
    add("--rows", type=int, default=2_000_000)
    add("--target", type=float, help="log loss; found by floor if not given")
    add("--rate", type=float, help="of everybody; 0.2 for trees and 0.3 for stumps if not given")
    add("--limit", type=float, default=12, help="stop peers at this multiple of our time")
    add("--peers", nargs="*", metavar="WORD", help="only peers whose names have one of these")
    add("--ours", type=_setting, nargs="*", default=[], metavar="KEY=VALUE")
    add("--most-rounds", type=int, default=3200, help="stop our run after this many")
    add("--repeats", type=int, default=3, help="timed fits of ours; the median counts")
    add("--patience", type=float, default=600, help="seconds that floor gives each library")
    add("--sizes", default="1_000_000,3_000_000,10_000_000", help="rows for growth")
    add("--memory", type=float, default=1.0, help="the limit in GB")
    add("--gigabytes", type=float, help="of Parquet; ten times the limit if not given")
    add("--passes", type=int, default=3, help="how often the reader alone reads the folder")
    add("--in-memory", action="store_true", help="fit with all rows in memory too")
    add("--epsilons", default=",".join(map(str, EPSILONS)), help="for rows_kept")
    add("--cache", type=Path, help="folder for data; a temporary one if not given")
    add("--out", type=Path, help="file to which results are added as lines of JSON")
    return parser.parse_args()


def main() -> None:
    """Run the part that the command line names."""
    options = _options()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("terminated"))
    console = Console() if sys.stdout.isatty() else Console(width=130)
    if options.cache:
        options.cache.mkdir(parents=True, exist_ok=True)
        PARTS[options.part](Bench(options, console))
        return
    with tempfile.TemporaryDirectory() as folder:
        options.cache = Path(folder)
        PARTS[options.part](Bench(options, console))


if __name__ == "__main__":
    main()
