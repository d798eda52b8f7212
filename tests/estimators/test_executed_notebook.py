"""A notebook is executed, and its cells show tables and plots."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

CELLS = (
    """
import warnings
warnings.simplefilter("ignore")
import numpy as np
import pacboost
X = np.random.default_rng(0).normal(size=(400, 3))
y = np.where(X[:, 0] + X[:, 1] > 0, "yes", "no")
""",
    "model = pacboost.StrongClassifier(0.3, random_state=0, n_jobs=1).fit(X, y); model",
    "pacboost.AdaBoostClassifier(n_estimators=5, n_jobs=1).fit(X, y)",
    "pacboost.RandomForestClassifier(n_estimators=3, n_jobs=1).fit(X, y)",
    "model.verdict_",
    "model.certificate_",
    "model.explain(X[0])",
    "pacboost.choose_threshold(model, abstain_below=0.9).answer(X)",
    "pacboost.theory.plan.holdout(epsilon=0.05, delta=0.05)",
    "pacboost.compare(X, y, ['adaboost', 'logit'], 'stump', n_estimators=3, n_jobs=1)",
)
PLOTS = (
    "pacboost.plots.rounds(model, X, y)",
    "pacboost.plots.margins(model, X, y)",
    "pacboost.plots.importances(model)",
)


@pytest.fixture(scope="module")
def outputs() -> dict[str, Any]:
    """Return what is shown below every cell."""
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    from nbformat.v4 import new_code_cell, new_notebook

    paths = [str(Path("src").resolve()), os.environ.get("PYTHONPATH", "")]
    notebook = new_notebook(cells=[new_code_cell(cell) for cell in (*CELLS, *PLOTS)])
    nbclient.NotebookClient(notebook, timeout=600, kernel_name="python3").execute(
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    )
    return {cell.source: cell.outputs for cell in notebook.cells}


@pytest.mark.parametrize("cell", CELLS[1:])
def test_results_are_shown_as_html(cell: str, outputs: dict[str, Any]) -> None:
    (shown,) = (out["data"] for out in outputs[cell] if out.output_type == "execute_result")
    assert "<" in shown["text/html"]
    assert "\x1b" not in shown["text/html"] + shown["text/plain"]
    assert not [out for out in outputs[cell] if out.output_type == "error"]


@pytest.mark.parametrize("cell", PLOTS)
def test_plots_are_shown(cell: str, outputs: dict[str, Any]) -> None:
    pictures = [out for out in outputs[cell] if "image/png" in out.get("data", {})]
    assert len(pictures) == 1
