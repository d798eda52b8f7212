"""FilterBoostClassifier as a user meets it: what it learns, and what it certifies."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from pacboost import FilterBoostClassifier
from pacboost.boosters.majority import Majority
from pacboost.errors import NoEdgeWarning, NotCertified
from pacboost.estimators.filtering import sizes
from pacboost.hypotheses.stump import StumpRule
from pacboost.ledgers.ledger import Refill
from pacboost.models.file.format import model_bytes
from pacboost.sources.oracles.arrays import ArrayOracle
from pacboost.sources.oracles.arrow import ParquetOracle
from pacboost.theory.finite_worlds import BooleanConcept
from pacboost.theory.worlds import Halfspaces, LabelNoise
from pacboost.training.filtering import candidates
from pacboost.training.filtering.candidates import ArrayRows
from pacboost.training.filtering.rows import CodedBatch
from tests.bounds.coverage import check_coverage, check_rejected
from tests.estimators.filter_sources import coin, noisy, small, write_parquet
from tests.grids import each_value
from tests.runs import several_runs
from tests.training.filtering.setups import Choppy

BOOSTERS = ["logit", "measure", "mada", "smooth", "projection"]


@each_value
@pytest.mark.parametrize("booster", BOOSTERS)
@pytest.mark.parametrize("learner", ["tree", "stump"])
def test_learns_with_every_booster(booster: str, learner: str) -> None:
    X, y = noisy(6000)
    model = small(booster, learner).fit(X, y)
    assert model.score(X, y) > 0.7
    assert 1 <= len(model.ledger_) <= 12
    assert model.ledger_.refills
    assert 1 - model.score(X, y) < model.certificate_.value + 0.02 < 0.5


@pytest.mark.parametrize("classes", [3, 5])
def test_learns_several_classes(classes: int) -> None:
    X, y = noisy(6000, classes=classes)
    model = small(n_estimators=40).fit(X, y)
    assert model.classes_.tolist() == list(range(classes))
    assert model.score(X, y) > 0.6
    assert model.predict_proba(X[:5]).shape == (5, classes)
    assert 1 - model.score(X, y) < model.certificate_.value + 0.02 < 0.5


@pytest.mark.parametrize(
    "learner", [DecisionTreeClassifier(max_depth=3), LogisticRegression(), None]
)
def test_black_boxes_learn_from_raw_rows(learner: Any) -> None:
    def median(X: Any, y: Any, weights: Any) -> Any:
        return DecisionTreeClassifier(max_depth=2).fit(X, y, sample_weight=weights)

    X, y = noisy(4000)
    model = small("mada", learner or median, n_estimators=6).fit(X, y)
    assert model.score(X, y) > 0.65
    assert model.certificate_.value < 0.5


def test_a_rare_class_is_found() -> None:
    generator = np.random.default_rng(0)
    X = generator.normal(size=(60_000, 3))
    y = (X[:, 0] > 2.6).astype(np.int64)
    assert y.mean() < 0.006
    model = small(sample_rows=4000, n_estimators=30).fit(X, y)
    assert (model.predict(X) != y).mean() < 0.001


def failures(delta: float, runs: int) -> int:
    """On tosses of a coin every classifier errs on half: certificates below that are false."""
    wrong = 0
    for seed in range(runs):
        X, y = coin(500, seed)
        model = FilterBoostClassifier(
            n_estimators=6, n_certify=120, delta=delta, random_state=seed, n_jobs=1
        )
        wrong += model.fit(X, y).certificate_.value < 0.5
    return wrong


@several_runs(30, 200)
def test_certificates_by_rows_set_apart_hold_on_a_coin(runs: int) -> None:
    check_coverage("rows set apart by the filter, a coin", failures(0.2, runs), runs, 0.2)


def test_rows_that_were_learned_from_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """A broken twin that counts mistakes on rows of the sample."""

    def taken(pool: ArrayRows, encoder: Any, **_: Any) -> CodedBatch:
        rows = np.arange(pool.kinds.size)[:300]
        return CodedBatch.join([encoder.read(pool._array.take(rows))])

    monkeypatch.setattr(ArrayRows, "apart", taken)
    check_rejected("rows that were learned from", failures(0.2, 40), 40, 0.2)


@pytest.mark.slow
@pytest.mark.parametrize("source", ["stream", "array"])
def test_certificates_hold_on_a_world_with_known_risk(
    source: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(candidates, "MAX_ROWS_PER_OFFER", 1024)
    world = LabelNoise(BooleanConcept(5, lambda X: X.sum(axis=1) >= 3), 0.1)
    wrong, runs = np.zeros(2), 500
    for seed in range(runs):
        model = FilterBoostClassifier(
            "mada", "stump", n_estimators=4, n_certify=150, delta=0.1, random_state=seed,
            epsilon=0.2, sample_rows=400,
        )  # fmt: skip
        if source == "stream":
            model.fit_source(world)
        else:
            model.fit(*world.draw(3000, seed))
        risk = world.risk(model.decision_function)
        told = [model.certificate_, model.stop_certificate_]
        wrong += [c is not None and "new examples" in c.claim and c.value < risk for c in told]
    check_coverage(f"rows set apart, {source}, known risk", int(wrong[0]), runs, 0.1)
    check_coverage(f"stop certificate, {source}, known risk", int(wrong[1]), runs, 0.05)


def certified(**told: Any) -> FilterBoostClassifier:
    return small("mada", "stump", 0.2, 0.45, n_estimators=60, **{"sample_rows": 2000, **told})


def test_a_certified_stop_says_what_it_rests_on() -> None:
    model = certified(n_certify=200).fit_source(Halfspaces((3.0, 1.0)))
    assert "at most 0.45" in model.ledger_.stopped
    stop = model.stop_certificate_
    assert stop is not None
    assert stop.value <= 0.45
    assert stop.delta == 0.05  # half for the tests, half for the rows set apart
    assert "of new examples" in stop.claim
    assert stop.assumptions == (
        "every row is a fresh draw from the distribution of future examples",
    )
    assert stop.ledger_digest == model.ledger_.digest()
    assert model.certificate_.value <= stop.value
    alone = certified(n_certify=0).fit_source(Halfspaces((3.0, 1.0))).stop_certificate_
    assert alone is not None
    assert alone.delta == 0.025


def test_without_either_there_is_no_certificate() -> None:
    model = small(n_certify=0).fit(*noisy(3000))
    assert model.stop_certificate_ is None
    with pytest.raises(NotCertified, match="new sample was drawn"):
        _ = model.certificate_


def second_pass(event: Any) -> bool:
    """Stop after a refill of rows that all came before."""
    return isinstance(event, Refill) and event.again == event.draws and event.rounds > 2


def first_of_many(event: Any) -> bool:
    return isinstance(event, Refill) and event.rounds >= 8


def test_draws_with_replacement_speak_of_the_array_alone() -> None:
    X, y = noisy(3000)
    model = small(callbacks=[first_of_many], n_estimators=500)
    model.fit_source(ArrayOracle(X, y, 0, replace=True))
    told = model.certificate_
    assert "on this array" in told.claim
    assert "new examples" not in told.claim
    assert "with replacement" in told.assumptions[0]
    assert (model.predict(X) != y).mean() <= told.value


def test_on_a_second_pass_rows_that_were_never_learned_from_test_the_vote(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(candidates, "MAX_ROWS_PER_OFFER", 1000)
    X, y = noisy(3000)
    folder = write_parquet(tmp_path / "data", X, y)

    model = small("mada", callbacks=[second_pass], n_estimators=500)
    model.fit_source(folder, "y")
    stop = model.stop_certificate_
    assert stop is not None
    assert "of new examples" in stop.claim
    assert 200 < stop.size < 400
    assert "in whatever order" in stop.assumptions[0]
    assert "of new examples" in model.certificate_.claim  # rows apart were never learned from
    assert model.certificate_.sample["rows"] == "by_coins"


def test_a_second_pass_over_a_stream_speaks_of_the_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(candidates, "MAX_ROWS_PER_OFFER", 1000)
    X, y = noisy(1500)

    model = small("mada", callbacks=[second_pass], n_estimators=500, n_certify=0)
    model.fit_source(lambda: iter([(X, y)]))
    assert "on this stream" in model.certificate_.claim


def test_arrays_whose_rows_have_all_come_before_certify_nothing_by_draws(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of a pool easy rows come less often, so what comes again is no fair draw."""
    monkeypatch.setattr("pacboost.training.filtering.candidates.SHARE_RESERVED", 0.0)
    model = small("mada", callbacks=[first_of_many], n_estimators=500, n_certify=0).fit(
        *noisy(1000)
    )
    assert model.ledger_.refills[-1].fresh == 0
    assert model.stop_certificate_ is None
    assert model.ledger_.refills[-1].error_upper == 1.0


