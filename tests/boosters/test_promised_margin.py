"""Either strong or a counter-example: for a promised edge exactly one of them is found."""

import json
import math
import subprocess
import sys
import warnings
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pacboost
from pacboost import BoostClassifier, pacboost_check
from pacboost.boosters.promised_margin import PromisedMargin
from pacboost.errors import DataError, FileError, NoEdgeWarning, ParameterError
from pacboost.ledgers.counterexample import Counterexample
from pacboost.samples.sample import unlabelled
from pacboost.theory.learners import Adversary

GENERATOR = np.random.default_rng(0)
X = GENERATOR.normal(size=(120, 3))
LABELS = GENERATOR.integers(2, size=120)
NOISY = np.where(GENERATOR.random(120) < 0.1, 1 - (X[:, 0] > 0), X[:, 0] > 0)


def boosted(edge: float, learner: Any, y: Any = LABELS, **options: Any) -> Any:
    booster = PromisedMargin(edge=edge, tolerance=edge / 2)
    rounds = math.ceil(booster.most_rounds(math.log(len(X))))
    model = BoostClassifier(booster, learner, rounds, random_state=0, **options)
    with warnings.catch_warnings(action="ignore", category=NoEdgeWarning):
        return model.fit(X, y)


@pytest.mark.parametrize("order", ["random", "heavy", "light"])
def test_an_adversary_that_keeps_its_promise_is_certified(order: str) -> None:
    model = boosted(0.2, Adversary(0.2, order))
    assert model.counterexample_ is None
    assert model.margins(X, LABELS).min() >= 0.1
    assert model.score(X, LABELS) == 1.0
    assert "as promised" in model.ledger_.stopped


@pytest.mark.parametrize("order", ["random", "heavy", "light"])
@pytest.mark.parametrize("has", [0.0, 0.1, 0.19])
def test_an_adversary_with_less_is_given_its_counterexample(order: str, has: float) -> None:
    counter = boosted(0.2, Adversary(has, order)).counterexample_
    assert counter is not None
    assert counter.problem() is None
    assert has <= counter.edge < 0.2 or counter.agreement == ()


def test_no_rule_that_was_found_has_the_edge() -> None:
    """The edges are those of the rules on the named rows, computed anew from their answers."""
    model = boosted(0.3, "stump", NOISY)
    counter = model.counterexample_
    rows, signs = list(counter.rows), np.where(NOISY, 1, -1)
    answers = np.array([np.sign(np.diff(s, axis=0)) for s in _rules(model, X[rows])])
    edges = answers @ (np.array(counter.weights) * signs[rows]) / sum(counter.weights)
    assert edges == pytest.approx([float(edge) for edge in counter.edges], abs=1e-12)
    assert edges.max() == pytest.approx(counter.edge)
    assert counter.edge < 0.3
    assert model.ledger_.rounds[-1].edge == pytest.approx(float(counter.edges[-1]), abs=1e-6)
    assert f"its best rule has edge {counter.edge:.3g} of the promised 0.3" in str(counter)


def _rules(model: Any, rows: Any) -> Any:
    for rule in model.estimators_:
        said = rule.said(unlabelled(model.schema_.read(rows)))[:, 0]
        yield np.stack([np.zeros_like(said), said])


def checked(path: Path) -> str:
    done = [sys.executable, pacboost_check.__file__, str(path)]
    return subprocess.run(done, capture_output=True, text=True, check=False).stdout


def test_verify_and_the_checker_recompute_it(tmp_path: Path) -> None:
    path = tmp_path / "m.pacb"
    model = boosted(0.3, "stump", NOISY)
    model.save(path)
    again = pacboost.load(path)
    assert again.counterexample_ == model.counterexample_
    checks = {check.name: check for check in pacboost.verify(path)}
    assert all(check.holds for check in checks.values())
    assert "0.3 was promised" in checks["counterexample"].words
    assert "holds              counterexample:" in checked(path)


FORGERIES: dict[str, dict[str, Any]] = {
    "weights": {"weights": lambda counter: (10**9, *counter.weights[1:])},
    "a smaller promise": {"promised": lambda counter: counter.edge / 2},
    "a rule left out": {"agreement": lambda counter: counter.agreement[1:]},
    "a row twice": {"rows": lambda counter: (counter.rows[1], *counter.rows[1:])},
    "no weight": {"weights": lambda counter: (0, *counter.weights[1:])},
    "rules always right": {"agreement": lambda c: tuple((1,) * len(s) for s in c.agreement)},
}


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forged_counterexample_is_rejected(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Digests are computed anew, so that only the numbers can give it away."""
    model, path = boosted(0.3, "stump", NOISY), tmp_path / "m.pacb"
    counter = model.counterexample_
    changes = {field: make(counter) for field, make in FORGERIES[name].items()}
    forged = replace(counter, **changes)
    told = {**forged.to_dict(), "edge": counter.edge}
    monkeypatch.setattr(Counterexample, "to_dict", lambda _: told)
    ledger = replace(model.model_.ledger, counterexample=forged)
    model.model_ = replace(model.model_, ledger=ledger, certificate=None)
    model.save(path)
    monkeypatch.undo()
    if name == "weights":
        assert forged.edge != counter.edge
    with pytest.raises((DataError, FileError)):
        pacboost.load(path)
    assert "does not hold      counterexample:" in checked(path)


def test_edges_are_fractions_of_whole_weights() -> None:
    counter = Counterexample(0.5, (4, 7, 9), (3, 3, 2), (0, 0, 1), ((1, -1), (-1, 1)))
    assert counter.edges == (Fraction(1, 2), Fraction(-1, 2))
    assert "not less than the promised 0.5" in str(counter.problem())
    assert replace(counter, promised=0.6).problem() is None
    assert json.loads(json.dumps(counter.to_dict()))["rows"] == [4, 7, 9]
    assert counter.among(np.arange(10) * 2).rows == (8, 14, 18)


@pytest.mark.parametrize(("field", "value"), [("edge", 0), ("edge", 1.5), ("tolerance", 0.3)])
def test_a_promise_that_makes_no_sense_is_refused(field: str, value: float) -> None:
    with pytest.raises(ParameterError) as error:
        replace(PromisedMargin(edge=0.2), **{field: value})
    assert error.value.parameter == field
