"""Certificates out of bag: refusals, identities, coverage where the risk is known, and twins."""

import math
import re
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import mpmath
import numpy as np
import pytest
from numpy.typing import NDArray

from pacboost.bounds import out_of_bag
from pacboost.bounds.holdout import clopper_pearson
from pacboost.bounds.out_of_bag import (
    c_bound,
    cantelli_bound,
    cantelli_mu,
    certificate,
    first_order_bound,
    pac_bayes_kl_bound,
    tandem_bound,
)
from pacboost.errors import NotCertified
from pacboost.ledgers.out_of_bag import OutOfBag
from pacboost.theory.nvote import divergence
from pacboost.training.bags.bags import Bags, OutOfBagVotes
from tests.bounds.coverage import check_coverage, check_rejected, out_of_bag_sizes

# PAC-Bayes bounds of a vote: vectors, identities, coverage where they are tight, and twins.

RUNS, DELTA = 2000, 0.05


@pytest.mark.parametrize(
    ("rows", "first", "tandem", "cantelli", "c"),
    [(10**5, 0.418, 0.360, 0.361, 0.387), (10**6, 0.406, 0.333, 0.327, 0.335)],
)
def test_table_of_bagged_votes(
    rows: int, first: float, tandem: float, cantelli: float, c: float
) -> None:
    """Gibbs 0.20 and tandem 0.08 out of bag; sizes in the table are rounded, so is the match."""
    n, pairs = round(0.36 * rows), round(0.13 * rows)
    assert first_order_bound(0.2, n, 0.0, 0.05) == pytest.approx(first, abs=1e-3)
    assert tandem_bound(0.08, pairs, 0.0, 0.05) == pytest.approx(tandem, abs=1e-3)
    assert cantelli_bound(0.2, 0.08, n, pairs, 0.0, 0.05) == pytest.approx(cantelli, abs=1e-3)
    assert c_bound(0.2, 0.24, n, pairs, 0.0, 0.05) == pytest.approx(c, abs=1e-3)


def test_the_closed_form_covers_the_exact_constant() -> None:
    """ξ(n) = Σ_j n!/((n-j)! n^j) ≤ 2√n, and (2√m)^(n/m) ≤ 2√n for m ≥ n, as out of bag needs."""

    def xi(n: int) -> float:
        return 1 + float(np.cumprod(1 - np.arange(n) / n).sum())

    assert xi(1000) == pytest.approx(40.303, abs=5e-4)
    assert all(xi(n) <= 2 * math.sqrt(n) for n in range(1, 2000))
    for n in range(1, 60):
        powers = [(2 * math.sqrt(m)) ** (n / m) for m in range(n, 300)]
        assert all(later <= earlier * (1 + 1e-15) for earlier, later in pairwise(powers))


def test_rounds_outward_but_not_far() -> None:
    """Against the same formulas in 40 digits."""

    def end(q: float, n: int, cost: float, start: float) -> mpmath.mpf:
        budget = (cost + mpmath.log(2 * mpmath.sqrt(n) / mpmath.mpf("0.025"))) / n
        gap = lambda p: q * mpmath.log(q / p) + (1 - q) * mpmath.log((1 - q) / (1 - p)) - budget  # noqa: E731
        return mpmath.findroot(gap, (start, (start + q) / 2), solver="anderson", tol=1e-60)

    with mpmath.workdps(40):
        for n in (500, 10**5):
            spread = 3 / math.sqrt(n)
            single = end(0.2, n, 1.0, 0.2 + spread)
            dis = end(0.24, n, 2.0, 0.24 - spread)
            exact = 1 - (1 - 2 * single) ** 2 / (1 - 2 * dis)
            assert exact <= c_bound(0.2, 0.24, n, n, 1.0, 0.05) <= exact * (1 + 1e-10)
            both, low = end(0.08, n, 2.0, 0.08 + spread), end(0.2, n, 1.0, 0.2 - spread)
            mu = max(0, (low / 2 - both) / (0.5 - low))
            exact = (both - 2 * mu * low + mu**2) / (0.5 - mu) ** 2
            assert exact <= cantelli_bound(0.2, 0.08, n, n, 1.0, 0.05) <= exact * (1 + 1e-10)


