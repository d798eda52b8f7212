"""How soon a jump of the error is seen, false alarms over long streams, and speed.

    python benchmarks/bench_monitor.py [delays] [quiet] [speed]

``delays``: streams of mistakes have an error of 5 % for 5,000 rows and of 6.5, 8 or 12 % after
that, beside detectors of river, at equal rates of false alarms. The setting of every detector is
the most sensitive one of its grid that gives a false alarm before the jump in at most 5 % of these
very streams, so that all have the same measured share of false alarms. pacboost's detector knows
the certified error, 5 %; those of river estimate it from the stream. Needs river; without it only
pacboost is measured. ``quiet``: false alarms over streams of 100,000 rows. ``speed``: how many
rows a second.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray

from pacboost.monitoring.mistakes import MistakeStream
from pacboost.monitoring.monitor import Monitor

BEFORE, QUIET, LATER = 0.05, 5000, 5000
JUMPS = (0.065, 0.08, 0.12)
RUN_LENGTH = 100_000
FALSE_ALARMS = 0.05
Stream = NDArray[np.bool_]
First = Callable[[Stream, float], int | None]
"""Gives the row of the first alarm of a detector with this setting."""


def e_detector(stream: Stream, run_length: float) -> int | None:
    """Return pacboost's change detector."""
    alarms = MistakeStream(BEFORE, 0.05, int(run_length))
    alarms.add(stream)
    return alarms.sounded_at


def of_river(make: Callable[[float], Any]) -> First:
    """Return a detector of river."""

    def first(stream: Stream, setting: float) -> int | None:
        detector = make(setting)
        for row, wrong in enumerate(stream.tolist(), start=1):
            detector.update(int(wrong))
            if detector.drift_detected:
                return row
        return None

    return first


def detectors() -> dict[str, tuple[First, Sequence[float]]]:
    """Name detectors, with their settings from the most sensitive on."""
    detectors_by_name: dict[str, tuple[First, Sequence[float]]] = {
        "pacboost": (e_detector, [int(x) for x in np.geomspace(1000, 1_000_000, 400)])
    }
    try:
        from river import drift  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        print("river is not installed; only pacboost is measured")
        return detectors_by_name
    steps = np.geomspace(0.5, 1e-6, 400).tolist()
    detectors_by_name["ADWIN"] = of_river(lambda delta: drift.ADWIN(delta=delta)), steps
    detectors_by_name["DDM"] = (
        of_river(lambda drift_at: drift.binary.DDM(drift_threshold=drift_at, warm_start=100)),
        np.linspace(1.5, 8, 400).tolist(),
    )
    for allowed in (0.005, 0.015):
        detectors_by_name[f"Page-Hinkley ({allowed:g})"] = (
            of_river(
                lambda level, allowed=allowed: drift.PageHinkley(  # type: ignore[misc]
                    threshold=level, delta=allowed, alpha=1.0, mode="up"
                )
            ),
            np.geomspace(2, 200, 400).tolist(),
        )
    return detectors_by_name


def quiet(seed: int) -> Stream:
    """Return the part of a stream before its jump."""
    return jump(seed, BEFORE)[:QUIET]


def jump(seed: int, after: float) -> Stream:
    """Draw a stream with a jump."""
    error = np.repeat([BEFORE, after], [QUIET, LATER])
    mistakes: Stream = np.random.default_rng(seed).random(QUIET + LATER) < error
    return mistakes


def chosen(first: First, settings: Sequence[float], streams: int) -> float:
    """Find by bisection the most sensitive setting with few false alarms."""
    low, high = -1, len(settings) - 1
    while high - low > 1:
        middle = (low + high) // 2
        false = sum(first(quiet(seed), settings[middle]) is not None for seed in range(streams))
        low, high = (low, middle) if false <= FALSE_ALARMS * streams else (middle, high)
    return settings[high]


