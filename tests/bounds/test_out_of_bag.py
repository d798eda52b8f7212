"""Certificates out of bag: refusals, identities, coverage where the risk is known, and twins."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from pacboost.bounds import out_of_bag
from pacboost.bounds.certificate import Certificate
from pacboost.bounds.holdout import clopper_pearson
from pacboost.bounds.out_of_bag import WAYS, certificate, way_for
from pacboost.errors import NotCertified, ParameterError
from pacboost.ledgers.validation import OutOfBag
from pacboost.training.bags.bags import Bags, OutOfBagVotes
from tests.bounds.coverage import check_coverage, check_rejected

DELTA = 0.05
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


def test_table_of_bagged_votes() -> None:
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


def test_way_goes_by_rows_alone() -> None:
    assert [way_for(n) for n in (9_999, 10_000, 10**6)] == ["first_order", "tandem", "cantelli"]
    assert "tandem" in certificate(GOOD, 0.05).theorem


@pytest.mark.parametrize("way", VALID)
def test_certificate_can_be_computed_again(way: str) -> None:
    made = certificate(replace(GOOD, members_max=150), 0.01, way)
    assert Certificate.from_json(made.to_json()) == made
    again = getattr(out_of_bag, made.bound.removeprefix("pac_bayes."))
    assert again(**made.inputs) == made.value
    assert "100 members" in made.claim


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


def test_bad_parameters() -> None:
    with pytest.raises(ParameterError, match="there are first_order, tandem, cantelli, binomial"):
        certificate(GOOD, 0.05, "bootstrap")
    with pytest.raises(ParameterError, match="delta"):
        certificate(GOOD, 1.0)


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


def test_every_way_is_one_function() -> None:
    assert {name: way.__name__ for name, way in WAYS.items()} == {name: name for name in WAYS}
