"""Certificates, filtering, planner and instruments of the page, and pages that need no server."""

from __future__ import annotations

import base64
import json
import re
import runpy
from typing import Any

import numpy as np
import pytest

import pacboost
from pacboost import BoostClassifier
from pacboost.boosters.adaboost import AdaBoost
from pacboost.bounds.holdout import clopper_pearson
from pacboost.bounds.training import training_error
from pacboost.lab import answers, instruments
from pacboost.lab import filtering as planner
from pacboost.lab.choices import RECTANGLE
from pacboost.lab.files import read_file
from pacboost.lab.filtering import filtering
from pacboost.lab.offline import offline_page
from pacboost.lab.reproduce import fitted
from pacboost.lab.routes import certificates
from pacboost.lab.server import whole_page
from pacboost.lab.session import LabSession
from pacboost.lab.spec import read_run
from pacboost.learners.stump import Stump
from pacboost.sources.toy import lecture_points
from pacboost.theory.learners import Rectangle
from pacboost.theory.plan import QUESTIONS
from pacboost.theory.sampling import Plane
from tests.lab.asking import LECTURE, MOONS, floats
from tests.markdown import DOCS


def by_id(found: dict[str, Any]) -> dict[str, Any]:
    return {own["id"]: own for own in found["certificates"]}


def test_certificates_are_those_of_the_library() -> None:
    found = by_id(certificates(LabSession(), {"run": MOONS, "round": 10}))
    world = Plane("moons", noise=0.1, spread=0.15)
    X, y = world.draw(150, 3)
    model = BoostClassifier(AdaBoost(), Stump(), 10, early_stopping=False, random_state=0).fit(X, y)
    assert found["training"]["value"] == training_error(model.ledger_).value
    assert found["training"]["fails_with"] == 0
    fresh = pacboost.certify(model, *world.draw(1000, 1_000_003))
    assert found["holdout"]["value"] == fresh.value
    assert found["holdout"]["claim"] == fresh.claim
    assert found["compression"]["value"] == pacboost.theory.compress(model, X, y).certificate_.value
    assert found["training_rows"]["value"] is None
    assert "rows the model was trained on" in found["training_rows"]["refused"]
    assert found["training_rows"]["would_say"] < 1
    assert all(own["assumes"] for name, own in found.items() if own["fails_with"])


def test_training_rows_would_have_been_a_false_certificate() -> None:
    """A tree learns noise by heart: what its training rows would certify is far from the truth."""
    leaves = {"max_leaves": 64, "max_depth": 12}
    run = {
        "data": {"kind": "gaussians", "n": 150, "noise": 0.3},
        "learner": {"name": "tree", "parameters": leaves},
    }
    found = certificates(LabSession(), {"run": run, "round": 20})
    assert by_id(found)["training_rows"]["would_say"] < 0.05
    assert found["truth"]["lower"] > 0.2
    assert by_id(found)["holdout"]["value"] > found["truth"]["lower"]


@pytest.mark.parametrize("method", ["boost", "bagging"])
def test_copies_in_a_file_are_treated_as_the_library_does(method: str) -> None:
    """Test rows that are copies of training rows certify nothing, though they look like others."""
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(120, 2)).round(3)[np.r_[:120, :30]]
    lines = [f"{a},{b},{'yes' if a + b > 0 else 'no'}" for a, b in rows]
    session = LabSession()
    file = session.files.add(read_file("copies.csv", "\n".join(["a,b,kind", *lines]).encode()))
    run: dict[str, Any] = {
        "data": file.suggestion(), "method": method, "learner": {"name": "tree"},
    }  # fmt: skip
    found = by_id(certificates(session, {"run": run, "round": 3}))["holdout"]
    made = session.run(read_run(run))
    assert made.points.test is not None
    plain = clopper_pearson(made.frames[2].wrong_test or 0, len(made.points.test[1]), 0.05)
    asked = pacboost.certify(fitted(made, 3), *made.points.test)
    assert found["value"] == asked.value > plain


def test_painted_points_and_bags_have_no_certificate_for_new_examples() -> None:
    found = by_id(certificates(LabSession(), {"run": LECTURE, "round": 3}))
    assert "painted" in found["holdout"]["refused"]
    run = {**MOONS, "method": "bagging", "learner": {"name": "tree"}}
    found = by_id(certificates(LabSession(), {"run": run, "round": 3}))
    assert "not boosted together" in found["training"]["refused"]
    assert found["holdout"]["value"] < 0.5


def test_filtering_reports_every_refill_and_its_certificate() -> None:
    asked = {"data": {"kind": "moons"}, "epsilon": 0.3, "rounds": 6, "seed": 1}
    found = filtering(LabSession(), asked)
    assert found["refills"]
    assert all(0 < own["acceptance"] <= 1 for own in found["refills"])
    assert all(own["lower"] <= own["mean"] <= own["upper"] for own in found["refills"])
    assert found["draws_total"] >= sum(own["accepted"] for own in found["refills"])
    assert found["certificate"]["value"] > found["truth"]["lower"]
    assert found["plan"] is None
    assert all(len(point) == 3 for point in found["kept"])
    json.dumps(found, allow_nan=False)


