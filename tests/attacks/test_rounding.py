"""Every bound against 40-digit arithmetic at random arguments: none may be rounded inward.

``FORMULAS`` has, for each bound that a formula gives, the formula in mpmath. ``INVERSES`` has those
that invert a binomial tail: at the end that was found, the tail must not be above delta any more.
"""

from collections.abc import Callable
from inspect import signature
from typing import Any

import mpmath as mp
import numpy as np
import pytest

from pacboost.bounds import filtering, holdout, occam, out_of_bag, selective
from pacboost.errors import PacboostError
from pacboost.theory import compression, finite, margins, sample_sizes, sequence, vc

Numbers = dict[str, Any]
Bound = Callable[..., float]
DIGITS = 40
COUNTS = [pytest.param(60, id="quick"), pytest.param(5000, id="large", marks=pytest.mark.slow)]


def log(value: Any) -> Any:
    return mp.log(mp.mpf(value))


def root(value: Any) -> Any:
    return mp.sqrt(mp.mpf(value))


def kl_end(q: Any, budget: Any) -> Callable[[Any], bool]:
    """Tell of an end whether kl(q‖end) is at least the budget: it is not inward then."""
    q = mp.mpf(q)

    def outward(end: Any) -> bool:
        if end >= 1:
            return True
        first = q * mp.log(q / end) if q else mp.mpf(0)
        return bool(end >= q and first + (1 - q) * mp.log((1 - q) / (1 - end)) >= budget)

    return outward


def tail_end(k: int, n: int, log_inverse: Any) -> Callable[[Any], bool]:
    """Tell of an end whether k or fewer mistakes of n have a chance of at most delta there."""

    def outward(end: Any) -> bool:
        if end >= 1:
            return True
        term = total = (1 - end) ** n
        for j in range(1, k + 1):
            term *= (n - j + 1) * end / (j * (1 - end))
            total += term
        return bool(mp.log(total) <= -log_inverse)

    return outward


def choices(n: int, k: int) -> Any:
    return mp.log(mp.binomial(n, k))


def occam_nats(base_rules: int, rules: int, bits: int, delta: float) -> Any:
    ways = choices(base_rules, rules) + rules * bits * log(2)
    return ways + log(rules * (rules + 1)) + log(bits * (bits + 1)) - log(delta)


def budget(n: int, divergence: float, delta: Any) -> Any:
    return (mp.mpf(divergence) + log(2 * root(n) / mp.mpf(delta))) / n


def relative(a: Numbers) -> Any:
    r, e = mp.mpf(a["k"]) / a["n"], (a["log_growth"] + log(4) - log(a["delta"])) / a["n"]
    return r + 2 * e * (1 + root(1 + r / e))


def recursion(part: float, levels: int) -> Any:
    value = mp.mpf(part)
    for _ in range(levels):
        value = value * value * (3 - 2 * value)
    return value


FORMULAS: dict[Bound, Callable[[Numbers], Any]] = {
    holdout.hoeffding: lambda a: (
        mp.mpf(a["k"]) / a["n"] + root((log(a["models"]) - log(a["delta"])) / (2 * a["n"]))
    ),
    finite.consistent: lambda a: 1 - mp.exp(-(mp.mpf(a["log_size"]) - log(a["delta"])) / a["n"]),
    finite.agnostic_deviation: lambda a: root(
        (a["log_size"] + log(2) - log(a["delta"])) / (2 * a["n"])
    ),
    vc.relative_deviation: relative,
    vc.pessimistic: lambda a: (
        mp.mpf(a["k"] + 1) / a["n"] + root((a["log_growth"] + log(4) - log(a["delta"])) / a["n"])
    ),
    vc.realizable: lambda a: 2 * (a["log_growth"] + log(2) - log(a["delta"])) / (a["n"] * log(2)),
    sample_sizes.strip: lambda a: (
        2 * a["features"] * (log(2 * a["features"]) - log(a["delta"])) / a["n"]
    ),
    sample_sizes.strip_exact: lambda a: (
        2 * a["features"] * (1 - mp.exp(-(log(2 * a["features"]) - log(a["delta"])) / a["n"]))
    ),
    margins.rademacher_bound: lambda a: (
        mp.mpf(a["ramp"])
        + 2 / mp.mpf(a["theta"]) * root(2 * mp.mpf(a["log_growth"]) / a["n"])
        + root((log(a["thetas"]) - log(a["delta"])) / (2 * a["n"]))
    ),
    filtering.recursive_error: lambda a: recursion(a["part"], a["levels"]),
}
INVERSES: dict[Bound, Callable[[Numbers], Callable[[Any], bool]]] = {
    holdout.clopper_pearson: lambda a: tail_end(
        a["k"], a["n"], log(a["models"]) - log(a["delta"]) + log(a["look"] * (a["look"] + 1))
    ),
    finite.agnostic: lambda a: tail_end(a["k"], a["n"], a["log_size"] - log(a["delta"])),
    finite.occam: lambda a: tail_end(a["k"], a["n"], a["log_inverse_prior"] - log(a["delta"])),
    occam.occam_bound: lambda a: tail_end(
        a["mistakes"], a["n"], occam_nats(a["base_rules"], a["rules"], a["bits"], a["delta"])
    ),
    compression.compression_bound: lambda a: tail_end(
        a["k"],
        a["n"] - a["points"],
        log(a["n"]) + choices(a["n"], a["points"]) + a["bits"] * log(2) - log(a["delta"]),
    ),
    occam.vote_bound: lambda a: tail_end(
        a["mistakes"],
        a["rest"],
        occam_nats(a["features"] * (2 * a["n"] + 1) + 1, a["rules"], a["bits"], a["delta"]),
    ),
    sample_sizes.sharp: lambda a: tail_end(2 * a["features"] - 1, a["n"], -log(a["delta"])),
    selective.answered_error: lambda a: tail_end(
        a["k"], a["n"], log(a["thresholds"]) - log(a["delta"])
    ),
    holdout.chernoff_kl: lambda a: kl_end(
        mp.mpf(a["k"]) / a["n"], (log(a["models"]) - log(a["delta"])) / a["n"]
    ),
    holdout.groups_bound: lambda a: kl_end(a["mean"], -log(a["delta"]) / a["groups"]),
    sequence.anytime_kl_bound: lambda a: kl_end(
        mp.mpf(a["total"]) / a["t"], budget(a["t"], 0, a["delta"])
    ),
    out_of_bag.pac_bayes_kl_bound: lambda a: kl_end(
        a["gibbs"], budget(a["n"], a["divergence"], a["delta"])
    ),
    out_of_bag.first_order_bound: lambda a: scaled(
        2, kl_end(a["gibbs"], budget(a["n"], a["divergence"], a["delta"]))
    ),
    out_of_bag.tandem_bound: lambda a: scaled(
        4, kl_end(a["tandem"], budget(a["n"], 2 * mp.mpf(a["divergence"]), a["delta"]))
    ),
    sequence.mixture_bound: lambda a: mixture_end(a["total"], a["t"], a["delta"]),
    filtering.error_by_weight: lambda a: scaled(
        a["factor"], mixture_end(mp.mpf(a["mean"]) * a["draws"], a["draws"], a["delta"])
    ),
}