def test_cantelli_at_its_best_is_the_c_bound() -> None:
    for gibbs in np.linspace(0.02, 0.48, 24):
        for tandem in np.linspace(gibbs**2 * 1.001, gibbs / 2, 12):
            mu = cantelli_mu(gibbs, tandem)
            value = (tandem - 2 * mu * gibbs + mu * mu) / (0.5 - mu) ** 2
            dis = 2 * (gibbs - tandem)
            assert value == pytest.approx(1 - (1 - 2 * gibbs) ** 2 / (1 - 2 * dis), abs=1e-12)
            assert value == pytest.approx((tandem - gibbs**2) / (tandem - gibbs + 0.25), abs=1e-12)
            others = np.linspace(0, 0.49, 99)
            assert value <= ((tandem - 2 * others * gibbs + others**2) / (0.5 - others) ** 2).min()


def test_cantelli_stays_safe_where_numbers_contradict() -> None:
    """L₂ < L² or L ≥ ½ from different rows: μ = 0, which is the tandem bound."""
    assert cantelli_mu(0.4, 0.1) == 0
    assert cantelli_mu(0.6, 0.5) == 0
    assert cantelli_mu(0.2, 0.15) == 0
    value = cantelli_bound(0.45, 0.05, 10**6, 10**6, 0.0, 0.05)
    assert value == pytest.approx(tandem_bound(0.05, 10**6, 0.0, 0.025))


def test_c_bound_is_one_unless_voters_beat_a_coin() -> None:
    assert c_bound(0.49, 0.3, 100, 100, 0.0, 0.05) == 1
    assert c_bound(0.1, 0.9, 10**6, 10**6, 0.0, 0.05) == 1


def test_divergence() -> None:
    assert divergence([1.0, 1.0]) == pytest.approx(0, abs=1e-12)
    assert divergence([1.0, 0.0], [0.25, 0.75]) == pytest.approx(math.log(4))
    assert divergence([0.0, 0.0, 7.0]) >= math.log(3)


def two_voters_that_never_err_together(n: int = 500, error: float = 0.2) -> NDArray[np.int64]:
    """Mistakes of the vote of two equal voters; where one errs there is a tie, which is an error.

    The vote's error is exactly 2L = 4L₂ = the C-bound: every inequality here is an equality.
    """
    return np.random.default_rng(7).binomial(n, error, size=RUNS)


def test_coverage_where_all_four_bounds_are_equalities() -> None:
    mistakes = two_voters_that_never_err_together()
    forms: dict[str, Callable[[float], float]] = {
        "PAC-Bayes first order": lambda r: first_order_bound(r / 2, 500, 0.0, DELTA),
        "PAC-Bayes tandem": lambda r: tandem_bound(r / 4, 500, 0.0, DELTA),
        "PAC-Bayes C-bound": lambda r: c_bound(r / 2, r / 2, 500, 500, 0.0, DELTA),
        "PAC-Bayes Chebyshev-Cantelli": lambda r: cantelli_bound(
            r / 2, r / 4, 500, 500, 0.0, DELTA
        ),
    }
    for name, form in forms.items():
        values = {k: form(int(k) / 500) for k in np.unique(mistakes)}
        check_coverage(name, sum(values[k] < 0.2 for k in mistakes), RUNS, DELTA)


