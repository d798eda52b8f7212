"""Streams that repeat their rows: what was learned from must not certify.

Where every row is a draw, the certificate is refused if rows come again more often than rows repeat
by themselves. Where equal rows are copies, those of certifying rows are never learned from.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from pacboost import FilterBoostClassifier
from pacboost.bounds.certificate import Certificate
from pacboost.bounds.counted_rows import COPIES
from pacboost.bounds.holdout import clopper_pearson
from pacboost.bounds.wording import DISTINCT_ROWS
from pacboost.errors import NotCertified, ParameterError
from pacboost.ledgers.ledger import Refill
from pacboost.questions.verify import verify
from pacboost.samples.equal_rows import DISTINCT
from pacboost.samples.row_hashes import row_hashes
from pacboost.sources.arrays import ArrayTable
from pacboost.sources.oracles.oracle import Batch
from pacboost.training.filtering.arrivals import CAME_AGAIN, RepeatAlarm
from tests.bounds.coverage import check_coverage, check_rejected
from tests.estimators.filter_sources import coin
from tests.runs import several_runs

ROWS, BATCHES, EPOCHS = 500, 2, 3


def learner(seed: int, **told: Any) -> FilterBoostClassifier:
    common = {"n_estimators": 12, "sample_rows": 600, "random_state": seed, "n_jobs": 1}
    return FilterBoostClassifier(
        max_leaves=60, min_leaf_rows=1, learning_rate=1.0, **{**common, **told}
    )


def false_claims(model: FilterBoostClassifier) -> int:
    """Count the claims about new examples that are below one half: labels are tosses of a coin."""
    told = (model.model_.certificate, model.stop_certificate_)
    return sum(c is not None and "of new examples" in c.claim and c.value < 0.5 for c in told)


def epochs(
    X: NDArray[np.float64], y: NDArray[np.int64], seed: int, *, shuffled: bool
) -> Iterator[tuple[NDArray[np.float64], NDArray[np.int64]]]:
    generator = np.random.default_rng(seed)
    for _ in range(EPOCHS):
        order = generator.permutation(len(X)) if shuffled else np.arange(len(X))
        for rows in np.array_split(order, BATCHES):
            yield X[rows], y[rows]


def learn(
    how: str, X: NDArray[np.float64], y: NDArray[np.int64], seed: int, *, shuffled: bool,
    copies: str, **told: Any,
) -> FilterBoostClassifier:  # fmt: skip
    """Learn from several epochs of the same rows."""
    model, batches = learner(seed, **told), epochs(X, y, seed, shuffled=shuffled)
    if how == "partial_fit":
        for batch in batches:
            model.partial_fit(*batch, classes=[0, 1], copies=copies)
        return model
    source = batches if how == "generator" else lambda: epochs(X, y, 1, shuffled=True)
    return model.fit_source(source, classes=[0, 1], copies=copies)


EPOCHS_OF_ROWS = pytest.mark.parametrize(
    ("how", "shuffled"),
    [
        ("partial_fit", False),
        ("generator", True),
        ("function", True),
        pytest.param("partial_fit", True, marks=pytest.mark.slow),
        pytest.param("generator", False, marks=pytest.mark.slow),
    ],
)


@several_runs(6, 12)
@EPOCHS_OF_ROWS
def test_epochs_over_the_same_rows(how: str, shuffled: bool, runs: int) -> None:
    wrong = 0
    for seed in range(runs):
        X, y = coin(ROWS, seed)
        model = learn(how, X, y, seed, shuffled=shuffled, copies="distinct")
        wrong += false_claims(model) > 0
    check_coverage(f"epochs, {how}", wrong, runs, 0.05)


@EPOCHS_OF_ROWS
def test_epochs_are_refused_where_every_row_is_a_draw(how: str, shuffled: bool) -> None:
    for seed in range(10):
        X, y = coin(ROWS, seed)
        model = learn(how, X, y, seed, shuffled=shuffled, copies="draws", n_estimators=2)
        assert model.model_.certificate is None
        assert model.stop_certificate_ is None
        with pytest.raises(NotCertified) as refusal:
            _ = model.certificate_
        assert str(refusal.value) == CAME_AGAIN


@pytest.mark.filterwarnings("ignore::pacboost.errors.InputWarning")
def test_epochs_that_are_not_noticed_make_false_claims(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RepeatAlarm, "suspicious", False)
    wrong = 0
    for seed in range(8):
        model = learn("generator", *coin(ROWS, seed), seed, shuffled=True, copies="draws")
        wrong += false_claims(model) > 0
    check_rejected("epochs, not noticed", wrong, 8, 0.05)


@several_runs(12, 100)
@pytest.mark.parametrize("epsilon", [None, 0.3])
def test_each_batch_several_times(epsilon: float | None, runs: int) -> None:
    wrong = 0
    for seed in range(runs):
        X, y = coin(ROWS, seed)
        model = learner(seed, epsilon=epsilon)
        for rows in np.array_split(np.arange(ROWS), BATCHES):
            for _ in range(3):
                model.partial_fit(X[rows], y[rows], classes=[0, 1], copies="distinct")
        wrong += false_claims(model) > 0
    check_coverage("each batch several times", wrong, runs, 0.05)


def honest(kind: str, seed: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Draw rows that repeat by nature, or not at all; labels are tosses of a coin."""
    X, y = coin(4 * ROWS, seed)
    return {"many values": X, "one digit": X.round(1), "whole numbers": np.rint(2 * X)}[kind], y


