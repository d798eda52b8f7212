"""Every bound there is: its certificate made again, its shape, and the numbers that it refuses."""

from typing import Any

import pytest

from pacboost.bounds.certificate import Certificate
from pacboost.bounds.registry import BOUNDS, all_bounds
from pacboost.errors import ParameterError
from pacboost.ledgers.ledger import Ledger
from pacboost.questions.verify import recompute
from pacboost.theory import compression, finite, margins, nvote, sample_sizes, sequence, vc

LECTURES = (compression, finite, margins, nvote, sample_sizes, sequence, vc)
LEDGER = Ledger("adaboost", "exponential", "stump", 10, 1, False, True)
RATE = {"k": [400, 100, 30, 1, 0], "n": [40, 500, 5000], "claims": [50, 2, 1]}
RISING = {"k": [0, 1, 30, 400, 500], "n": [5000, 500, 40], "claims": [50, 2, 1]}
PARTS: dict[str, list[Any]] = {
    "parts": [[[30, 100], [20, 50]], [[3, 100], [5, 50]], [[0, 100], [0, 50]]],
    "claims": [9, 1],
}
COUNTS = {"k": 30, "n": 500}
VOTE: dict[str, list[Any]] = {"n": [10, 1000, 10**6], "divergence": [50.0, 5.0, 0.0]}
AUC = {"halves": 60_000, "positives": 200, "negatives": 200}