def test_broken_twins_are_rejected() -> None:
    mistakes = two_voters_that_never_err_together()
    twins: dict[str, Callable[[float], float]] = {
        "first order without the 2": lambda r: pac_bayes_kl_bound(r / 2, 500, 0.0, DELTA),
        "tandem with 2 for 4": lambda r: tandem_bound(r / 4, 500, 0.0, DELTA) / 2,
        "C-bound of the measured losses": lambda r: 1 - (1 - r) ** 2 / (1 - r),
        "Chebyshev-Cantelli of the measured losses": lambda r: (
            (r / 4 - cantelli_mu(r / 2, r / 4) * r + cantelli_mu(r / 2, r / 4) ** 2)
            / (0.5 - cantelli_mu(r / 2, r / 4)) ** 2
        ),
    }
    for name, form in twins.items():
        values = {k: form(int(k) / 500) for k in np.unique(mistakes)}
        check_rejected(name, sum(values[k] < 0.2 for k in mistakes), RUNS, DELTA)


def bagged_noise(
    generator: np.random.Generator, n: int, voters: int, minus: float
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Bags, and mistakes of voters that know their bag by heart and answer +1 elsewhere.

    No row is ever drawn twice, so on a new example the vote says +1 and errs exactly if y = -1.
    """
    bags = np.zeros((voters, n), dtype=bool)
    for bag in bags:
        bag[generator.integers(n, size=n)] = True
    return bags, ~bags & (generator.random(n) < minus)


def test_tandem_on_bagged_noise() -> None:
    """Out of bag it holds; counted on all rows, bagged memory makes noise look learnable."""
    generator = np.random.default_rng(11)
    runs, held, broken = 200, 0, 0
    for _ in range(runs):
        bags, wrong = bagged_noise(generator, 600, 8, 0.1)
        outside = (~bags).astype(float)
        both = (wrong.astype(float) @ wrong.T.astype(float)) / (outside @ outside.T)
        _, pairs = out_of_bag_sizes(bags)
        held += tandem_bound(float(both.mean()), pairs, 0.0, DELTA) < 0.1
        bags, wrong = bagged_noise(generator, 2000, 8, 0.5)
        everywhere = float((wrong.mean(axis=0) ** 2).mean())
        broken += tandem_bound(everywhere, 2000, 0.0, DELTA) < 0.5
    check_coverage("tandem out of bag on noise", held, runs, DELTA)
    check_rejected("tandem on the rows of the bags", broken, runs, DELTA)


VALID = ("first_order", "tandem", "cantelli")
GOOD = OutOfBag(
    rows=100_000,
    members_max=100,
    outside=math.exp(-1),
    sizes=np.full(100, 36_600),
    wrong=np.full(100, 7_320),
    pair_least_size=13_400,
    tandem=0.08,
    vote_error=0.1,
    unseen=0,
)


def test_table_by_ways() -> None:
    """Gibbs 0.20 and tandem 0.08 on 100,000 rows: 0.418, 0.360 and 0.361."""
    values = [certificate(GOOD, 0.05, way).value for way in VALID]
    assert values == pytest.approx([0.418, 0.360, 0.361], abs=1.5e-3)


def test_stopping_early_costs_the_logarithm_and_nothing_else() -> None:
    half = replace(GOOD, members_max=200)
    found = certificate(half, 0.05, "tandem")
    expected = round(100_000 * math.exp(-2))
    price = math.log(2) + math.log(expected / 13_400) / 4
    assert found.value == out_of_bag.tandem_bound(0.08, 13_400, price, 0.05)
    budget = (2 * math.log(2) + math.log(2 * math.sqrt(expected) / 0.05)) / 13_400
    assert (2 * price + math.log(2 * math.sqrt(13_400) / 0.05)) / 13_400 == pytest.approx(budget)
    assert certificate(GOOD, 0.05, "tandem").value < found.value


def test_sizes_above_the_expected_one_are_cut() -> None:
    """The theorem fixes N beforehand: bags that happen to be small must not be used in full."""
    lucky = replace(GOOD, sizes=np.full(100, 50_000), wrong=np.full(100, 10_000))
    assert certificate(lucky, 0.05, "first_order").inputs["n"] == round(100_000 * math.exp(-1))
    assert certificate(lucky, 0.05, "first_order").inputs["divergence"] == 0


def test_refusals_say_why() -> None:
    few = replace(GOOD, rows=20, sizes=np.full(100, 5), wrong=np.zeros(100, dtype=np.int64))
    cases = [
        (GOOD, "binomial", "another vote"),
        (replace(GOOD, members_max=99), "tandem", "99 members were planned, and 100 were made"),
        (replace(GOOD, sizes=np.zeros(100, dtype=np.int64)), "first_order", "no rows outside"),
        (replace(GOOD, pair_least_size=0, tandem=None), "tandem", "share no row"),
        (replace(GOOD, pair_least_size=None, tandem=None), "cantelli", "were not counted"),
        (replace(GOOD, sizes=GOOD.sizes[:0], wrong=GOOD.wrong[:0]), "first_order", "no members"),
        (few, "first_order", "5 rows outside the bags are too few.* 7 are needed"),
    ]
    for counts, way, reason in cases:
        with pytest.raises(NotCertified, match=reason):
            certificate(counts, 0.05, way)
    with pytest.raises(NotCertified, match="went on"):
        certificate(GOOD, 0.05, changed="it went on after a look")


def tallied(
    bags: Bags, members: int, labels: NDArray[np.int64], said: NDArray[np.int64]
) -> OutOfBag:
    """Count what members, one line of ``said`` each, say about the rows outside their bags."""
    tally = OutOfBagVotes(labels, members, 2, outside=bags.chance_outside, pairs=True)
    for b, line in enumerate(said):
        outside = bags.bag(b).outside
        tally.add(b, outside, line[outside])
    return tally.result()


def test_coverage_where_members_never_err_together() -> None:
    """One of two members is wrong on a share 0.2 of the rows, both nowhere; a tie is an error.

    So the vote errs on 0.2 = 2L = 4L₂ of new rows: every inequality is an equality.
    """
    runs, rows, failed = 300, 500, dict.fromkeys(VALID, 0)
    measured = {"first_order": 0, "tandem": 0}
    generator = np.random.default_rng(3)
    labels = np.zeros(rows, dtype=np.int64)
    for run in range(runs):
        place = generator.random(rows)
        said = np.stack([place < 0.1, (place >= 0.1) & (place < 0.2)]).astype(np.int64)
        counts = tallied(Bags(rows, rows, 1, 1, run), 2, labels, said)
        for way in VALID:
            failed[way] += certificate(counts, DELTA, way).value < 0.2
        assert counts.first is not None
        assert counts.tandem is not None
        measured["first_order"] += 2 * counts.first < 0.2
        measured["tandem"] += 4 * counts.tandem < 0.2
    for way, count in failed.items():
        check_coverage(f"out of bag, {way}, tight", count, runs, DELTA)
    for way, count in measured.items():
        check_rejected(f"out of bag, {way} of the measured losses", count, runs, DELTA)


def test_coverage_where_members_know_their_bags() -> None:
    """Members know the labels of their bag by heart, and answer 0 elsewhere: the risk is 0.3."""
    runs, rows, failed = 200, 600, dict.fromkeys(VALID, 0)
    generator = np.random.default_rng(4)
    for run in range(runs):
        labels = (generator.random(rows) < 0.3).astype(np.int64)
        counts = tallied(Bags(rows, rows, 1, 1, run), 5, labels, np.zeros((5, rows), np.int64))
        for way in VALID:
            failed[way] += certificate(counts, DELTA, way).value < 0.3
    for way, count in failed.items():
        check_coverage(f"out of bag, {way}, memory", count, runs, DELTA)


def test_dropping_the_price_of_a_choice_is_rejected() -> None:
    """2,000 members that err by chance on a share 0.3 of all rows; the best one out of bag is kept.

    The certificate says 2L, and for a single member L itself is what the theorem bounds. With the
    price ln 2000 it holds; as if this member had been the only one planned, it does not.
    """
    runs, rows, members = 200, 300, 2_000
    generator = np.random.default_rng(5)
    bags = Bags(rows, rows, 1, 1, 0)
    held = broken = 0
    for _ in range(runs):
        drawn = generator.integers(rows, size=(members, rows)) + rows * np.arange(members)[:, None]
        inside = np.bincount(drawn.ravel(), minlength=rows * members).reshape(members, rows) > 0
        sizes = rows - inside.sum(axis=1)
        wrong = generator.binomial(sizes, 0.3)
        best = int((wrong / sizes).argmin())
        kept = OutOfBag(
            rows, members, bags.chance_outside, sizes[[best]], wrong[[best]], None, None, None, 0
        )
        held += certificate(kept, DELTA, "first_order").value / 2 < 0.3
        free = replace(kept, members_max=1)
        broken += certificate(free, DELTA, "first_order").value / 2 < 0.3
    check_coverage("out of bag, the best of 2,000 members", held, runs, DELTA)
    check_rejected("out of bag without ln(B_max/B)", broken, runs, DELTA)


def test_a_binomial_interval_on_the_votes_is_rejected() -> None:
    """Members are constant, each by a coin of its own; 9 labels in 10 are 1.

    Where most say 0 the vote errs on 0.9 of new rows. But a row outside is voted on by a third of
    the members, and among those the majority is another one now and then: votes out of bag err
    less, and an interval around their error does not hold the truth.
    """
    runs, rows, members = 200, 1_000, 25
    generator = np.random.default_rng(6)
    broken, failed = 0, dict.fromkeys(VALID, 0)
    for run in range(runs):
        labels = (generator.random(rows) < 0.9).astype(np.int64)
        coins = generator.integers(2, size=members)
        risk = 0.1 if 2 * coins.sum() > members else 0.9
        said = np.repeat(coins[:, None], rows, axis=1)
        counts = tallied(Bags(rows, rows, 1, 1, run), members, labels, said)
        assert counts.vote_error is not None
        seen = rows - counts.unseen
        broken += clopper_pearson(round(counts.vote_error * seen), seen, DELTA) < risk
        for way in VALID:
            failed[way] += certificate(counts, DELTA, way).value < risk
    check_rejected("binomial interval on votes out of bag", broken, runs, DELTA)
    for way, count in failed.items():
        check_coverage(f"out of bag, {way}, coins", count, runs, DELTA)


def test_a_binomial_interval_after_tuning_is_rejected() -> None:
    """Thirty votes that know nothing of fair labels; the one with the least error is kept."""
    runs, rows, members = 60, 200, 5
    generator = np.random.default_rng(7)
    bags, broken = Bags(rows, rows, 1, 1, 0), 0
    for _ in range(runs):
        labels = generator.integers(2, size=rows)
        counted = [
            tallied(bags, members, labels, generator.integers(2, size=(members, rows)))
            for _ in range(30)
        ]
        seen = rows - counted[0].unseen
        least = min(round(float(c.vote_error or 0) * seen) for c in counted)
        broken += clopper_pearson(least, seen, DELTA) < 0.5
    check_rejected("binomial interval on tuned votes out of bag", broken, runs, DELTA)


def test_members_that_know_features_outside_their_bags_are_rejected() -> None:
    """They answer right where a row is known and wrong elsewhere: no label was looked at."""
    runs, rows = 60, 300
    labels, right = np.ones(rows, dtype=np.int64), np.ones((5, rows), dtype=np.int64)
    broken = 0
    for run in range(runs):
        counts = tallied(Bags(rows, rows, 1, 1, run), 5, labels, right)
        broken += certificate(counts, DELTA, "first_order").value < 1
    check_rejected("out of bag, features known beforehand", broken, runs, DELTA)


@pytest.mark.parametrize("counted", ["gibbs", "tandem"])
def test_the_sentence_has_the_error_of_the_members_and_their_rows(counted: str) -> None:
    bound = {"gibbs": "first_order_bound", "tandem": "tandem_bound"}[counted]
    counts = {counted: 0.08, "n": 1234, "divergence": 0.07, "delta": 0.05}
    sentence = out_of_bag.vote_certificate(bound, **counts).sentence
    assert {"8.0 %", "1,234", "95 %"} <= set(re.findall(r"\d[\d.,]*(?: %)?", sentence))