@pytest.mark.parametrize("kind", ["many values", "one digit", "whole numbers"])
def test_draws_of_a_stream_are_no_epochs(kind: str) -> None:
    for seed in range(3):
        X, y = honest(kind, seed)
        model = learner(seed, n_estimators=2)
        for part in np.array_split(np.arange(len(X)), 4):
            model.partial_fit(X[part], y[part], classes=[0, 1])
        assert model.certificate_.size > 150


def test_no_alarm_for_honest_discrete_streams() -> None:
    for seed in range(40):
        alarm, kind = RepeatAlarm(), ("one digit", "whole numbers")[seed % 2]
        alarm.look(row_hashes(ArrayTable(honest(kind, seed)[0])))
        assert not alarm.suspicious


@several_runs(20, 100)
@pytest.mark.parametrize("how", ["partial_fit", "generator", "array"])
def test_honest_discrete_rows_are_covered(how: str, runs: int) -> None:
    """Each of 256 values has a label of its own by a coin, with noise; rows count as they fall."""
    wrong = 0
    for seed in range(runs):
        generator = np.random.default_rng(seed)
        X = generator.integers(4, size=(1200, 4)).astype(np.float64)
        places = (X @ [1, 4, 16, 64]).astype(np.intp)
        chances = generator.choice([0.2, 0.8], size=256)  # of class 1, for each of 256 values
        y = (generator.random(1200) < chances[places]).astype(np.int64)
        model = learner(seed, n_estimators=4)
        if how == "array":
            model.fit(X, y)
        elif how == "generator":
            model.fit_source((X[k : k + 300], y[k : k + 300]) for k in range(0, 1200, 300))
        else:
            for k in range(0, 1200, 300):
                model.partial_fit(X[k : k + 300], y[k : k + 300], classes=[0, 1])
        grid = np.stack(np.meshgrid(*[np.arange(4.0)] * 4, indexing="ij"), -1).reshape(-1, 4)
        own = chances[(grid @ [1, 4, 16, 64]).astype(np.intp)]
        risk = float(np.where(model.predict(grid) == 1, 1 - own, own).mean())
        assert model.certificate_.size > 60
        wrong += model.certificate_.value < risk
    check_coverage(f"honest discrete rows, {how}", wrong, runs, 0.05)


@several_runs(20, 100)
def test_any_vote_of_a_stream_may_be_kept(runs: int) -> None:
    """Labels are coins: the vote after the best of 25 batches errs as often as all others."""
    wrong, twin, batches = 0, 0, 25
    for seed in range(runs):
        X, y = coin(80 * batches, seed)
        model, claims = learner(seed, n_estimators=1, n_certify=1000), []
        for part in np.array_split(np.arange(len(X)), batches):
            claims.append(model.partial_fit(X[part], y[part], classes=[0, 1]).certificate_)
        counts = [(claim.inputs["k"], claim.inputs["n"]) for claim in claims]
        wrong += any(claim.value < 0.5 for claim in claims)
        twin += any(clopper_pearson(k, n, 0.05) < 0.5 for k, n in counts)
        assert [claim.inputs["look"] for claim in claims] == list(range(1, batches + 1))
        assert verify(claims[-1])[0].holds
    check_coverage("a certificate after every batch, each look pays", wrong, runs, 0.05)
    check_rejected("twin: all of delta after every batch", twin, runs, 0.05)


