"""What may go wrong on a GPU: memory that does not suffice, and Ctrl-C; nothing is lost."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

from pacboost import BoostClassifier
from tests.gpu.settings import table

ROWS, COLUMNS = 4_000_000, 28
MOST_BYTES_A_CELL, MOST_BYTES_A_ROW = 1.3, 40
BINNING = 128 * 2**20
"""What rows are copied into while they are binned: docs/gpu.md."""

INTERRUPTED = """
    import sys, warnings
    import cupy
    import numpy as np
    from pacboost import BoostClassifier
    from tests.gpu.settings import bytes_of, table

    X, y = table(300_000)

    def fit(rounds, callbacks=None):
        model = BoostClassifier(
            booster=sys.argv[1], learner="tree", n_estimators=rounds, early_stopping=False,
            device="cuda", random_state=0, verbose=0, callbacks=callbacks, learning_rate=0.01,
        )
        return model, lambda: model.fit(X, y)

    first, begin = fit(5)
    begin()
    del first, begin
    pool = cupy.get_default_memory_pool()
    before = pool.used_bytes()

    def tell(entry):
        if entry.number == 10:
            print("ready", flush=True)

    model, begin = fit(1_000_000, [tell])
    try:
        begin()
    except KeyboardInterrupt:
        pass
    else:
        raise SystemExit("no interrupt")
    rounds = len(model.ledger_.rounds)
    assert rounds >= 10, rounds
    assert model.ledger_.stopped == "interrupted"
    fresh, begin = fit(rounds)
    begin()
    kept = [entry.training_error for entry in model.ledger_.rounds]
    assert kept == [entry.training_error for entry in fresh.ledger_.rounds]
    assert np.array_equal(model.decision_function(X), fresh.decision_function(X))
    del model, fresh, begin
    import gc
    gc.collect()
    assert pool.used_bytes() <= before + 1_000_000, (before, pool.used_bytes())
    print("done", rounds, flush=True)
"""


@pytest.mark.parametrize("booster", ["logit", "adaboost", "gentle"])
def test_ctrl_c_keeps_the_rounds_that_are_done(booster: str) -> None:
    code = textwrap.dedent(INTERRUPTED)
    path = os.pathsep.join([str(Path.cwd()), *sys.path])
    with subprocess.Popen(
        [sys.executable, "-c", code, booster],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": path},
    ) as child:  # fmt: skip
        assert child.stdout is not None
        line = child.stdout.readline()
        if line:
            child.send_signal(signal.SIGINT)
        out, errors = child.communicate(timeout=600)
    assert line == "ready\n", errors
    assert child.returncode == 0, errors
    assert out.startswith("done")


def test_a_fit_takes_no_more_memory_than_is_said() -> None:
    import cupy

    pool = cupy.get_default_memory_pool()
    X = np.random.default_rng(0).normal(size=(ROWS, COLUMNS)).astype(np.float32)
    y = (X[:, 0] + X[:, 1] > 0).astype(int)
    fit = BoostClassifier(
        n_estimators=3, learner="tree", early_stopping=False, device="cuda", verbose=0
    )
    fit.fit(X[:5_000], y[:5_000])
    pool.free_all_blocks()
    before = pool.total_bytes()
    fit.fit(X, y)  # memory that is free again is kept by the pool, so this is the most it had
    most = MOST_BYTES_A_CELL * ROWS * COLUMNS + MOST_BYTES_A_ROW * ROWS + BINNING
    assert pool.total_bytes() - before <= most
    exact = ROWS * (COLUMNS + 36) + BINNING + 40_000_000
    assert pool.total_bytes() - before <= exact
    pool.free_all_blocks()


def test_memory_is_free_again_after_a_fit() -> None:
    import cupy

    X, y = table(200_000)
    model = BoostClassifier(
        n_estimators=3, learner="tree", device="cuda", random_state=0, verbose=0
    )
    used = []
    for _ in range(3):
        model.fit(X, y)
        model.decision_function(cupy.asarray(X))
        used.append(cupy.get_default_memory_pool().used_bytes())
    assert used[2] <= used[0] + 1_000_000
