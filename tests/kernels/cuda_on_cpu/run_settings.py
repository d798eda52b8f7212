"""Compare models of the GPU's kernels, run on the CPU, with those of the CPU's own; give seeds."""

from __future__ import annotations

import sys
import time

import cupy
import numpy as np

from pacboost.kernels.cuda.device import using_gpu
from pacboost.samples import bins
from pacboost.sources.arrays import ArrayTable
from pacboost.sources.gpu_array import GpuTable
from tests.gpu.every_kind import fitted, rows
from tests.gpu.settings import setting_of
from tests.gpu.test_equal_models import outcome


def compare(seeds: list[str]) -> None:
    for seed in map(int, seeds):
        started = time.perf_counter()
        assert outcome(seed, "cuda") == outcome(seed, "cpu"), (seed, setting_of(seed).parameters)
        sys.stdout.write(f"{seed} equal after {time.perf_counter() - started:.1f} s\n")


def bin_rows() -> None:
    """Bins of columns that are sorted on the GPU are those that the CPU finds."""
    draw = np.random.default_rng(0)
    X = draw.normal(size=(9_000, 7)).astype(np.float32)
    X[:, 1], X[:, 2] = X[:, 1].round(2), draw.integers(0, 256, len(X))
    X[:8_000, 3], X[::2, 4], X[:, 5] = 0.0, np.nan, np.nan
    X[:, 6] *= 1e-42
    for most in (255, 16, 2):
        expected = bins.fit_bins(ArrayTable(X), most)
        with using_gpu(True):
            for table in (ArrayTable(X), GpuTable(cupy.asarray(X))):
                found = bins.fit_bins(table, most)
                assert not found.differ(expected), most
                assert np.array_equal(found.middle, expected.middle)


def predict() -> None:
    X, y = (array[:300] for array in rows())
    model = fitted(X, y, device="cpu", max_leaves=40, min_leaf_rows=1, n_rounds=20)
    names = ("decision_function", "predict_proba", "predict")
    expected = [getattr(model, name)(X) for name in names]
    model.set_params(device="cuda")
    for name, numbers in zip(names, expected, strict=True):
        found = getattr(model, name)(cupy.asarray(X))
        assert np.array_equal(found, numbers), name
    assert isinstance(model.predict(cupy.asarray(X)), cupy.ndarray)


if __name__ == "__main__":
    compare(sys.argv[1:])
    predict()
    bins.ROWS_LOOKED_AT = 5_000
    bin_rows()
    sys.stdout.write("done\n")
