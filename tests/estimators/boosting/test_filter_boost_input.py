"""What goes wrong, and what FilterBoostClassifier says about it."""

import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from pacboost import FilterBoostClassifier
from pacboost.errors import DataError, OneClassWarning, ParameterError
from pacboost.estimators.filtering import filter_setup, sizes
from pacboost.models.file.format import model_bytes
from pacboost.questions.verify import recompute, verify
from pacboost.sources.oracles.arrow import ParquetOracle
from pacboost.theory.worlds import Halfspaces
from pacboost.training.filtering import candidates
from tests.estimators.filter_sources import noisy, small, write_parquet


@pytest.fixture(autouse=True)
def small_helpings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(candidates, "MAX_ROWS_PER_OFFER", 1000)
    monkeypatch.setattr(sizes, "ROWS_FOR_BINS", 1000)


@pytest.mark.parametrize(
    ("wrong", "complaint"),
    [
        ({"epsilon": 0}, "epsilon is 0"),
        ({"edge": 0.0}, "edge is 0.0"),
        ({"edge": 0.0, "booster": "measure"}, "edge is 0.0"),
        ({"sample_rows": 0}, "sample_rows is 0"),
        ({"n_certify": 3000}, "n_certify is 3000; it must be 0 or more, and leave rows"),
        ({"n_certify": 0.1}, "n_certify is 0.1; it must be a whole number"),
        ({"memory": "200MB"}, "memory is 200 MB, but this process takes"),
        ({"booster": "adaboost"}, "whose weights are not probabilities; it may be .*'logit'"),
        ({"learning_rate": 0.5, "booster": "measure"}, "no parameter 'learning_rate'"),
        ({"max_leaves": 4, "learner": "stump"}, "no parameter 'max_leaves'"),
    ],
)
def test_parameters_out_of_range(wrong: dict[str, Any], complaint: str) -> None:
    model = small(**wrong)
    with pytest.raises(ParameterError, match=complaint):
        model.fit(*noisy(3000))
    assert not hasattr(model, "model_")


@pytest.mark.parametrize("booster", ["mada", "measure", "smooth", "projection"])
def test_three_classes_need_logit(booster: str) -> None:
    X, y = noisy(2000, classes=3)
    with pytest.raises(ParameterError, match=r"3 classes.*booster='logit'"):
        small(booster).fit(X, y)
    with pytest.raises(ParameterError, match="3 classes"):
        small(edge=0.1).fit(X, y)
    assert not small(booster).__sklearn_tags__().classifier_tags.multi_class


def test_a_checkpoint_of_black_boxes_is_refused(tmp_path: Path) -> None:
    def nothing(X: Any, y: Any, weights: Any) -> Any:
        return lambda rows: rows[:, 0]

    with pytest.raises(ParameterError, match="black boxes"):
        small("mada", nothing, checkpoint=tmp_path / "run").fit(*noisy(1000))


def test_a_label_that_comes_late() -> None:
    X, y = noisy(4000)
    y = y.astype(str)
    y[3999] = "new"
    stream = [(X[:2000], y[:2000]), (X[2000:], y[2000:])]
    with pytest.raises(DataError, match=r"batch 1 .*row 1999: .*'new'"):
        small(n_estimators=200).fit_source(stream)
    model = small(n_estimators=30).fit_source(stream, classes=["0", "1", "new"])
    assert model.classes_.tolist() == ["0", "1", "new"]


@pytest.mark.filterwarnings("ignore::pacboost.errors.NoEdgeWarning")
@pytest.mark.parametrize(
    "told", [{}, {"booster": "mada", "learner": "stump"}, {"booster": "measure"}]
)
def test_constant_features(told: dict[str, Any]) -> None:
    y = np.arange(900) % 3 == 0
    model = small(**told).fit(np.ones((900, 2)), y)
    assert model.predict(np.ones((3, 2))).shape == (3,)
    assert model.certificate_.value > 0.25


def test_infinite_values_name_their_place() -> None:
    X, y = noisy(300)
    X[17, 2] = np.inf
    with pytest.raises(DataError, match="infin"):
        small().fit(X, y)
    with pytest.raises(DataError, match=r"row 17.*column 2"):
        small(n_certify=0).fit_source((X, y))


def test_large_arrays_are_checked_as_they_are_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(filter_setup, "CELLS_TO_CHECK", 1000)
    X, y = noisy(3000)
    checked = small().fit(X, y)
    assert checked.n_features_in_ == 4
    X[:, 1] = np.inf
    with pytest.raises(DataError, match=r"row \d+.*column 1"):
        small().fit(X, y)
    with pytest.raises(DataError, match="one for each"):
        small().fit(X, y[:-1])
    with pytest.raises(DataError, match="NaN"):
        small().fit(X, np.full(3000, np.nan))