def delays(streams: int) -> None:
    """Print one line for each detector and jump."""
    names = f"{'jump':>6} {'setting':>10} {'false':>7} {'seen':>7} {'median':>8} {'mean':>8}"
    print(f"{'detector':<22} {names}")
    for name, (first, settings) in detectors().items():
        setting = chosen(first, settings, streams)
        for after in JUMPS:
            rows = [first(jump(seed, after), setting) for seed in range(streams)]
            false = sum(row is not None and row <= QUIET for row in rows)
            late = [
                math.inf if row is None else row - QUIET
                for row in rows
                if row is None or row > QUIET
            ]
            print(
                f"{name:<22} {after:>6.3f} {setting:>10.4g} {false / streams:>7.1%} "
                f"{np.isfinite(late).mean():>7.1%} {np.median(late):>8.0f} "
                f"{np.minimum(late, LATER).mean():>8.0f}",
                flush=True,
            )


def says_drift(seed: int) -> bool:
    """Check whether the monitor reports drift of rows that have not drifted."""
    rows = np.random.default_rng(seed).normal(size=(2 * RUN_LENGTH + 1000, 4))
    watch = Monitor(error=BEFORE, reference=rows[: RUN_LENGTH + 1000], delta=FALSE_ALARMS)
    drift = watch.update_rows(rows[RUN_LENGTH + 1000 :]).status().drift
    return drift is not None and drift.drifted_at is not None


def quiet_streams(streams: int, drifting: int, jobs: int) -> None:
    """Count false alarms over long streams of mistakes, and of rows of four columns."""
    refuted = sounded = 0
    for seed in range(streams):
        stream = MistakeStream(BEFORE, FALSE_ALARMS, RUN_LENGTH)
        stream.add(np.random.default_rng(seed).random(RUN_LENGTH) < BEFORE)
        refuted += stream.refuted_at is not None
        sounded += stream.sounded
    print(
        f"{streams} streams of {RUN_LENGTH:,} mistakes at the certified error: {refuted} refuted "
        f"({refuted / streams:.1%}; promised at most {FALSE_ALARMS:.0%}), {sounded} alarms of the "
        f"detector (one in {streams * RUN_LENGTH / max(1, sounded):,.0f} rows; promised "
        f"{RUN_LENGTH:,})",
        flush=True,
    )
    drifted = sum(Parallel(jobs)(delayed(says_drift)(seed) for seed in range(drifting)))
    print(
        f"{drifting} streams of {RUN_LENGTH:,} rows: {drifted} said to have drifted "
        f"({drifted / max(1, drifting):.1%}; promised at most {FALSE_ALARMS:.0%})"
    )


def speed() -> None:
    """Measure mistakes, and rows of 20 columns, for each second of one core."""
    mistakes = np.random.default_rng(0).random(5_000_000) < BEFORE
    Monitor(error=0.06).update_mistakes(mistakes[:1000])
    start = time.process_time()
    Monitor(error=0.06).update_mistakes(mistakes)
    print(f"{mistakes.size / (time.process_time() - start):,.0f} mistakes a second")
    rows = np.random.default_rng(0).normal(size=(201_000, 20))
    watch = Monitor(error=BEFORE, reference=rows[:101_000])
    watch.update_rows(rows[101_000:103_000])
    start = time.process_time()
    watch.update_rows(rows[103_000:])
    print(f"{98_000 / (time.process_time() - start):,.0f} rows of 20 columns a second")


def main() -> None:
    """Run the named measurements, or all of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", nargs="*", default=[], metavar="delays|quiet|speed")
    parser.add_argument("--streams", type=int, default=500)
    parser.add_argument("--drifting", type=int, default=200)
    parser.add_argument("--jobs", type=int, default=1, help="processes that watch rows")
    options = parser.parse_args()
    asked = options.what or ["delays", "quiet", "speed"]
    if "speed" in asked:
        speed()
    if "quiet" in asked:
        quiet_streams(options.streams, options.drifting, options.jobs)
    if "delays" in asked:
        delays(options.streams)


if __name__ == "__main__":
    main()
