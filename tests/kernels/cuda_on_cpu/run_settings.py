"""Compare models of the GPU's kernels, run on the CPU, with those of the CPU's own; give seeds."""

from __future__ import annotations

import sys
import time

import cupy
import numpy as np

from tests.gpu.every_kind import fitted, rows
from tests.gpu.settings import setting_of
from tests.gpu.test_equal_models import outcome


def compare(seeds: list[str]) -> None:
    for seed in map(int, seeds):
        started = time.perf_counter()
        assert outcome(seed, "cuda") == outcome(seed, "cpu"), (seed, setting_of(seed).parameters)
        sys.stdout.write(f"{seed} equal after {time.perf_counter() - started:.1f} s\n")


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
    sys.stdout.write("done\n")
