"""Labels that come later than rows: the same rows are kept, and only some labels are asked for."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pacboost import FilterBoostClassifier, StrongClassifier, load
from pacboost.errors import ParameterError
from pacboost.numerics.sequences import kt_lower, kt_upper
from pacboost.questions.verify import verify
from pacboost.samples.gathering import Gathering
from pacboost.sources.arrays import ArrayTable
from pacboost.sources.oracles.examples import ExampleOracle
from pacboost.sources.oracles.oracle import Batch
from pacboost.training.filtering.candidates import FilterBatch, key_of
from pacboost.training.filtering.late_labels import LateRefillTask
from pacboost.training.filtering.refilling import RefillTask
from tests.training.filtering.setups import (
    BITS,
    EACH_BOOSTER,
    at_least_two,
    cube,
    encoder,
    vote_so_far,
)


def labels_of(X: Any) -> Any:
    return np.where(at_least_two(X), 1, -1)


def both_tasks(booster: Any, rows: int, seed: int) -> tuple[Any, Any, int]:
    """Score the same candidates with all labels, and with labels that are asked for."""
    generator = np.random.default_rng(seed)
    X = generator.integers(2, size=(rows, BITS)).astype(np.float64)
    flipped = generator.random(rows) < 0.2
    y = np.where(flipped, -labels_of(X), labels_of(X))
    numbers = iter(range(rows))
    oracle = ExampleOracle(
        lambda: np.append(X[(k := next(numbers))], k), label=lambda x: y[int(x[-1])]
    )
    late = oracle.draw(rows)
    late = type(late)((ArrayTable(X), np.empty(0)), late.rows, given=late.given, ask=late.ask)  # type: ignore[attr-defined,call-arg]
    own, vote = encoder(cube().as_oracle()), vote_so_far(booster)
    parts = []
    for kind, batch in ((RefillTask, Batch((ArrayTable(X), y), late.rows)), (LateRefillTask, late)):
        task = kind(own, vote, key_of(seed, 2), 1.0, Gathering(), BITS)
        parts.append(task(FilterBatch(batch, batch.rows, np.zeros(rows, np.int8), batch.rows)))
    return parts[0], parts[1], oracle.asked


@EACH_BOOSTER
def test_the_same_rows_are_kept(booster: Any) -> None:
    """One number decides both about asking and about keeping, so the distribution is the same."""
    known, late, asked = both_tasks(booster, 3000, seed=1)
    assert known.kept.n_rows > 100
    assert np.array_equal(known.kept.rows, late.kept.rows)
    assert np.array_equal(known.kept.odds, late.kept.odds)
    assert np.array_equal(known.kept.margins, late.kept.margins)
    assert late.kept.n_rows <= asked <= late.draws == 3000


def test_logistic_weights_save_at_most_half_of_the_labels() -> None:
    """The two weights of a row add up to 1, so the larger one is at least a half."""
    from pacboost.boosters import Logit

    _, late, asked = both_tasks(Logit(), 4000, seed=2)
    assert 0.5 * 4000 <= asked < 4000
    assert np.all(late.chances >= 0.5)


def covered(counts_of: Any, runs: int = 400, rows: int = 400) -> float:
    """Return how often an interval at 80 % holds the mean weight of the world."""
    from pacboost.boosters import Logit

    known, _, _ = both_tasks(Logit(), 60_000, seed=0)
    truth, held = float(known.chances.mean()), 0
    for seed in range(1, runs + 1):
        _, late, asked = both_tasks(Logit(), rows, seed)
        total, draws = counts_of(late, asked)
        held += kt_lower(total, draws, 0.1) <= truth <= kt_upper(total, draws, 0.1)
    return held / runs


def test_the_interval_of_the_mean_weight_holds_and_its_twin_does_not() -> None:
    """Rows kept are counted among all draws; among the labels asked for they are too many."""
    kept = lambda late, _: (float(late.tests[0][1].sum()), late.draws)  # noqa: E731
    assert covered(kept, 100) >= 0.8
    twin = lambda late, asked: (float(late.tests[0][1].sum()), asked)  # noqa: E731
    assert covered(twin, 30, 2000) < 0.2


def world(seed: int = 0) -> tuple[Any, Any, Any]:
    generator = np.random.default_rng(seed)
    calls: list[int] = []

    def draw_row() -> Any:
        return generator.normal(size=3)

    def label(x: Any) -> int:
        calls.append(1)
        return int(x[0] + x[1] * x[2] > 0)

    return draw_row, label, calls


SMALL: dict[str, Any] = {
    "learner": "stump", "sample_rows": 400, "n_estimators": 6, "n_certify": 200, "random_state": 0
}  # fmt: skip


def test_a_fit_asks_for_what_its_ledger_uses_and_late_labels_save() -> None:
    draw_row, label, calls = world()

    def draw_one() -> Any:
        x = draw_row()
        return x, label(x)

    early = FilterBoostClassifier(**SMALL).fit_source(draw_one, price=2)
    ledger = early.ledger_
    assert ledger.asked == len(calls)
    assert ledger.asked_to_certify == 200
    assert ledger.asked <= 1.2 * (ledger.rows + 200)
    assert ledger.cost == 2 * ledger.asked

    draw_row, label, calls = world()
    late = FilterBoostClassifier(**SMALL).fit_source(draw_row, label=label, classes=[0, 1])
    assert late.ledger_.asked == len(calls) < ledger.asked
    X = np.random.default_rng(5).normal(size=(500, 3))
    assert np.array_equal(early.decision_function(X), late.decision_function(X))
    assert early.certificate_.value == late.certificate_.value


@pytest.mark.parametrize("learner", ["stump", "tree", lambda X, y, w: lambda Z: np.sign(Z[:, 0])])
def test_the_first_rule_is_paid_by_its_own_sample(learner: Any) -> None:
    """Bins are chosen by the rows of the first sample, and a black box needs none."""
    draw_row, label, calls = world()
    before: list[int] = []

    def first(event: Any) -> bool:
        before.append(len(calls))
        return hasattr(event, "vote")

    parameters = {**SMALL, "learner": learner, "callbacks": [first], "n_certify": 0}
    FilterBoostClassifier(**parameters).fit_source(lambda: (x := draw_row(), label(x)))
    assert before[0] <= 3 * SMALL["sample_rows"]


def test_a_run_that_is_stopped_asks_for_no_more() -> None:
    draw_row, label, calls = world()
    at_stop: list[int] = []

    def stop(event: Any) -> bool:
        at_stop.append(len(calls))
        return hasattr(event, "vote") and event.number == 3

    parameters = {**SMALL, "callbacks": [stop], "n_certify": 5000}
    model = FilterBoostClassifier(**parameters).fit_source(lambda: (x := draw_row(), label(x)))
    assert model.ledger_.asked == at_stop[-1] == len(calls)
    assert model.certificate_.size == model.ledger_.asked_to_certify < 5000


def test_classes_have_to_be_named() -> None:
    draw_row, label, _ = world()
    with pytest.raises(ParameterError) as problem:
        FilterBoostClassifier(**SMALL).fit_source(draw_row, label=label)
    assert problem.value.parameter == "classes"


def test_a_stream_that_is_too_short_says_how_many_examples_were_wanted() -> None:
    rows = np.random.default_rng(0).normal(size=(300, 3))
    stream = iter([(rows, (rows[:, 0] > 0).astype(int))])
    model = FilterBoostClassifier("logit", "stump", n_certify=0, random_state=0).fit_source(stream)
    assert "wanted about 50,000 examples and got 300" in model.ledger_.stopped


def test_the_smaller_of_two_bounds_is_the_certificate(tmp_path: Path) -> None:
    """The rows set apart have half of delta where tests may stop the run, which has the rest."""
    draw_row, label, _ = world()
    parameters = {**SMALL, "epsilon": 0.3, "n_certify": 20, "sample_rows": 1000}
    model = FilterBoostClassifier(**parameters).fit_source(lambda: (x := draw_row(), label(x)))
    stop, chosen = model.stop_certificate_, model.certificate_
    assert stop is not None
    assert chosen == stop
    assert chosen.value <= 0.3
    assert chosen.delta == model.delta
    assert sum(refill.delta for refill in model.ledger_.refills) <= model.delta / 2
    model.save(tmp_path / "model.pacb")
    assert all(check.holds for check in verify(tmp_path / "model.pacb"))
    assert load(tmp_path / "model.pacb").ledger_.asked == model.ledger_.asked


def test_the_sentence_speaks_of_money() -> None:
    draw_row, label, calls = world()
    model = StrongClassifier(0.4, random_state=0, n_estimators=5)
    model.fit_source(lambda: (x := draw_row(), label(x)), price=2)
    assert f"{len(calls):,} labels" in model.sentence_
    assert f"{2 * len(calls):,}" in model.sentence_
