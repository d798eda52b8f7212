"""One value of every function of numbers, as first computed and as in the docs."""

from typing import Any

import numpy as np
import pytest

from pacboost.bounds import (
    class_shares,
    counting,
    coverage,
    deciding,
    exact_tests,
    filtering,
    holdout,
    losses,
    monitoring,
    occam,
    out_of_bag,
    passing,
    rates,
    search,
    selective,
    shift,
    training,
)  # fmt: skip
from pacboost.bounds.measures import cost

MOVES = {"contamination": 0.05, "total_variation": 0.05, "ratio": 3, "kl": 0.1, "chi2": 0.1}
SHARES = {"a": [0.4, 0.4], "b": [0.6, 0.6]}
VALUES: list[tuple[Any, Any]] = [
    ([coverage.covering_rank(n, 0.9, 0.05) for n in (100, 500)], [96, 462]),
    ([coverage.covered_lower(96, 100, 0.05), coverage.covered_lower(462, 500, 0.05)],
     [0.910804, 0.901572]),
    (coverage.LabelScore("aps")(np.array([[0.7, 0.2, 0.1]]), np.array([0.5])), [[0, 0.8, 0.95]]),
    (deciding.ranks(70)[61:], [62, 63, 64, 66, 68, 70]),
    ([deciding.next_rank(rank, 1000) for rank in (3, 500, 997)], [3, 502, 997]),
    ([deciding.claims_at_once(n, 0.05) for n in (1, 10)], [1, 7]),
    (deciding.claims_at_once(1000, 0.025), 35),
    ([deciding.order_lower(2, 100, 0.05), deciding.order_upper(2, 100, 0.05)], [0.95344, 0.04656]),
    (deciding.curve_lower(97, 100, 0.05), 0.8875),
    ([deciding.passed_lower(k, 1000, 0.05, 0.98) for k in (990, 980)], [0.98, 0]),
    (deciding.precision_lower(95, 100, 18, 900, 0.05), 0.7043),
    (deciding.cost_upper(2, 100, 30, 900, 10.0, 1.0, 0.05), 0.1884),
    (exact_tests.sign_test_p(1, 9), 0.021484),
    (filtering.error_by_weight(0.01, 10_000, 0.01, 1.0), 0.01496),
    (filtering.error_by_draws(0.12, 550, 10_000, 0.01, 2.0), 0.0659),
    ([filtering.recursive_error(0.4, levels) for levels in (1, 4, 7)], [0.352, 0.1009, 0]),
    (holdout.clopper_pearson_lower(10, 200, 0.05), 0.027374),
    ([holdout.chernoff_kl(100, 1000, 0.05), holdout.hoeffding(100, 1000, 0.05)],
     [0.124808, 0.138702]),
    ([holdout.group_bets([[0, 40], [2048, 20]], 0.05), holdout.groups_bound(10 / 60, 60, 0.05)],
     [0.262, 0.304]),
    (holdout.ordered_mixture(5, 1000, 0.05), 0.015),
    ([holdout.clopper_pearson(k, n, 0.05) for k, n in ((10, 200), (100, 1000), (200, 2000))],
     [0.083335, 0.116992, 0.11172]),
    (holdout.clopper_pearson(0, 1000, 0.05), 0.002991),
    (holdout.clopper_pearson(200, 2000, 0.001), 0.12234),
    ([out_of_bag.tandem_bound(0.08, 1000, kl, 0.05) for kl in (0.0, 1.0)], [0.465640, 0.487115]),
    (out_of_bag.first_order_bound(0.2, 1000, 2.0, 0.05), 0.515081),
    (out_of_bag.cantelli_bound(0.2, 0.08, 1000, 1000, 0.0, 0.05), 0.473326),
    ([rates.rate_lower(97, 100, 0.05), rates.rate_lower(80, 110, 0.05),
      rates.f1_lower(80, 110, 0.05)], [0.924289, 0.648749, 0.786959]),
    (holdout.mean_share([[0, 40], [2048, 20]]), 1 / 6),
    (holdout.certificate_of_shares([[0, 40], [2048, 20]], 0.05).size, 60),
    ([rates.rate_upper(3, 100, 0.05), rates.f1_upper(80, 110, 0.05)], [0.075711, 0.886634]),
    ([rates.balanced_upper([[3, 100], [5, 50]], 0.05),
      rates.balanced_lower([[3, 100], [5, 50]], 0.05)],
     [0.1128, 0.0325]),
    (rates.gap_upper([[3, 100], [5, 50]], 0.05, 4), 0.231257),
    (rates.ordered_upper(5, 1000, 0.05), 0.015),
    (losses.mean_upper([[[0, 40], [2048, 20]]], 2.0, 0.05), 0.5241),
    (losses.mean_lower([[[4096, 40], [2048, 20]]], 2.0, 0.05), 0.1927),
    (losses.auc_upper(73_600, 200, 200, 0.05), 0.958694),
    (losses.ranks_lower([[[0, 100], [512, 100]]], 10_000, 0.05), 0.8913),
    (losses.ranks_upper([[[3584, 100], [4096, 100]]], 10_000, 0.05), 0.9705),
    (losses.wrong_shares(np.array([0.9, 0.5]), np.array([0.1, 0.5])), [0, 0.25]),
    (counting.rows_for_a_half(0.05, 1), 5),
    (monitoring.alternatives(0.05)[[0, -1]], [0.0547, 0.3448]),
    (monitoring.log_capital(80, 1000, 0.05), 5.99339),
    (occam.log_inverse_prior(1260, 20, 3), 150.40414),
    (occam.occam_bound(1000, 10_000, 1260, 20, 3, 0.05), 0.159781),
    (occam.vote_bound(0, 990, 1000, 4, 10, 3, 0.05), 0.1013),
    (out_of_bag.pac_bayes_kl_bound(0.2, 1000, 2.0, 0.05), 0.25754),
    (out_of_bag.cantelli_mu(0.2, 0.08), 0.066667),
    (passing.rows_to_pass_by_chernoff(0.1, 0.05, 0.05), 572),
    (passing.chance_to_pass(129, 0.1, 0.05, 0.05), 0.68217),
    ([passing.allowed_mistakes(n, 0.1, 0.05) for n in (29, 28)], [0, -1]),
    (search.expected_mistakes(0.05, 130), 7),
    (search.crossing(lambda t: t * t - 2, 0.0, 2.0), 2**0.5),
    (selective.answered_error(3, 600, 0.05, 20), 0.019666),
    ([selective.passed_error(k, 1000, 0.05, 0.02) for k in (10, 20)], [0.02, 1]),
    (selective.answered_share(600, 600, 1000, 0.05), [0.5689, 0.6305]),
    (shift.moved_upper("rates.rate_upper", "ratio", 2, k=3, n=100, delta=0.05), 0.151422),
    (shift.moved_lower("rates.rate_lower", "ratio", 2, k=97, n=100, delta=0.05), 0.848578),
    (class_shares.shares_upper([[3, 100], [5, 50]], SHARES, 0.05), 0.164952),
    ([shift.largest_error(0.05, move, by) for move, by in MOVES.items()],
     [0.0975, 0.1, 0.15, 0.172949, 0.11892]),
    ([shift.farthest(0.05, 0.1, move) for move in shift.MOVES],
     [0.052632, 0.05, 2.0, 0.020654, 0.052632]),
    (coverage.rows_to_cover(0.9, 0.05, 0.02), 638),
    ([ranks[:3] for ranks in deciding.planned_ranks(2000, 0.1, 0.05)],
     [[62, 69, 76], [1334, 1468, 1615], [445, 490, 539], [149, 164, 181]]),
    (deciding.planned_ranks(120, 0.1, 0.05),
     [[46, 51, 57, 63, 70, 77, 85, 94, 104, 115, 120]]),
    ([holdout.examples_for(bound, 0.1, 0.05) for bound in
      (holdout.clopper_pearson, holdout.hoeffding)], [29, 150]),
    ([holdout.share_of_delta(0.06, look) for look in (0, 1, 2)], [0.06, 0.03, 0.01]),
    (monitoring.rows_to_see(0.05, 0.08, 3.0), 1313),
    (monitoring.mean_interval(100, 90.0, 1000, 0.05), [0.061123, 0.138877]),
    ([passing.rows_to_pass(0.01, 0.05), passing.rows_to_pass(0.1, 0.05, 0.05)], [299, 263]),
    ([passing.rows_of_all_to_pass(0.01, 0.05, 0.05),
      passing.rows_of_all_to_pass(0.2, 0.1, 0.05, 0.05)], [6898, 1267]),
    (passing.rows_of_all(59, 0.01, 0.9), 6898),
    (passing.chance_of_all_to_pass(5900, 0.01, 0.05, 0.05), 0.51753),
    (search.smallest(lambda n: 1 / n <= 0.03, 1, "a bound"), 34),
    (search.from_here_on(lambda a, b: a > 7 and not a <= 12 <= b, 1, 100, "a bound"), 13),
    (search.examples_at_rate(lambda k, n: (k + 1) / n, 0.2, 0.1), 15),
    (training.median_misses(0.5, np.full(9, 3.0), np.full(9, -2.9), np.ones(9), loss="linear"),
     0.00288),
    (occam.quantise([0.92, -0.65, 0.42, 0.05], 3, 1.0), [4, -3, 2, 0]),
    (exact_tests.difference_interval(40, 10, 1000, 0.05), [0.0133, 0.0462]),
    (rates.read_parts([[3, 100], [5, 50]]), [[3, 100], [5, 50]]),
    (cost.cost_matrix({("b", "a"): 9}, np.array(["a", "b"])), [[0, 0], [9, 0]]),
]  # fmt: skip


@pytest.mark.parametrize(("computed", "expected"), VALUES)
def test_values(computed: Any, expected: Any) -> None:
    assert computed == pytest.approx(np.asarray(expected), abs=6e-5)


def test_counts() -> None:
    assert holdout.counted([0.5, 0.0, 1 / 3, 0.0]) == [[0, 2], [1366, 1], [2048, 1]]
    assert losses.counted_losses(np.array([0.0, 0.5, 0.0])) == [[[0, 2], [2048, 1]]]
    blocks = losses.counted_losses(np.repeat(0.25, 70), rare=False)
    assert blocks == [[[1024, n]] for n in (8, 9, 18, 35)]
    assert [out_of_bag.way_for(n) for n in (5_000, 50_000)] == ["first_order", "tandem"]