def test_certificates_are_of_the_vote_that_is_delivered(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rows set apart are scored by the vote that is returned, after its last round."""
    X, y = noisy(4000)
    hidden: list[Any] = []

    def keep(pool: ArrayRows, encoder: Any, **told: Any) -> Any:
        hidden.append(original(pool, encoder, **told))
        return hidden[-1]

    original = ArrayRows.apart
    monkeypatch.setattr(ArrayRows, "apart", keep)
    model = small(n_certify=500).fit(X, y)
    rows = hidden[-1].rows.astype(np.int64)
    told = model.certificate_.inputs
    assert told["n"] == rows.size == 500
    assert told["k"] == model.mistakes(X[rows], y[rows]).sum()


def test_progressive_errors_are_those_of_the_vote_before_learning() -> None:
    X, y = noisy(4000)
    parts = np.array_split(np.arange(4000), 5)
    model = small(n_certify=0)
    for k, rows in enumerate(parts):
        if k:
            scores = model.decision_function(X[rows])
            error = (scores * np.where(y[rows] == 1, 1, -1) <= 0).mean()
            chance = model.predict_proba(X[rows])[np.arange(rows.size), y[rows]]
        model.partial_fit(X[rows], y[rows], classes=[0, 1])
        told = model.ledger_.refills[-1]
        assert told.draws == rows.size
        if k:
            assert told.error == pytest.approx(error, abs=1e-12)
            assert told.loss == pytest.approx(-np.log(chance).mean(), rel=1e-9)
            assert told.fresh == rows.size
        else:
            assert told.error == 1.0  # an empty vote ties


def test_a_time_limit_keeps_what_was_learned() -> None:
    model = small(time_limit="1s", n_estimators=10**6, booster="mada").fit_source(
        LabelNoise(Halfspaces((1.0, 1.0)), 0.2)
    )
    assert model.ledger_.stopped == "the time is up"
    assert 1 <= len(model.ledger_) < 10**6
    assert model.certificate_.value < 0.5


def test_a_promised_edge_on_few_rows_ends_soon() -> None:
    X, _ = noisy(60)
    model = FilterBoostClassifier(edge=0.5, random_state=0).fit(X, X[:, 0] > 0)
    assert sum(refill.draws + refill.tested for refill in model.ledger_.refills) < 60_000
    assert "on these very rows" in model.ledger_.stopped


def test_no_edge_is_reported() -> None:
    model = small(learner="stump", edge=0.4, epsilon=0.1, n_certify=100, sample_rows=4000)
    with pytest.warns(NoEdgeWarning, match="no edge was found"):
        model.fit_source(LabelNoise(Halfspaces((1.0, 1.0)), 0.5))
    assert "3 rules" in model.ledger_.stopped
    assert model.certificate_.value == 1.0


WAYS: dict[str, dict[str, Any]] = {
    "trees": {"n_estimators": 25},
    "stumps": {"booster": "mada", "learner": "stump", "n_estimators": 25},
    "path": {"booster": "projection", "n_estimators": 10},
    "tested": {
        "booster": "mada",
        "learner": "stump",
        "edge": 0.2,
        "epsilon": 0.4,
        "n_estimators": 3,
    },
}
EACH = pytest.mark.parametrize("told", WAYS.values(), ids=WAYS)


@pytest.fixture
def small_helpings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(candidates, "MAX_ROWS_PER_OFFER", 2000)
    monkeypatch.setattr(sizes, "ROWS_FOR_BINS", 1500)


def bytes_of(source: Any, target: str | None = None, **told: Any) -> bytes:
    model = small(**told).fit_source(source, target)
    return model_bytes(model.model_) + model.certificate_.to_json().encode()


@pytest.mark.usefixtures("small_helpings")
@EACH
def test_sizes_of_batches_change_nothing(told: dict[str, Any], tmp_path: Path) -> None:
    X, y = noisy(6000)
    folder = write_parquet(tmp_path / "data", X, y)

    def oracle() -> ParquetOracle:
        return ParquetOracle(folder, "y", 0)

    first = bytes_of(oracle(), **told)
    for lengths in ([1999, 1], [13, 700]):
        assert bytes_of(Choppy(oracle(), lengths), **told) == first


@pytest.mark.usefixtures("small_helpings")
@EACH
def test_the_order_in_which_files_are_listed_changes_nothing(
    told: dict[str, Any], tmp_path: Path
) -> None:
    X, y = noisy(5000)
    folder = write_parquet(tmp_path / "data", X, y, files=4)
    files = sorted(folder.glob("*.parquet"))
    first = bytes_of(folder, "y", **told)
    assert bytes_of(files[::-1], "y", **told) == first
    assert bytes_of(f"{folder}/*.parquet", "y", **told) == first


@pytest.mark.usefixtures("small_helpings")
def test_kinds_of_arrays_change_nothing() -> None:
    X, y = noisy(4000)
    names = [f"x{j}" for j in range(4)]
    first = small(n_estimators=20).fit(X, y)
    for other in (
        X.astype(np.float32),
        np.asfortranarray(X),
        pd.DataFrame(X, columns=names),
        pl.DataFrame(X, schema=names),
    ):
        assert model_bytes(small(n_estimators=20).fit(other, y).model_) == model_bytes(first.model_)
    assert bytes_of((X, y), n_estimators=20).startswith(model_bytes(first.model_))


def test_an_edge_that_the_learner_does_not_have() -> None:
    X, y = noisy(40_000)
    model = FilterBoostClassifier("majority", "stump", edge=0.5, epsilon=0.1, random_state=0)
    stopped = model.fit(X, y).ledger_.stopped
    told = re.search(r"an edge of ([\d.]+) on .* surely below 0.25; promised was .* 0.5", stopped)
    assert told is not None, stopped
    assert float(told[1]) < 0.25
    assert len(model.ledger_) < Majority(0.5, 0.1).rounds


def test_where_next_to_nothing_is_left_a_coin_will_do() -> None:
    """Labels that one rule tells: after two of three rounds all rows are decided."""
    generator = np.random.default_rng(0)
    X = generator.integers(2, size=(20_000, 2)).astype(float)
    y = X[:, 0].astype(int)
    rules = Majority(edge=0.9, epsilon=0.02)
    model = FilterBoostClassifier(booster=rules, learner="stump", edge=0.9, random_state=0)
    model.fit(X, y)
    entries = model.ledger_.rounds
    assert len(entries) == rules.rounds == 3
    assert [entry.edge > 0.9 for entry in entries] == [True, True, False]
    assert entries[-1].rule.startswith("next to nothing is left")
    last = model.estimators_[-1]
    assert isinstance(last, StumpRule)
    assert last.is_constant
    assert {entry.vote for entry in entries} == {rules.rate}
    assert model.score(X, y) > 0.99