@pytest.mark.filterwarnings("ignore::pacboost.errors.NoEdgeWarning")  # two rows, one of each
@pytest.mark.parametrize("rows", [1, 2, 3, 9])
def test_hardly_any_rows(rows: int) -> None:
    X, y = noisy(rows)
    y[0] = 1 - y[-1] if rows > 1 else y[0]
    if np.unique(y).size == 1:
        with pytest.warns(OneClassWarning):
            model = small().fit(X, y)
    else:
        model = small().fit(X, y)
    assert model.predict(X).shape == (rows,)


def test_a_stream_that_ends_early_keeps_what_it_has() -> None:
    X, y = noisy(2500)
    model = small(n_estimators=500).fit_source(iter([(X[:1500], y[:1500]), (X[1500:], y[1500:])]))
    assert model.ledger_.stopped.startswith("the stream has ended; the first sample wanted about")
    assert model.score(X, y) > 0.7
    assert model.certificate_.value < 0.5


def test_a_stream_that_raises_names_the_batch() -> None:
    X, y = noisy(3000)

    def broken() -> Iterator[Any]:
        yield X[:1500], y[:1500]
        raise OSError("the line is dead")

    with pytest.raises(DataError, match=r"batch 1 .*line is dead") as caught:
        small(n_estimators=500).fit_source(broken())
    assert isinstance(caught.value.__cause__, OSError)


def test_blocks_that_memory_has_no_room_for(tmp_path: Path) -> None:
    X, y = noisy(3000)
    folder = write_parquet(tmp_path / "data", X, y)
    oracle = ParquetOracle(folder, "y", 0)
    oracle.largest_block = 10**9
    with pytest.raises(ParameterError, match=r"row group.*blocks"):
        small(memory="1GB").fit_source(oracle)


def test_memory_bounds_the_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sizes, "rows_in", lambda *_, **__: 2500)
    X, y = noisy(20_000)
    for told in (None, 10_000):
        model = small(memory="9GB", sample_rows=told, n_estimators=40).fit(X, y)
        assert max(r.accepted for r in model.ledger_.refills) < 2500 * 1.4
    model = small(memory="9GB", sample_rows=500).fit(X, y)
    assert max(r.accepted for r in model.ledger_.refills) < 500 * 1.4


def fed(X: Any, y: Any, parts: int = 6, **told: Any) -> Any:
    model = small(**{"n_estimators": 60, **told})
    for rows in np.array_split(np.arange(len(X)), parts):
        model.partial_fit(X[rows], y[rows], classes=np.unique(y))
    return model


@pytest.mark.parametrize("booster", ["logit", "measure", "mada", "smooth", "projection"])
def test_learns_from_batches(booster: str) -> None:
    X, y = noisy(6000)
    model = fed(X, y, booster=booster)
    assert model.score(*noisy(3000, seed=1)) > 0.7
    assert len(model.ledger_.refills) == 6
    assert "used up" in model.ledger_.stopped


def test_three_classes_of_which_the_first_batch_has_one() -> None:
    X, y = noisy(6000, classes=3)
    order = np.argsort(y, kind="stable")
    first = order[:500]
    rest = np.random.default_rng(0).permutation(order[500:])
    model = small(n_estimators=60).partial_fit(X[first], y[first], classes=[0, 1, 2])
    for rows in np.array_split(rest, 5):
        model.partial_fit(X[rows], y[rows])
    assert model.classes_.tolist() == [0, 1, 2]
    assert model.score(X, y) > 0.6


def test_what_is_still_hard_is_carried_over() -> None:
    X, y = noisy(6000)
    model = fed(X, y, n_certify=0, sample_rows=5000)
    carried = model._stream.run._carried
    assert carried is not None
    old = carried.rows < 5000
    assert 0 < old.sum() < 3500
    assert carried.n_rows <= 5000
    stands = model._stream.run.vote_so_far.score(carried)
    assert stands.chances[old].mean() > stands.chances.mean() * 0.8


def test_carried_rows_keep_sums_unbiased() -> None:
    """Rows that stay do so by chance; divided by it, they stand for all that ever came."""
    totals = []
    for seed in range(25):
        X, y = noisy(3000, seed=3)
        model = fed(X, y, parts=3, n_certify=0, random_state=seed, booster="mada", learner="stump",
                    n_estimators=9, sample_rows=10_000)  # fmt: skip
        kept = model._stream.run._carried
        assert kept is not None
        totals.append(float((1 / kept.odds).sum()))
    error = np.std(totals, ddof=1) / np.sqrt(len(totals))
    assert abs(np.mean(totals) - 3000) < 4.5 * max(error, 1.0)