def scaled(factor: float, outward: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda end: end >= 1 or outward(end / factor)


def mixture_end(total: Any, t: int, delta: float) -> Callable[[Any], bool]:
    s = mp.mpf(total)
    beta = mp.loggamma(s + 0.5) + mp.loggamma(t - s + 0.5) - mp.loggamma(t + 1) - mp.log(mp.pi)

    def outward(end: Any) -> bool:
        if end >= 1:
            return True
        first = s * mp.log(end) if s else mp.mpf(0)
        return bool(end * t >= s and beta - first - (t - s) * mp.log(1 - end) >= -log(delta))

    return outward


def drawn(generator: np.random.Generator, bound: Bound) -> Numbers:
    """Draw arguments of all sizes; counts fit together, and delta may be near 0 or near 1."""
    n = int(generator.geometric(0.01)) + 8
    k = int(generator.integers(0, n + 1) * generator.choice([0, 0.1, 1]))
    delta = float(
        generator.choice(
            [
                generator.random(),
                10 ** -(20 * generator.random()),
                1 - 10 ** -(4 + 12 * generator.random()),
            ]
        )
    )
    share, few = float(generator.random()), int(generator.integers(1, 4))
    nats = float(generator.exponential(5.0))
    known: Numbers = {
        "n": n, "k": min(k, n - 4), "mistakes": min(k, n - 4), "delta": delta, "t": n, "draws": n,
        "groups": n, "total": share * n, "mean": share, "gibbs": share, "tandem": share,
        "part": share / 2, "ramp": share, "theta": 1 - share, "log_size": nats,
        "log_growth": nats, "log_inverse_prior": nats, "divergence": nats, "levels": few,
        "points": few, "features": few, "rules": few, "rest": n, "bits": few, "models": few,
        "look": few, "thresholds": few, "thetas": few, "base_rules": 5 * n, "factor": 1 + nats,
    }  # fmt: skip
    return {name: known[name] for name in signature(bound).parameters if name in known}


BOUNDS = (*FORMULAS, *INVERSES)


def compared(bound: Bound, runs: int, scale: float = 1.0) -> tuple[int, int]:
    """Count comparisons, and how many of them found a bound, times ``scale``, on the wrong side."""
    generator = np.random.default_rng(runs)
    inward = total = 0
    for _ in range(runs):
        arguments = drawn(generator, bound)
        try:
            found = mp.mpf(bound(**arguments)) * scale
        except PacboostError:
            continue
        if bound in FORMULAS:
            holds = found >= min(1, FORMULAS[bound](arguments))
        else:
            holds = INVERSES[bound](arguments)(found)
        inward, total = inward + (not holds), total + 1
    return inward, total


@pytest.mark.parametrize("runs", COUNTS)
@pytest.mark.parametrize("bound", BOUNDS)
def test_no_bound_is_rounded_inward(bound: Bound, runs: int) -> None:
    with mp.workdps(DIGITS):
        inward, total = compared(bound, runs)
    assert inward == 0
    assert total > 0.9 * runs


@pytest.mark.parametrize("bound", BOUNDS)
def test_bounds_that_are_a_little_too_small_are_noticed(bound: Bound) -> None:
    with mp.workdps(DIGITS):
        inward, total = compared(bound, 40, 1 - 1e-8)
    assert inward > total / 4