def test_filtering_is_refused_where_nothing_new_can_be_drawn() -> None:
    with pytest.raises(pacboost.errors.ParameterError, match="no new points"):
        filtering(LabSession(), {"data": {"kind": "lecture"}})


@pytest.mark.parametrize("name", ["holdout", "rectangle", "vc", "finite", "confidence"])
def test_plans_are_those_of_the_library(name: str) -> None:
    question = planner.ASKED[name]
    found = planner.plan({"question": name, "along": question.along[0]})
    values = {knob.name: knob.default for knob in question.fields}
    assert found["number"] == getattr(QUESTIONS[name](**values), question.unit)
    curve = found["curve"]
    place = next(k for k, number in enumerate(curve["numbers"]) if number is not None)
    own = {**values, curve["name"]: curve["values"][place]}
    assert curve["numbers"][place] == getattr(QUESTIONS[name](**own), question.unit)


def test_plans_without_an_answer_are_gaps_in_the_curve() -> None:
    found = planner.plan({"question": "holdout", "values": {"error": 0.05}, "along": "epsilon"})
    assert found["curve"]["numbers"][0] is None
    assert found["curve"]["numbers"][-1] > 0


def test_the_game_and_the_hard_core_are_those_of_the_library() -> None:
    session = LabSession()
    X, y = lecture_points()
    game = pacboost.theory.game("stump", X, y, tolerance=1e-4, max_rounds=300)
    found = instruments.game(session, LECTURE)
    assert (found["lower"], found["upper"]) == (game.lower, game.upper)
    np.testing.assert_allclose(floats(found["weights"]), game.weights, atol=1e-6)
    core = pacboost.theory.hard_core("stump", X, y, 0.5, 0.3)
    found = instruments.hard_core(session, {**LECTURE, "edge": 0.5, "density": 0.3})
    assert found["sentence"] == core.sentence
    assert core.measure is not None
    np.testing.assert_allclose(floats(found["measure"]), core.measure, atol=1e-6)


def test_pac_trials_and_shattering_are_those_of_the_library() -> None:
    session = LabSession()
    pac = pacboost.theory.pac(Rectangle(), RECTANGLE, 40, trials=60, seed=2)
    found = instruments.pac(session, {"m": 40, "trials": 60, "seed": 2})
    assert found["sentence"] == pac.sentence
    assert found["risk"] == pac.risks[0]
    left, right, low, high = found["box"]
    assert RECTANGLE.box_risk((left, low), (right, high)) == pytest.approx(found["risk"])
    points = [[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]]
    found = instruments.shatters(session, {"points": points})
    assert found["sentence"] == str(pacboost.theory.shatters("stump", points))
    assert len(found["labelings"]) == 8
    box = instruments.shatters(session, {"points": points, "learner": {"name": "rectangle"}})
    assert not box["shattered"]


def test_the_offline_page_holds_the_page_and_the_recording() -> None:
    session = LabSession()
    run = {**MOONS, "changes": [{"after": 2, "booster": {"name": "logit"}}]}
    title = "a < b & </script>"
    text = offline_page(
        session,
        {"title": title, "state": {"x": 1}, "surface": 12, "runs": [{"run": run, "rounds": 6}]},
    )
    held = re.search(r'<script type="application/json" id="recording">(.*?)</script>', text, re.S)
    assert held is not None
    recording = json.loads(held.group(1))
    assert recording["title"] == title
    assert recording["state"] == {"x": 1}
    own = recording["runs"][0]
    page = answers.rounds(session, {"run": run, "from": 1, "to": 6, "surface": 12})
    assert own["answer"]["rounds"] == page["rounds"]
    assert set(own["certificates"]) == {"1", "2", "5", "6"}
    assert "BoostClassifier" in own["code"]["code"]
    assert own["start"]["next"]["number"] == 1
    assert not re.search(r'(src|href)="(?!data:|#)', text)
    modules = json.loads(re.search(r'type="importmap">(.*?)</script>', text, re.S).group(1))  # type: ignore[union-attr]
    for address in modules["imports"].values():
        assert base64.b64decode(address.partition("base64,")[2])


def test_the_page_is_small_and_in_the_package() -> None:
    text = whole_page({})
    assert len(text.encode()) < 1.4 * 300_000  # modules are written in base64


def test_every_recording_of_the_site_is_linked_from_its_page() -> None:
    place = runpy.run_path(str(DOCS / "recordings.py"))
    linked = re.findall(r"href='lab/(\w+)\.html'", (DOCS / "lab.md").read_text(encoding="utf-8"))
    assert sorted(linked) == sorted(place["RECORDINGS"])
    for _, runs in place["RECORDINGS"].values():
        for run, rounds in runs:
            page = answers.rounds(LabSession(), {"run": run, "from": 1, "to": 2})
            assert page["rounds"]
            assert rounds <= 200