CASES: dict[str, tuple[dict[str, Any], dict[str, list[Any]]]] = {
    "compression.compression_bound": (
        {**COUNTS, "points": 4, "bits": 2.0},
        {"k": RATE["k"], "points": [50, 4, 0], "bits": [9.5, 2, 0.0], "ordered": [True, False]},
    ),
    "compression.vote_bound": (
        {"mistakes": 5, "rest": 990, "n": 1000, "features": 4, "rules": 10, "bits": 3},
        {"mistakes": [400, 5, 0], "features": [90, 4, 1], "rules": [40, 10], "bits": [9, 3, 1]},
    ),
    "covering.covered_lower": ({"rank": 96, "n": 100}, {"rank": [80, 96, 100], "claims": [9, 1]}),
    "deciding.cost_upper": (
        {"missed": 2, "positives": 100, "alarms": 30, "negatives": 900, "miss_cost": 10.0,
         "alarm_cost": 1.0},
        {"missed": [20, 2, 0], "alarms": [90, 30, 0], "miss_cost": [20.0, 10.0, 1.0]},
    ),
    "deciding.curve_lower": (COUNTS, {"k": RISING["k"], "claims": [9, 1]}),
    "deciding.curve_upper": (COUNTS, {"k": RATE["k"], "claims": [9, 1]}),
    "deciding.order_lower": ({"rank": 5, "n": 200}, {"rank": [90, 5, 1], "claims": [9, 1]}),
    "deciding.order_upper": ({"rank": 5, "n": 200}, {"rank": [90, 5, 1], "claims": [9, 1]}),
    "deciding.passed_lower": ({"k": 990, "n": 1000, "target": 0.98}, {"k": [980, 990, 1000]}),
    "deciding.precision_lower": (
        {"found": 95, "positives": 100, "alarms": 18, "negatives": 900},
        {"found": [50, 95, 100], "alarms": [90, 18, 0], "claims": [9, 1]},
    ),
    "dependent.group_bets": (
        {"shares": [[0, 40], [2048, 20]]},
        {"shares": [[[2048, 60]], [[0, 40], [2048, 20]], [[0, 400], [2048, 20]]]},
    ),
    "dependent.ordered_mixture": (COUNTS, {"k": RATE["k"], "n": RATE["n"]}),
    "filtering.error_by_draws": (
        {"mean": 0.01, "mistakes": 40, "draws": 1000, "factor": 2.0},
        {"mistakes": [90, 40, 0], "factor": [0.0, 1.0]},
    ),
    "finite.occam": (
        {**COUNTS, "log_inverse_prior": 3.0},
        {"k": RATE["k"], "n": RATE["n"], "log_inverse_prior": [500.0, 3.0, 0.0]},
    ),
    "holdout.clopper_pearson": (
        {**COUNTS, "models": 3}, {"k": RATE["k"], "n": RATE["n"], "models": [50, 2, 1],
                                  "look": [9, 2, 1, 0]},
    ),
    "losses.auc_lower": (AUC, {"halves": [100, 60_000, 80_000], "claims": [9, 1]}),
    "losses.auc_upper": (AUC, {"halves": [80_000, 60_000, 100], "claims": [9, 1]}),
    "losses.mean_lower": (
        {"savings": [[[4096, 40], [2048, 20]]], "scale": 2.0},
        {"scale": [0.5, 2.0], "claims": [9, 1]},
    ),
    "losses.mean_upper": (
        {"losses": [[[0, 40], [2048, 20]]], "scale": 2.0},
        {"scale": [2.0, 0.5], "claims": [9, 1]},
    ),
    "losses.ranks_lower": (
        {"losses": [[[0, 100], [512, 100]]], "others": 10_000},
        {"others": [900, 10_000], "claims": [9, 1]},
    ),
    "losses.ranks_upper": (
        {"savings": [[[3000, 100], [4096, 100]]], "others": 10_000},
        {"others": [900, 10_000], "claims": [9, 1]},
    ),
    "margins.schapire_bound": (
        {"below": 5000, "n": 100_000, "theta": 0.3, "log_size": 6.9},
        {"below": [9000, 5000, 0], "theta": [0.2, 0.3, 0.9], "log_size": [9.0, 6.9, 0.1]},
    ),
    "nvote.nvote_bound": (
        {"loss": 0.01, "voters": 11, "wrong": 5, "n": 1000, "divergence": 1.0, "pairs": 25},
        {**VOTE, "pairs": [1273, 25, 1], "loss": [0.1, 0.01, 0.0]},
    ),
    "occam.occam_bound": (
        {"mistakes": 50, "n": 500, "base_rules": 100, "rules": 5, "bits": 2},
        {"mistakes": [200, 100, 50, 0], "n": [60, 500, 5000], "rules": [20, 5, 1],
         "bits": [9, 3, 1], "base_rules": [10**6, 100, 10]},
    ),
    "pac_bayes.c_bound": (
        {"gibbs": 0.1, "disagreement": 0.12, "n": 2000, "pairs": 2000, "divergence": 0.3}, VOTE,
    ),
    "pac_bayes.cantelli_bound": (
        {"gibbs": 0.1, "tandem": 0.04, "n": 2000, "pairs": 2000, "divergence": 0.3},
        {"divergence": VOTE["divergence"], "pairs": VOTE["n"]},
    ),
    "pac_bayes.first_order_bound": (
        {"gibbs": 0.1, "n": 2000, "divergence": 0.3}, {**VOTE, "gibbs": [0.4, 0.1, 0.0]},
    ),
    "pac_bayes.tandem_bound": (
        {"tandem": 0.04, "n": 2000, "divergence": 0.3}, {**VOTE, "tandem": [0.2, 0.04, 0.0]},
    ),
    "pool.mistaken_share": ({"k": 3, "n": 100, "rows": 120}, {"k": [9, 3, 0]}),
    "rates.balanced_lower": ({"parts": [[3, 100], [5, 50]]}, {"claims": [9, 1]}),
    "rates.balanced_upper": ({"parts": [[3, 100], [5, 50]]}, PARTS),
    "rates.f1_lower": (COUNTS, RISING),
    "rates.f1_upper": (COUNTS, RATE),
    "rates.gap_upper": ({"parts": [[3, 100], [5, 50]]}, {"claims": [9, 1]}),
    "rates.ordered_upper": (COUNTS, RATE),
    "rates.pooled_lower": (COUNTS, RISING),
    "rates.pooled_upper": (COUNTS, RATE),
    "rates.rate_lower": (COUNTS, RISING),
    "rates.rate_upper": (COUNTS, RATE),
    "rectangle.sharp": (
        {"n": 200, "features": 2}, {"n": [3, 4, 200, 10**6], "features": [9, 2, 1]},
    ),
    "selective.answered_error": (COUNTS, {"k": RATE["k"], "thresholds": [20, 2, 1]}),
    "selective.passed_error": ({"k": 10, "n": 1000, "target": 0.02}, {"k": [20, 10, 0]}),
    "sequence.anytime_kl_bound": (
        {"total": 12, "t": 200}, {"total": [200, 20.5, 20, 0], "t": [13, 200, 10**5]},
    ),
    "sequence.bernstein_bound": ({"mistakes_at": [3, 50, 120], "t": 200}, {}),
    "sequence.betting_bound": ({"mistakes_at": [3, 50, 120], "t": 200}, {}),
    "sequence.mixture_bound": (
        {"total": 12.5, "t": 200}, {"total": [200, 20.5, 20, 0], "t": [13, 200, 10**5]},
    ),
    "shift.moved_lower": (
        {**COUNTS, "bound": "rates.rate_lower", "move": "contamination", "by": 0.01},
        {"k": RISING["k"], "by": [0.5, 0.01, 0.0]},
    ),
    "shift.moved_upper": (
        {**COUNTS, "bound": "rates.rate_upper", "move": "kl", "by": 0.01},
        {"k": RATE["k"], "by": [0.5, 0.01, 0.0]},
    ),
    "shift.shares_upper": (
        {"parts": [[3, 100], [5, 50]], "shares": {"a": [0.4, 0.4], "b": [0.6, 0.6]}},
        {**PARTS, "shares": [{"a": [0, 1], "b": [0, 1]}, {"a": [0.3, 0.5], "b": [0.5, 0.7]},
                             {"a": [0.5, 0.5], "b": [0.5, 0.5]}]},
    ),
    "vc.hypergeometric": (
        {**COUNTS, "log_growth": 30.0, "ghost": 2000},
        {"k": RATE["k"], "log_growth": [60.0, 30.0, 0.0]},
    ),
}  # fmt: skip
"""Inputs of every bound, and what makes its claims stronger, value by value."""
OTHERS = {"three_way.recursive_error", "training.product_bound"}
"""Bounds whose delta is that of a whole run, or 0."""
EVERY = pytest.mark.parametrize("name", CASES)


