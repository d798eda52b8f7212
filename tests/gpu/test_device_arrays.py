"""Arrays in the memory of the GPU: the same models and the same scores as from the CPU's memory."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

from pacboost import BoostClassifier, BoostRegressor
from pacboost.errors import DataError, ParameterError
from pacboost.numerics.memory import in_host_memory
from pacboost.questions.answering import certify_answers
from tests.gpu.settings import bytes_of, table
from tests.grids import each_value


def fitted(X: Any, y: Any, device: str, **given: Any) -> Any:
    parameters: dict[str, Any] = {"n_estimators": 5, "learner": "tree", "random_state": 0} | given
    return BoostClassifier(device=device, verbose=0, **parameters).fit(X, y)


@each_value
@pytest.mark.parametrize("rows", [900, 260_000])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_arrays_on_the_gpu_give_the_same_model(rows: int, kind: Any) -> None:
    import cupy

    X, y = table(rows, kind)
    there = fitted(cupy.asarray(X), cupy.asarray(y), "cuda")
    assert bytes_of(there) == bytes_of(fitted(X, y, "cpu"))
    assert bytes_of(fitted(cupy.asarray(X), y, "cpu")) == bytes_of(there)


def test_early_stopping_and_columns_in_another_order_give_the_same_model() -> None:
    import cupy

    X, y = table(60_000)
    expected = bytes_of(fitted(X, y, "cpu", early_stopping=True))
    assert bytes_of(fitted(cupy.asarray(X), y, "cuda", early_stopping=True)) == expected
    own = BoostClassifier(n_estimators=3, learner="tree", device="cuda", random_state=0, verbose=0)
    there, labels = cupy.asarray(X), cupy.asarray(y)
    own.fit(there, labels, X_val=there[:900], y_val=labels[:900])
    assert len(own.validation_curves_["validation_0"]) == 3
    turned = cupy.asarray(np.asfortranarray(X))
    assert bytes_of(fitted(turned, y, "cuda", early_stopping=True)) == expected
    assert bytes_of(fitted(np.asfortranarray(X), y, "cuda", early_stopping=True)) == expected


class OnlyDLPack:
    """An array of another library, which shares its memory by DLPack alone."""

    def __init__(self, array: Any) -> None:
        self.shape, self._array = array.shape, array

    def __dlpack__(self, **wanted: Any) -> Any:
        return self._array.__dlpack__(**wanted)

    def __dlpack_device__(self) -> Any:
        return self._array.__dlpack_device__()


def test_dlpack_gives_the_same_model() -> None:
    import cupy

    X, y = table(5_000)
    given = OnlyDLPack(cupy.asarray(X))
    assert bytes_of(fitted(given, y, "cuda")) == bytes_of(fitted(X, y, "cpu"))


def test_scores_are_equal_bit_by_bit() -> None:
    import cupy

    X, y = table(300_000)
    for model in (
        fitted(X, y, "cpu", n_estimators=20),
        fitted(X, y, "cpu", max_leaves=300, n_estimators=12),
        fitted(X, np.random.default_rng(1).integers(0, 5, len(y)), "cpu"),
        BoostRegressor(n_estimators=6, random_state=0, verbose=0).fit(X, np.nan_to_num(X[:, 1])),
    ):
        name = "predict" if isinstance(model, BoostRegressor) else "decision_function"
        expected = getattr(model, name)(X)
        model.set_params(device="cuda")
        for rows in (X, X.astype(np.float64), cupy.asarray(X), np.asfortranarray(X)):
            scores = getattr(model, name)(rows)
            assert isinstance(scores, type(rows))
            assert np.array_equal(in_host_memory(scores), expected)
        assert np.array_equal(getattr(pickle.loads(pickle.dumps(model)), name)(X), expected)


def test_answers_stay_on_the_gpu() -> None:
    import cupy

    X, y = table(40_000)
    there, words = cupy.asarray(X), np.array(["no", "yes"])
    several = (np.nan_to_num(X[:, :2]) > 0).astype(int)
    for labels, given in (
        (y, {}),
        (several.sum(axis=1), {}),
        (several, {}),
        (y, {"max_leaves": 5_000, "min_leaf_rows": 1, "calibrate": None}),
    ):
        model = fitted(X, labels, "cuda", **given)
        for name in ("predict", "predict_proba", "predict_log_proba", "decision_function"):
            expected, found = getattr(model, name)(X), getattr(model, name)(there)
            assert isinstance(found, cupy.ndarray), name
            assert found.dtype == expected.dtype
            assert np.array_equal(found.get(), expected), name
        assert model.score(there, cupy.asarray(labels)) == model.score(X, labels)
    named = fitted(X, words[y], "cuda")
    assert np.array_equal(named.predict(there), named.predict(X))
    calibrated = fitted(X, y, "cuda", calibrate="sigmoid")
    assert np.array_equal(calibrated.predict_proba(there).get(), calibrated.predict_proba(X))
    sums = BoostRegressor(n_estimators=5, device="cuda", verbose=0).fit(X, np.nan_to_num(X[:, 1]))
    assert np.array_equal(in_host_memory(sums.predict(there)), sums.predict(X))
    assert sums.score(there, np.nan_to_num(X[:, 1])) > 0.5
    assert model.set_params(device="cpu").decision_function(there).shape == (len(X),)


def test_tensors_are_answered_with_tensors() -> None:
    torch = pytest.importorskip("torch")
    X, y = table(5_000)
    model, given = fitted(X, y, "cuda"), torch.from_numpy(X).cuda()
    scores = model.decision_function(given)
    assert isinstance(scores, torch.Tensor)
    assert np.array_equal(scores.cpu().numpy(), model.decision_function(X))


def test_questions_take_rows_on_the_gpu() -> None:
    import cupy

    X, y = table(9_000)
    model, there = fitted(X[:5_000], y[:5_000], "cuda"), cupy.asarray(X[5_000:])
    found = certify_answers(model, there, y[5_000:], target_error=0.3)
    assert found == certify_answers(model, X[5_000:], y[5_000:], target_error=0.3)
    assert np.array_equal(model.mistakes(there, y[5_000:]), model.mistakes(X[5_000:], y[5_000:]))


def test_what_is_no_table_of_finite_numbers_is_refused() -> None:
    import cupy

    X, y = table(900)
    X[7, 2] = np.inf
    with pytest.raises(DataError, match=r"column 2 .* row 7"):
        fitted(cupy.asarray(X), y, "cuda")
    with pytest.raises(DataError, match=r"X has shape \(900,\)"):
        fitted(cupy.asarray(X[:, 0]), y, "cuda")


def test_too_little_memory_is_said_and_the_model_is_kept() -> None:
    import cupy

    X, y = table(200_000)
    model = fitted(X, y, "cuda")
    before, pool = bytes_of(model), cupy.get_default_memory_pool()
    model.set_params(device="cuda")
    pool.free_all_blocks()
    limit = pool.get_limit()
    pool.set_limit(size=pool.used_bytes() + 3_000_000)
    try:
        with pytest.raises(ParameterError, match="memory of the GPU"):
            model.fit(X, y)
    finally:
        pool.set_limit(size=limit)
    assert bytes_of(model) == before
