"""Compare models of the GPU's kernels, run on the CPU, with those of the CPU's own; give seeds."""

import sys
import time
from typing import Any

import cupy
import numpy as np

from pacboost import RandomForestClassifier
from pacboost.kernels.cuda import forest
from pacboost.kernels.device import using_gpu
from pacboost.samples import bins
from pacboost.sources.arrays import ArrayTable, GpuTable
from tests.equal_bins import equal_bins
from tests.gpu.every_kind import fitted, rows
from tests.gpu.settings import forest_of, on_the_cpu_only, outcome, setting_of
from tests.recorded_models import content


def compare(seeds: list[str]) -> None:
    """Compare models; the seed of a forest follows an f."""
    for seed in seeds:
        started = time.perf_counter()
        setting = forest_of(int(seed[1:])) if seed[0] == "f" else setting_of(int(seed))
        found = outcome(setting, "cuda")
        assert found == outcome(setting, "cpu") or on_the_cpu_only(found), (seed, setting[:2])
        sys.stdout.write(f"{seed} equal after {time.perf_counter() - started:.1f} s\n")


def deep_trees() -> None:
    """A tree with more nodes waiting than there is room for is grown on the CPU."""
    forest.MAX_WAITING_NODES = 2
    compare(["f27"])


def out_of_bag() -> None:
    """Trees grown on the GPU are asked about the rows outside their bags, and go on growing."""
    X, y = (array[:80] for array in rows())
    found = []
    for device in ("cuda", "cpu"):
        given: Any = {"device": device, "random_state": 0}
        model = RandomForestClassifier(3, certify="oob", oob_score=True, **given).fit(X, y)
        longer = RandomForestClassifier(2, warm_start=True, **given).fit(X, y)
        longer.set_params(n_estimators=3).fit(X, y).set_params(device="cpu")
        found.append((model.oob_score_, model.certificate_.bound, content(longer)))
    assert found[0] == found[1]


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
                assert equal_bins(found, expected), most
                assert np.array_equal(found.middle, expected.middle)


def predict() -> None:
    X, y = (array[:300] for array in rows())
    model = fitted(X, y, device="cpu", max_leaves=40, min_leaf_rows=1, n_estimators=20)
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
    deep_trees()
    out_of_bag()
    bins.MAX_ROWS_FOR_QUANTILES = 5_000
    bin_rows()
    sys.stdout.write("done\n")