@several_runs(10, 100)
def test_any_vote_of_a_run_that_goes_on_may_be_kept(runs: int, tmp_path: Path) -> None:
    """A run is stopped after every sample and continued, and its best vote is kept."""
    wrong, twin = 0, 0
    for seed in range(runs):
        X, y = coin(3000, seed)
        path = tmp_path / str(seed)
        claims: list[Certificate] = []
        stops: list[Refill] = []

        def stop(event: Any, stops: list[Refill] = stops) -> bool:
            stops += [event] if isinstance(event, Refill) else []
            return len(stops) > 1

        model = learner(
            seed, n_estimators=60, sample_rows=50, n_certify=1500, checkpoint=path, callbacks=[stop]
        )
        while not claims or path.exists():
            stops.clear()
            claims.append(model.fit(X, y).certificate_)
        counts = [(claim.inputs["k"], claim.inputs["n"]) for claim in claims]
        assert len(claims) > 10
        assert [claim.inputs["look"] for claim in claims] == list(range(1, len(claims) + 1))
        wrong += any(claim.value < 0.5 for claim in claims)
        twin += any(clopper_pearson(k, n, 0.05) < 0.5 for k, n in counts)
    check_coverage("a run that goes on, each look pays", wrong, runs, 0.05)
    check_rejected("twin: all of delta whenever it stops", twin, runs, 0.05)


def test_rows_that_certify_are_never_learned_from() -> None:
    """Equal rows have the same role, whatever the batch, the epoch and the place they come at."""
    X, y = coin(ROWS, 0)
    model = learn("partial_fit", X, y, 0, shuffled=True, copies="distinct", n_certify=30)
    assert model._stream is not None
    stream: Any = model._stream.run.candidates
    held = {tuple(row) for row in X[np.isin(stream.coins.ids(_batch(X, y)), stream._apart_ids)]}
    assert len(held) == 30
    carried = model._stream.run._carried
    assert carried is not None
    order = np.concatenate([rows for rows, _ in epochs(X, y, 0, shuffled=True)])
    assert not held & {tuple(order[int(row)]) for row in carried.rows}
    told = model.certificate_
    assert told.size == 30
    assert DISTINCT in told.assumptions
    assert DISTINCT_ROWS in told.details
    assert told.sample["copies"] is True
    assert COPIES in told.rows_in_words


def test_what_the_first_batch_says_of_copies_stays() -> None:
    X, y = coin(ROWS, 0)
    model = learner(0, n_estimators=2).partial_fit(X, y)
    with pytest.raises(ParameterError, match="'distinct', and was 'draws'"):
        model.partial_fit(X, y, copies="distinct")
    with pytest.raises(ParameterError, match="copies is 'auto'"):
        model.partial_fit(X, y, copies="auto")
    model = learner(0, n_estimators=2).partial_fit(X, y, copies="distinct")
    assert DISTINCT_ROWS in model.partial_fit(X, y).certificate_.details


@several_runs(12, 100)
@pytest.mark.parametrize("copies", ["draws", "distinct"])
def test_a_heavy_value_is_no_reason_to_certify_the_light_ones(copies: str, runs: int) -> None:
    """Nine rows in ten are equal, and their labels are tosses of a coin; the others are clear."""
    wrong = 0
    for seed in range(runs):
        generator = np.random.default_rng(seed)
        X = generator.random((2000, 1))
        heavy = generator.random(2000) < 0.9
        X[heavy] = 2.0
        y = np.where(heavy, generator.integers(2, size=2000), X[:, 0] > 0.5).astype(np.int64)
        model = learner(seed)
        for rows in np.array_split(np.arange(2000), 4):
            model.partial_fit(X[rows], y[rows], classes=[0, 1], copies=copies)
        certificate = model.model_.certificate
        assert copies == "distinct" or certificate is not None
        wrong += certificate is not None and certificate.value < 0.45
    check_coverage(f"a heavy value of a stream, {copies}", wrong, runs, 0.05)


def _batch(X: NDArray[np.float64], y: NDArray[np.int64]) -> Batch:
    return Batch((ArrayTable(X), y), np.arange(len(X), dtype=np.uint64), 0)
