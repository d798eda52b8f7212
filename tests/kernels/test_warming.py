"""What is compiled ahead is what a fit asks for; else the second process would work for nothing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from pacboost.estimators.boosting.boost import BoostClassifier
from pacboost.kernels import walk
from pacboost.kernels.warming import LATE, types

CALLED = (walk.score,)
"""Those that Python calls; the others are parts of kernels."""

FIT = """
import json
import numpy as np
from numba.core import event

class Compiled(event.Listener):
    names = []
    def on_start(self, found):
        function = found.data["dispatcher"].py_func
        self.names.append([function.__module__, function.__name__])
    def on_end(self, found):
        pass

event.register("numba:compile", Compiled())
from tests.kernels.test_warming import fit
fit()
print(json.dumps(Compiled.names))
"""


def fit() -> None:
    """Boost trees on numbers and a category, stop early, and predict."""
    generator = np.random.default_rng(0)
    number, level = generator.normal(size=400), generator.choice(["a", "b", "c"], size=400)
    X = np.array([number, level], dtype=object).T
    y = (number > 0) ^ (level == "a")
    model = BoostClassifier("logit", "tree", n_estimators=3, early_stopping=True)
    model.fit(X, y).predict(X)


def test_kernels_are_called_with_these_types() -> None:
    fit()
    for kernel, signature in LATE:
        if kernel in CALLED:
            assert types(signature) in kernel.signatures, kernel.py_func.__name__


@pytest.mark.slow
def test_a_fit_compiles_none_of_them_again(tmp_path: Path) -> None:
    ready = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}

    def run(*program: str) -> str:
        done = subprocess.run(
            [sys.executable, *program], env=ready, check=True, capture_output=True, text=True
        )
        return done.stdout

    run("-m", "pacboost.kernels.warming")
    compiled = {tuple(pair) for pair in json.loads(run("-c", FIT).splitlines()[-1])}
    late = {(kernel.py_func.__module__, kernel.py_func.__name__) for kernel, _ in LATE}
    assert ("pacboost.kernels.grow_team", "grow_tree") in compiled
    assert not late & compiled
