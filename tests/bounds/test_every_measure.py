"""Every measure that has a file: its example is certified, and doubtful rows weaken its claims."""

import importlib
from dataclasses import replace

import numpy as np
import pytest

import pacboost
from pacboost import measures
from pacboost.bounds.certificate import Certificate
from pacboost.bounds.counting import Counting
from pacboost.bounds.known_measures import MEASURES
from pacboost.bounds.measured import certificate, measures_of
from pacboost.bounds.quantity import Measure
from pacboost.bounds.registry import BOUNDS
from pacboost.questions.scored_rows import RowsOfModel
from tests.markdown import HOUSE

EVERY = pytest.mark.parametrize("name", MEASURES)
OPTIONS = {"costs": {("a", "b"): 2.0, ("b", "a"): 1.0}, "clip": 2.0, "larger_than": 0.5}
"""A value for each option that has no default."""
STUB = (HOUSE / "src" / "pacboost" / "measures.pyi").read_text(encoding="utf-8")


def made(name: str, **given: object) -> Measure:
    kind = MEASURES[name]
    return kind(**{option: OPTIONS[option] for option in kind.needed_options()}, **given)


@EVERY
def test_its_example_is_certified(name: str) -> None:
    measure = made(name)
    side = "lower" if measure.higher_is_better else "upper"
    inputs = {**measure.example, "delta": 0.05, "claims": 2}
    details = {"class": "a"} if measure.of_class else {}
    bound = measure.ends[side]
    one = certificate(name, bound, inputs, size=100, **details, **measure.options())
    assert (BOUNDS[bound].side, one.of_what) == (side, name)
    assert "?" not in one.claim
    assert Certificate.from_json(one.to_json()) == one
    other = "recall" if name == "error" else "error"
    assert name in measures_of(bound)
    if other not in measures_of(bound):
        with pytest.raises(pacboost.errors.ParameterError, match="bounds"):
            certificate(other, bound, inputs, size=100)


class Model:
    """Says "a" with the probability that is in the column, or a number."""

    def predict(self, X: np.ndarray) -> np.ndarray:
        return np.where(X[:, 0] > 0.5, "a", "b")

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        return np.stack([X[:, 0], 1 - X[:, 0]], axis=1)

    @property
    def classes_(self) -> np.ndarray:
        return np.array(["a", "b"])


def rows_of(measure: Measure, doubtful: float) -> RowsOfModel:
    random = np.random.default_rng(0)
    X = random.random((200, 1))
    labels = np.where(random.random(200) < X[:, 0], "a", "b")
    doubt = random.random(200) < doubtful
    if measure.of_numbers:
        return RowsOfModel(Model(), X, X[:, 0] + random.normal(size=200), X[:, 0], doubt)
    return RowsOfModel(Model(), X, labels, Model().predict(X), doubt)


@EVERY
@pytest.mark.parametrize("side", ["lower", "upper"])
def test_doubtful_rows_weaken_its_claims(name: str, side: str) -> None:
    measure = made(name, **({"top_k": 1} if name == "top_k_error" else {}))
    values = []
    for doubtful in (0.0, 0.3):
        rows, every = rows_of(measure, doubtful), np.ones(200, dtype=np.bool_)
        counting = Counting(rows, every, "a", side, name, 0.05, 1)
        count = measure.count(counting)
        values.append(BOUNDS[count.bound].compute(**count.inputs, delta=0.05))
        assert BOUNDS[count.bound].side == side
        assert count.bound in measure.bounds()
        if doubtful == 0:
            assert (values[0] <= count.seen) == (side == "lower")
    assert (values[1] < values[0]) == (side == "lower")


def test_a_file_has_the_name_of_its_measure() -> None:
    for name, kind in MEASURES.items():
        assert kind.name == name
        assert importlib.import_module(kind.__module__).__name__.endswith(f".{name}")
        assert getattr(measures, name) is kind
    with pytest.raises(KeyError):
        MEASURES["measures.recall"]
    with pytest.raises(AttributeError, match="sensitivity"):
        measures.sensitivity  # noqa: B018


def test_names_for_editors_are_those_of_the_files() -> None:
    for line in STUB.splitlines():
        if line.startswith("from pacboost"):
            module, _, kind = line.removeprefix("from ").partition(" import ")
            name = module.rpartition(".")[2]
            assert MEASURES[name].__name__ == kind
            assert f"{name} = {kind}" in STUB


def test_no_name_is_that_of_two_measures() -> None:
    names = [name for kind in MEASURES.values() for name in (kind.name, *kind.aliases)]
    assert len(names) == len(set(names))


def test_other_versions_of_the_json_form_are_refused() -> None:
    inputs = {"k": 3, "n": 100, "delta": 0.05, "claims": 1}
    content = certificate("error", "rates.rate_upper", inputs, size=100).to_dict()
    assert Certificate.from_dict(content).inputs["k"] == 3
    for version in (None, 1, 3, "2"):
        with pytest.raises(pacboost.errors.ParameterError, match="version 2 can be read"):
            Certificate.from_dict({**content, "version": version})
    del content["version"]
    with pytest.raises(pacboost.errors.ParameterError, match="has version 1"):
        Certificate.from_dict(content)


def test_a_forged_subject_is_found() -> None:
    one = certificate(
        "recall", "rates.rate_lower", {"k": 97, "n": 100, "delta": 0.05, "claims": 1}, size=100,
        **{"class": "a"},
    )  # fmt: skip
    assert all(check.holds for check in pacboost.verify(one))
    forged = replace(one, of_what="auc")
    assert not all(check.holds for check in pacboost.verify(forged))
