"""How soon a jump of the error is seen, beside detectors of river, at equal rates of false alarms.

    python benchmarks/bench_monitor.py

Streams of mistakes have an error of 5 % for 5,000 rows and of 8 % after that. The setting of every
detector is the most sensitive one of its grid that gives a false alarm in at most 5 % of 200 quiet
streams of 5,000 rows; delays and false alarms are counted on 200 other streams. pacboost's detector
knows the certified error, 5 %; those of river estimate it from the stream. Needs river; without it
only pacboost is measured.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.monitoring.mistakes import MistakeStream

BEFORE, AFTER, QUIET, LATER = 0.05, 0.08, 5000, 5000
FALSE_ALARMS = 0.05
Stream = NDArray[np.bool_]
First = Callable[[Stream, float], int | None]
"""Gives the row of the first alarm of a detector with this setting."""


def e_detector(stream: Stream, run_length: float) -> int | None:
    """Give pacboost's change detector."""
    own = MistakeStream(BEFORE, 0.05, int(run_length))
    own.add(stream)
    return own.sounded_at


def of_river(make: Callable[[float], Any]) -> First:
    """Give a detector of river."""

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
    found: dict[str, tuple[First, Sequence[float]]] = {
        "pacboost": (e_detector, [int(x) for x in np.geomspace(1000, 1_000_000, 120)])
    }
    try:
        from river import drift  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        print("river is not installed; only pacboost is measured")
        return found
    steps = np.geomspace(0.5, 1e-6, 120).tolist()
    found["ADWIN"] = of_river(lambda delta: drift.ADWIN(delta=delta)), steps
    found["DDM"] = (
        of_river(lambda drift_at: drift.binary.DDM(drift_threshold=drift_at, warm_start=100)),
        np.linspace(1.5, 8, 120).tolist(),
    )
    for allowed in (0.005, 0.015):
        found[f"Page-Hinkley ({allowed:g})"] = (
            of_river(
                lambda level, allowed=allowed: drift.PageHinkley(  # type: ignore[misc]
                    threshold=level, delta=allowed, alpha=1.0, mode="up"
                )
            ),
            np.geomspace(2, 200, 120).tolist(),
        )
    return found


def quiet(seed: int) -> Stream:
    """Draw a stream without a jump."""
    return np.random.default_rng(seed).random(QUIET) < BEFORE


def jump(seed: int) -> Stream:
    """Draw a stream with a jump."""
    error = np.repeat([BEFORE, AFTER], [QUIET, LATER])
    found: Stream = np.random.default_rng(seed).random(QUIET + LATER) < error
    return found


def chosen(first: First, settings: Sequence[float], streams: int) -> float:
    """Halve: the most sensitive setting with few false alarms."""
    low, high = -1, len(settings) - 1
    while high - low > 1:
        middle = (low + high) // 2
        false = sum(first(quiet(seed), settings[middle]) is not None for seed in range(streams))
        low, high = (low, middle) if false <= FALSE_ALARMS * streams else (middle, high)
    return settings[high]


def main() -> None:
    """Print one line for each detector."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--streams", type=int, default=200)
    streams = parser.parse_args().streams
    names = f"{'setting':>10} {'false':>7} {'seen':>7} {'median':>8} {'mean':>8} {'µs/row':>7}"
    print(f"{'detector':<22} {names}")
    for name, (first, settings) in detectors().items():
        setting = chosen(first, settings, streams)
        start = time.perf_counter()
        rows = [first(jump(10_000 + seed), setting) for seed in range(streams)]
        each = (time.perf_counter() - start) / (streams * (QUIET + LATER)) * 1e6
        false = sum(row is not None and row <= QUIET for row in rows)
        delays = [
            math.inf if row is None else row - QUIET for row in rows if row is None or row > QUIET
        ]
        seen = np.isfinite(delays).mean()
        mean = np.minimum(delays, LATER).mean()
        print(
            f"{name:<22} {setting:>10.4g} {false / streams:>7.1%} {seen:>7.1%} "
            f"{np.median(delays):>8.0f} {mean:>8.0f} {each:>7.2f}"
        )


if __name__ == "__main__":
    main()