def test_no_bound_is_left_out() -> None:
    all_bounds()
    assert BOUNDS.keys() - OTHERS == CASES.keys()


@EVERY
def test_its_certificate_is_made_again(name: str) -> None:
    inputs = {**CASES[name][0], "delta": 0.05}
    size = {} if BOUNDS[name].size in inputs else {"size": 60}
    made = Certificate.by(name, inputs, **size)
    assert (made.bound, made.inputs, made.delta) == (name, inputs, 0.05)
    assert made.size == inputs.get(BOUNDS[name].size, 60)
    assert Certificate.from_json(made.to_json()) == made
    assert recompute(made, LEDGER) == made.value
    assert made.value > 0
    assert made.reference


@EVERY
def test_its_claim_is_weaker_with_less_evidence(name: str) -> None:
    inputs, stronger = CASES[name]
    compute, lower = BOUNDS[name].compute, BOUNDS[name].side == "lower"
    for changed, values in {**stronger, "delta": [1e-9, 0.001, 0.05, 0.3]}.items():
        found = [compute(**{"delta": 0.05, **inputs, changed: value}) for value in values]
        assert found == sorted(found, reverse=not lower), changed
        assert found[0] != found[-1], changed


@EVERY
def test_it_refuses_deltas(name: str) -> None:
    for delta in (0.0, 1.0, -1.0, 2.0, float("nan"), True, "0.05"):
        with pytest.raises(ParameterError, match="delta"):
            BOUNDS[name].compute(**CASES[name][0], delta=delta)


@EVERY
def test_it_refuses_counts_that_no_rows_give(name: str) -> None:
    inputs = CASES[name][0]
    few = {"k": -1, "n": 0, "mistakes": -1, "below": -1, "t": 0, "draws": 0, "rank": 0}
    few |= {"positives": 0, "claims": 0, "models": 0, "thresholds": 0, "features": 0, "rules": 0}
    many = {"k": "n", "mistakes": "n", "below": "n", "found": "positives", "total": "t",
            "missed": "positives", "alarms": "negatives", "wrong": "voters"}  # fmt: skip
    bad = {own: value for own, value in few.items() if own in inputs}
    if name.startswith("selective."):  # where nothing is answered, anything may be wrong
        del bad["n"]
    bad |= {own: inputs[all_] + 1 for own, all_ in many.items() if {own, all_} <= inputs.keys()}
    for own, value in bad.items():
        with pytest.raises(ParameterError):
            BOUNDS[name].compute(**{**inputs, "delta": 0.05, own: value})
