"""The table of docs/extending/index.md: every kind of own learner in every way of fitting."""

import json
import pickle
import re
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cloudpickle  # type: ignore[import-untyped]
import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import pacboost
from pacboost import AdaBoostClassifier, FilterBoostClassifier, StrongClassifier
from pacboost.errors import FileError
from tests.estimators.boosting.own_learners import World, graphs, images, texts

HOUSE = Path(__file__).parent.parent.parent
N_LEARN, N = 500, 700


def numbers(seed: int = 0) -> World:
    rows = np.random.default_rng(seed).normal(size=(N, 3))
    return World(rows, ((rows > 0).sum(axis=1) > 1).astype(int), ())


def best(rows: Any, y: Any, weights: Any) -> Any:
    edges = (weights * y) @ np.where(rows > 0, 1, -1)
    j = int(np.abs(edges).argmax())
    return lambda new: np.where(new[:, j] > 0, 1, -1) * np.sign(edges[j])


def with_weights(rows: Any, y: Any, weights: Any) -> Any:
    return best(rows, y, weights)


def without_weights(rows: Any, y: Any) -> Any:
    return best(rows, y, np.ones(len(y)))


class Bare:
    def fit(self, rows: Any, y: Any) -> None:
        self.rule = best(rows, y, np.ones(len(y)))

    def predict(self, rows: Any) -> Any:
        return self.rule(rows)


def row_by_row(rows: Any, y: Any, weights: Any) -> Any:
    """Return an engine of rules that reads one row at a time."""
    lines = list(zip(rows, y * weights, strict=True))
    edges = [sum(pull if row[j] > 0 else -pull for row, pull in lines) for j in range(3)]
    j = int(np.abs(edges).argmax())
    facts = {"column": j, "then": 1 if edges[j] > 0 else -1}
    return lambda new: [facts["then"] * (1 if row[facts["column"]] > 0 else -1) for row in new]


PROGRAM = """
import json, sys
rows, j = json.load(sys.stdin)
json.dump([1 if row[j] > 0 else -1 for row in rows], sys.stdout)
"""


def in_a_process(rows: Any, j: int) -> list[int]:
    done = subprocess.run(
        [sys.executable, "-S", "-c", PROGRAM], input=json.dumps([rows.tolist(), j]),
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    answers: list[int] = json.loads(done.stdout)
    return answers


def external(rows: Any, y: Any, weights: Any) -> Any:
    """Return a rule that another program answers."""
    edges = [float((weights * y) @ in_a_process(rows, j)) for j in range(3)]
    j = int(np.argmax(edges))
    return lambda new: in_a_process(new, j)


# weights sum to one, so that a penalty of 1 would outweigh all rows
NET = MLPClassifier((8,), solver="lbfgs", alpha=1e-4, max_iter=60)
KINDS: dict[str, Callable[[], tuple[World, Any]]] = {
    "a function (X, y, weights)": lambda: (numbers(), with_weights),
    "a function (X, y)": lambda: (numbers(), without_weights),
    "an object with fit and predict": lambda: (numbers(), Bare()),
    "a scikit-learn pipeline": lambda: (
        numbers(), make_pipeline(StandardScaler(), DecisionTreeClassifier(max_depth=2))
    ),
    "a rule engine, row by row": lambda: (numbers(), row_by_row),
    "an external process": lambda: (numbers(), external),
    "a neural net": lambda: (numbers(), NET),
    "nearest neighbours": lambda: (numbers(), KNeighborsClassifier(5)),
    "strings": lambda: own(texts),
    "graphs in a list": lambda: own(graphs),
    "images": lambda: own(images),
}  # fmt: skip
FITS: dict[str, Callable[[Any], Any]] = {
    "AdaBoostClassifier": lambda learner: AdaBoostClassifier(learner, 4, random_state=0),
    "StrongClassifier": lambda learner: StrongClassifier(
        0.2, learner=learner, n_estimators=4, random_state=0
    ),
    "FilterBoostClassifier": lambda learner: FilterBoostClassifier(
        learner=learner, n_estimators=4, random_state=0, verbose=False
    ),
}


def own(made: Callable[[int], World]) -> tuple[World, Any]:
    world = made(N)
    return world, world.learner()


@pytest.mark.parametrize("fit", FITS)
@pytest.mark.parametrize("kind", KINDS)
def test_every_cell_of_the_table(kind: str, fit: str, tmp_path: Path) -> None:
    world, learner = KINDS[kind]()
    model = FITS[fit](learner)
    with warnings.catch_warnings(action="ignore"):  # nets that have not converged, few rows
        model.fit(world.some(0, N_LEARN), world.labels[:N_LEARN])
        new, truth = world.some(N_LEARN, N), world.labels[N_LEARN:]
        error = 1 - model.score(new, truth)
        certificate = pacboost.certify(model, new, truth)
    assert error <= certificate.value < 0.3
    with pytest.raises(FileError, match="Pickle"):
        model.save(tmp_path / "m.pacb")
    again = pickle.loads(cloudpickle.dumps(model))
    assert (again.predict(new[:20]) == model.predict(new[:20])).all()


def test_the_table_has_a_line_for_every_kind() -> None:
    page = (HOUSE / "docs/extending/index.md").read_text(encoding="utf-8")
    lines = re.findall(
        r"^\| (.+?) \| yes \| yes \| yes \| yes \| by pickle \|$", page, re.MULTILINE
    )
    assert lines == list(KINDS)
