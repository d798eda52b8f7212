"""What the page shows is what the ledger and the bounds say."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

import numpy as np
import pytest

import pacboost
from pacboost import AdaBoostClassifier, BaggingClassifier, BoostClassifier, theory
from pacboost.boosters.adaboost import AdaBoost
from pacboost.boosters.registry import BOOSTERS
from pacboost.bounds.holdout import clopper_pearson, clopper_pearson_lower
from pacboost.lab import answers
from pacboost.lab import session as kept
from pacboost.lab.choices import LEARNERS, OFFERS, make_booster, make_learner
from pacboost.lab.session import LabSession
from pacboost.lab.spec import MethodChoice
from pacboost.learners.stump import Stump
from pacboost.sources.toy import lecture_points
from pacboost.theory.sampling import Plane
from tests.lab.asking import LECTURE, MOONS, floats, small

SCALARS = ("error", "edge", "vote", "normaliser", "training_error", "effective_size", "rule")


def shown(run: dict[str, Any], rounds: int, session: LabSession | None = None, **more: Any) -> Any:
    asked = {"run": run, "from": 1, "to": rounds, **more}
    return answers.rounds(session or LabSession(), asked)


def test_the_lecture_s_three_rounds_are_those_of_the_proof() -> None:
    X, y = lecture_points()
    model = AdaBoostClassifier(n_estimators=3).fit(X, y)
    proof, columns = theory.proof(model, X, y), model.ledger_.columns()
    page = shown(LECTURE, 3)
    assert [round(r["error"], 12) for r in page["rounds"]] == [
        0.3,
        round(3 / 14, 12),
        round(3 / 22, 12),
    ]
    for own, step, margins in zip(
        page["rounds"], proof.steps, pacboost.theory.staged_margins(model, X, y), strict=True
    ):
        t = own["number"]
        np.testing.assert_allclose(floats(own["weights"]), step.weights, rtol=1e-6)
        assert (small(own["agree"]) < 0).tolist() == step.wrong.tolist()
        np.testing.assert_allclose(floats(own["margins"]), margins, rtol=1e-6)
        assert own["error_after"] == pytest.approx(0.5, abs=1e-9)
        for name in ("bound", "bound_errors", "bound_edges"):
            assert own[name] == columns[name][t - 1]
        assert {name: own[name] for name in SCALARS} == {
            name: asdict(model.ledger_.rounds[t - 1])[name] for name in SCALARS
        }
    after = theory.weights(model, 4, X, y)
    np.testing.assert_allclose(floats(page["next"]["weights"]), after.values, rtol=1e-6)
    assert page["next"]["effective_size"] == pytest.approx(after.effective_rows)


@pytest.mark.parametrize("name", ["adaboost", "logit", "brown", "soft", "majority", "filter_boost"])
@pytest.mark.parametrize("learner", ["stump", "tree"])
def test_rounds_are_those_of_the_estimator(name: str, learner: str) -> None:
    run = {**MOONS, "booster": {"name": name}, "learner": {"name": learner}}
    page = shown(run, 6)
    X, y = Plane("moons", noise=0.1, spread=0.15).draw(150, 3)
    model = BoostClassifier(
        make_booster(MethodChoice(name)), make_learner(MethodChoice(learner)), 6,
        early_stopping=False, random_state=0,
    ).fit(X, y)  # fmt: skip
    assert len(page["rounds"]) == len(model.ledger_.rounds)
    revised = model.ledger_.revised
    for own, entry in zip(page["rounds"], model.ledger_.rounds, strict=True):
        names = [n for n in SCALARS if not (revised and n == "vote")]
        assert [own[n] for n in names] == [getattr(entry, n) for n in names]
    last = page["rounds"][-1]
    np.testing.assert_allclose(floats(last["margins"]), model.margins(X, y), atol=1e-6)
    if revised:
        assert last["votes"] == pytest.approx(model.votes_.tolist())


def test_the_test_error_is_counted_on_fresh_draws_with_its_exact_interval() -> None:
    page = shown(MOONS, 12)["rounds"][-1]["test"]
    world = Plane("moons", noise=0.1, spread=0.15)
    model = BoostClassifier(AdaBoost(), Stump(), 12, early_stopping=False).fit(*world.draw(150, 3))
    wrong = int(model.mistakes(*world.draw(1000, 1_000_003)).sum())
    assert page["wrong"] == wrong
    assert page["n"] == 1000
    assert page["lower"] == clopper_pearson_lower(wrong, 1000, 0.025)
    assert page["upper"] == clopper_pearson(wrong, 1000, 0.025)


def test_the_surface_is_the_score_divided_by_the_votes() -> None:
    session = LabSession()
    run = {**MOONS, "learner": {"name": "tree"}}
    page = shown(run, 20, session, surface=16)
    box = answers.data(session, run)["box"]
    x, z = np.linspace(box[0], box[1], 16), np.linspace(box[2], box[3], 16)
    grid = np.stack([np.tile(x, 16), np.repeat(z, 16)], axis=1)
    X, y = Plane("moons", noise=0.1, spread=0.15).draw(150, 3)
    tree = make_learner(MethodChoice("tree"))
    model = BoostClassifier(AdaBoost(), tree, 20, early_stopping=False).fit(X, y)
    for t, scores in enumerate(model.staged_decision_function(grid), start=1):
        total = sum(entry.vote for entry in model.ledger_.rounds[:t])
        np.testing.assert_allclose(
            floats(page["rounds"][t - 1]["surface"]), scores / total, atol=1e-6
        )


def test_the_margins_are_cumulated() -> None:
    last = shown(MOONS, 9)["rounds"][-1]
    margins, cumulated = floats(last["margins"]), floats(last["margin_cdf"])
    assert cumulated[-1] == 1
    assert cumulated[50] == pytest.approx((margins <= 1e-9).mean())
    assert last["least_margin"] == pytest.approx(margins.min())


def test_every_booster_and_learner_runs_and_can_be_asked_for_in_any_order() -> None:
    assert set(OFFERS) <= set(BOOSTERS)
    session = LabSession()
    data = {"kind": "gaussians", "n": 60}
    for number, booster in enumerate(OFFERS):
        learner = list(LEARNERS)[number % len(LEARNERS)]
        run = {"data": data, "booster": {"name": booster}, "learner": {"name": learner}}
        page = shown(run, 5, session)
        again = answers.rounds(session, {"run": run, "from": 2, "to": 2})
        assert [r["rule"] for r in again["rounds"]] == [r["rule"] for r in page["rounds"][1:2]]
        json.dumps(page, allow_nan=False)
        assert page["rounds"]
        assert all(0 <= r["error"] <= 0.5 for r in page["rounds"])
        for r in page["rounds"]:
            assert floats(r["weights"]).sum() == pytest.approx(1, abs=1e-5)


def test_a_run_that_was_forgotten_comes_out_the_same() -> None:
    session = LabSession()
    run = {**MOONS, "booster": {"name": "logit"}, "learner": {"name": "tree"}}
    first = shown(run, 8, session, surface=12)
    session.forget()
    assert _without_clocks(shown(run, 8, session, surface=12)) == _without_clocks(first)


def test_the_runs_asked_for_longest_ago_go_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "MOST_NUMBERS", 500)
    session = LabSession()
    for seed in range(4):
        shown({**LECTURE, "seed": seed}, 20, session)
    assert [run.spec.seed for run in session._runs.values()] == [1, 2, 3]
    monkeypatch.setattr(kept, "MOST_RUNS", 2)
    fork = {**LECTURE, "seed": 9, "changes": [{"after": 2, "booster": {"name": "logit"}}]}
    assert len(shown(fork, 4, session)["rounds"]) == 4
    assert len(session._runs) == 2


def test_bagging_is_that_of_the_estimator() -> None:
    run = {**MOONS, "method": "bagging", "learner": {"name": "tree"}}
    page = shown(run, 7)
    X, y = Plane("moons", noise=0.1, spread=0.15).draw(150, 3)
    learner = make_learner(MethodChoice("tree"))
    model = BaggingClassifier(learner, 7, random_state=0).fit(X, y)
    votes = model.votes(X)
    margin = (votes[:, 1] - votes[:, 0]) / 7 * y
    last = page["rounds"][-1]
    np.testing.assert_allclose(floats(last["margins"]), margin, atol=1e-6)
    assert last["training_error"] == pytest.approx((margin <= 0).mean())
    assert last["bound"] is None
    assert last["normaliser"] is None


def test_a_rule_without_mistakes_stands_alone() -> None:
    points = [[x, 0.0, -1] for x in range(5)] + [[x + 5.0, 1.0, 1] for x in range(5)]
    edits = {"added": [[x, y, label] for (x, y, label) in points]}
    page = shown({"data": {"kind": "points", "edits": edits}}, 5)
    assert page["done"] == 1
    assert "without mistakes" in page["stopped"]
    assert page["rounds"][0]["training_error"] == 0


def _without_clocks(page: Any) -> Any:
    return {**page, "rounds": [{**r, "seconds": 0} for r in page["rounds"]]}