def test_rows_set_apart_are_of_all_batches() -> None:
    X, y = noisy(6000)
    model = fed(X, y, n_certify=400)
    told = model.certificate_
    assert told.size == 400
    assert told.sample["order"] == "stream"
    assert 1 - model.score(X, y) < told.value < 0.5
    held = model._stream.run.candidates._apart[0].rows
    assert held.max() > 3000
    for refill, rows in zip(model.ledger_.refills, range(6), strict=True):
        assert refill.draws + np.count_nonzero(held // 1000 == rows) == 1000


def test_batches_after_the_rounds_add_one_each() -> None:
    X, y = noisy(6000)
    model = fed(X, y, n_estimators=5)
    ends = [refill.rounds for refill in model.ledger_.refills[1:]] + [len(model.ledger_)]
    past = [end for end in ends if end > 5]
    assert past
    assert past == list(range(6, 6 + len(past)))


def test_a_batch_is_looked_at_whole_however_large_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(candidates, "MAX_ROWS_PER_OFFER", 200)
    monkeypatch.setattr(candidates, "MIN_ROWS_PER_OFFER", 100)
    X, y = noisy(9000)
    model = fed(X, y, parts=2, n_certify=0, sample_rows=300)
    assert [refill.draws for refill in model.ledger_.refills] == [4500, 4500]
    assert not model._stream.run.candidates._waiting
    assert model._stream.run._carried.n_rows <= 300 * 1.3


def test_the_same_batches_give_the_same_model() -> None:
    X, y = noisy(4000)
    assert model_bytes(fed(X, y).model_) == model_bytes(fed(X, y, n_jobs=1).model_)
    assert model_bytes(fed(X, y).model_) != model_bytes(fed(X, y, random_state=9).model_)


def test_a_label_that_was_not_named_changes_nothing() -> None:
    X, y = noisy(2000)
    model = small().partial_fit(X[:1000], y[:1000], classes=[0, 1])
    before, refills = model_bytes(model.model_), len(model.ledger_.refills)
    with pytest.raises(DataError, match="label 7"):
        model.partial_fit(X[1000:], np.full(1000, 7))
    assert model_bytes(model.model_) == before
    model.partial_fit(X[1000:], y[1000:])
    assert len(model.ledger_.refills) == refills + 1
    other = small().partial_fit(X[:1000], y[:1000], classes=[0, 1]).partial_fit(X[1000:], y[1000:])
    assert model_bytes(model.model_) == model_bytes(other.model_)


def test_a_first_batch_that_fails_sets_nothing() -> None:
    X, y = noisy(1000)
    model = small()
    with pytest.raises(DataError, match="not among the classes"):
        model.partial_fit(X, y, classes=[1, 2])
    assert not hasattr(model, "_stream")
    assert not hasattr(model, "classes_")
    assert model.partial_fit(X, y, classes=[0, 1]).classes_.tolist() == [0, 1]


def test_classes_cannot_change() -> None:
    X, y = noisy(1000)
    model = small().partial_fit(X, y, classes=[0, 1])
    model.partial_fit(X, y, classes=[1, 0])
    with pytest.raises(DataError, match=r"classes are \[0, 1, 2\], and were \[0, 1\]"):
        model.partial_fit(X, y, classes=[0, 1, 2])


def test_the_rows_are_not_kept() -> None:
    X, y = noisy(20_000)
    fitted = small(learner="stump").fit(X, y)
    assert len(pickle.dumps(fitted)) < X.nbytes / 4


def test_a_stream_that_was_pickled_goes_on() -> None:
    X, y = noisy(1200)
    one = small(random_state=1).partial_fit(X[:600], y[:600])
    other = pickle.loads(pickle.dumps(one))
    for model in (one, other):
        model.partial_fit(X[600:], y[600:])
    assert model_bytes(one.model_) == model_bytes(other.model_)


def saved(model: FilterBoostClassifier, path: Path) -> dict[str, bool]:
    model.save(path)
    return {check.name: check.holds for check in verify(path)}


@pytest.mark.parametrize("apart", [100, 0])
def test_the_certificate_in_a_file_is_made_again(apart: int, tmp_path: Path) -> None:
    model = small("mada", "stump", 0.2, 0.45, n_estimators=60, n_certify=apart, sample_rows=2000)
    found = saved(model.fit_source(Halfspaces((2.0, 1.0))), tmp_path / "model.json")
    assert all(found.values())
    certificate = model.certificate_
    bounds = {"filtering.error_by_draws"} | ({"holdout.clopper_pearson"} if apart else set())
    assert certificate.bound in bounds
    assert recompute(certificate, model.ledger_) == certificate.value


@pytest.mark.filterwarnings("ignore::pacboost.errors.DenseWarning")
def test_sparse_rows_are_learned_from_as_dense_ones_are() -> None:
    X, y = noisy(600)
    X[np.abs(X) < 0.7] = 0
    dense = small().fit(X, y)
    for kind in (sparse.csr_array, sparse.csc_matrix):
        assert model_bytes(small().fit(kind(X), y).model_) == model_bytes(dense.model_)
