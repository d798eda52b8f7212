"""Certificates, filtering, planner and instruments of the page, and pages that need no server."""

import base64
import json
import re
import runpy
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pacboost
from pacboost import AdaBoostClassifier, BaggingClassifier, BoostClassifier
from pacboost.boosters.adaboost import AdaBoost
from pacboost.boosters.registry import BOOSTERS
from pacboost.bounds.holdout import clopper_pearson, clopper_pearson_lower
from pacboost.bounds.training import training_error
from pacboost.errors import PacboostError, ParameterError
from pacboost.lab import answers, instruments
from pacboost.lab import filtering as planner
from pacboost.lab.choices import LEARNERS, OFFERS, RECTANGLE, make_booster, make_learner
from pacboost.lab.files import read_file
from pacboost.lab.filtering import filtering
from pacboost.lab.instruments import measure
from pacboost.lab.page_files import whole_page
from pacboost.lab.reproduce import code, fitted
from pacboost.lab.routes import certificates, recorded
from pacboost.lab.session import LabSession
from pacboost.lab.spec import MethodChoice, read_run
from pacboost.learners.stump import Stump
from pacboost.sources.toy import lecture_points
from pacboost.theory.learners import Rectangle
from pacboost.theory.plan import QUESTIONS
from tests.grids import each_value
from tests.lab.asking import LECTURE, MOONS, MOONS_WORLD, floats, small
from tests.markdown import DOCS


def by_id(answer: dict[str, Any]) -> dict[str, Any]:
    return {entry["id"]: entry for entry in answer["certificates"]}


def test_certificates_are_those_of_the_library() -> None:
    result = by_id(certificates(LabSession(), {"run": MOONS, "round": 10}))
    X, y = MOONS_WORLD.draw(150, 3)
    model = BoostClassifier(AdaBoost(), Stump(), 10, early_stopping=False, random_state=0).fit(X, y)
    assert result["training"]["value"] == training_error(model.ledger_).value
    assert result["training"]["fails_with"] == 0
    fresh = pacboost.certify(model, *MOONS_WORLD.draw(1000, 1_000_003))
    assert result["holdout"]["value"] == fresh.value
    assert result["holdout"]["claim"] == fresh.claim
    assert result["holdout"]["moved"][5] == fresh.under(contamination=0.05).value
    assert result["training"]["moved"] == []
    small = pacboost.theory.compress(model, X, y)
    assert result["compression"]["value"] == small.certificate_.value
    assert result["training_rows"]["value"] is None
    assert "trained on" in result["training_rows"]["refused"]
    assert result["training_rows"]["would_say"] < 1
    assert all(item["assumes"] for name, item in result.items() if item["fails_with"])


def test_training_rows_would_have_been_a_false_certificate() -> None:
    """A tree learns noise by heart: what its training rows would certify is far from the truth."""
    learner = {"name": "tree", "parameters": {"max_leaves": 64, "max_depth": 12}}
    run = {"data": {"kind": "gaussians", "n": 150, "noise": 0.3}, "learner": learner}
    result = certificates(LabSession(), {"run": run, "round": 20})
    assert by_id(result)["training_rows"]["would_say"] < 0.05
    assert result["truth"]["lower"] > 0.2
    assert by_id(result)["holdout"]["value"] > result["truth"]["lower"]


@pytest.mark.filterwarnings("ignore::pacboost.errors.InputWarning")
@pytest.mark.parametrize("method", ["boost", "bagging"])
def test_rows_of_a_file_are_certified_as_the_library_does(method: str) -> None:
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(120, 2)).round(3)[np.r_[:120, :30]]
    lines = [f"{a},{b},{'yes' if a + b > 0 else 'no'}" for a, b in rows]
    session = LabSession()
    file = session.files.add(read_file("copies.csv", "\n".join(["a,b,kind", *lines]).encode()))
    run = {"data": file.suggestion(), "method": method, "learner": {"name": "tree"}}
    result = by_id(certificates(session, {"run": run, "round": 3}))["holdout"]
    outcome = session.run(read_run(run))
    assert outcome.points.test is not None
    asked = pacboost.certify(fitted(outcome, 3), *outcome.points.test)
    assert result["value"] == asked.value
    assert "equal rows" in asked.claim


def test_painted_points_and_bags_have_no_certificate_for_new_examples() -> None:
    result = by_id(certificates(LabSession(), {"run": LECTURE, "round": 3}))
    assert "painted" in result["holdout"]["refused"]
    run = {**MOONS, "method": "bagging", "learner": {"name": "tree"}}
    result = by_id(certificates(LabSession(), {"run": run, "round": 3}))
    assert "not boosted together" in result["training"]["refused"]
    assert result["holdout"]["value"] < 0.5


def test_filtering_reports_every_refill_and_its_certificate() -> None:
    asked = {"data": {"kind": "moons"}, "epsilon": 0.3, "rounds": 6, "seed": 1}
    result = filtering(LabSession(), asked)
    assert result["refills"]
    assert all(0 < item["acceptance"] <= 1 for item in result["refills"])
    assert all(item["lower"] <= item["mean"] <= item["upper"] for item in result["refills"])
    assert result["draws_total"] >= sum(item["accepted"] for item in result["refills"])
    assert result["certificate"]["value"] > result["truth"]["lower"]
    assert result["plan"] is None
    assert all(len(point) == 3 for point in result["kept"])
    json.dumps(result, allow_nan=False)


@pytest.mark.parametrize("name", ["holdout", "rectangle", "vc", "finite", "confidence"])
def test_plans_are_those_of_the_library(name: str) -> None:
    question = planner.ASKED[name]
    result = planner.plan({"question": name, "along": question.along[0]})
    values = {knob.name: knob.default for knob in question.fields}
    assert result["number"] == getattr(QUESTIONS[name](**values), question.unit)
    curve = result["curve"]
    place = next(k for k, number in enumerate(curve["numbers"]) if number is not None)
    item = {**values, curve["name"]: curve["values"][place]}
    assert curve["numbers"][place] == getattr(QUESTIONS[name](**item), question.unit)


def test_pac_trials_and_shattering_are_those_of_the_library() -> None:
    session = LabSession()
    pac = pacboost.theory.pac(RECTANGLE, 40, Rectangle(), trials=60, seed=2)
    result = instruments.pac(session, {"m": 40, "trials": 60, "seed": 2})
    assert result["sentence"] == pac.sentence
    assert result["risk"] == pac.risks[0]
    left, right, low, high = result["box"]
    assert RECTANGLE.box_risk((left, low), (right, high)) == pytest.approx(result["risk"])
    points = [[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]]
    result = instruments.shatters(session, {"points": points})
    assert result["sentence"] == str(pacboost.theory.shatters(points, "stump"))
    assert len(result["labelings"]) == 8
    box = instruments.shatters(session, {"points": points, "learner": {"name": "rectangle"}})
    assert not box["shattered"]


def test_the_offline_page_holds_the_page_and_the_recording() -> None:
    session = LabSession()
    run = {**MOONS, "changes": [{"after": 2, "booster": {"name": "logit"}}]}
    title, runs = "a < b & </script>", [{"run": run, "rounds": 6}]
    asked = {"title": title, "state": {"x": 1}, "surface": 12, "runs": runs}
    text = whole_page(recorded(session, asked))
    script = re.search(r'<script type="application/json" id="recording">(.*?)</script>', text, re.S)
    assert script is not None
    recording = json.loads(script.group(1))
    assert recording["title"] == title
    assert recording["state"] == {"x": 1}
    item = recording["runs"][0]
    page = answers.rounds(session, {"run": run, "from": 1, "to": 6, "surface": 12})
    assert item["answer"]["rounds"] == page["rounds"]
    assert set(item["certificates"]) == {"1", "2", "5", "6"}
    assert "BoostClassifier" in item["code"]["code"]
    assert item["start"]["next"]["number"] == 1
    assert not re.search(r'(src|href)="(?!data:|#)', text)
    modules = re.search(r'type="importmap">(.*?)</script>', text, re.S)
    assert modules is not None
    for address in json.loads(modules[1])["imports"].values():
        assert base64.b64decode(address.partition("base64,")[2])


def test_every_recording_of_the_site_is_linked_from_its_page() -> None:
    place = runpy.run_path(str(DOCS / "recordings.py"))
    linked = re.findall(r"href='lab/(\w+)\.html'", (DOCS / "lab.md").read_text(encoding="utf-8"))
    assert sorted(linked) == sorted(place["RECORDINGS"])
    for _, runs in place["RECORDINGS"].values():
        for run, rounds in runs:
            page = answers.rounds(LabSession(), {"run": run, "from": 1, "to": 2})
            assert page["rounds"]
            assert rounds <= 200


SCALARS = ("error", "edge", "vote", "normaliser", "training_error", "effective_size", "rule")


def shown(
    run: dict[str, Any], rounds: int, session: LabSession | None = None, **options: Any
) -> Any:
    asked = {"run": run, "from": 1, "to": rounds, **options}
    return answers.rounds(session or LabSession(), asked)


def test_the_lecture_s_three_rounds_are_those_of_the_proof() -> None:
    X, y = lecture_points()
    model = AdaBoostClassifier(n_estimators=3).fit(X, y)
    proof, columns = pacboost.theory.proof(model, X, y), model.ledger_.columns()
    page = shown(LECTURE, 3)
    errors = [r["error"] for r in page["rounds"]]
    assert errors == pytest.approx([3 / 10, 3 / 14, 3 / 22], abs=1e-12)
    for item, step, margins in zip(
        page["rounds"], proof.steps, pacboost.theory.staged_margins(model, X, y), strict=True
    ):
        t = item["number"]
        np.testing.assert_allclose(floats(item["weights"]), step.weights, rtol=1e-6)
        assert (small(item["agree"]) < 0).tolist() == step.wrong.tolist()
        np.testing.assert_allclose(floats(item["margins"]), margins, rtol=1e-6)
        assert item["error_after"] == pytest.approx(0.5, abs=1e-9)
        for name in ("bound", "bound_errors", "bound_edges"):
            assert item[name] == columns[name][t - 1]
        assert {name: item[name] for name in SCALARS} == {
            name: asdict(model.ledger_.rounds[t - 1])[name] for name in SCALARS
        }
    after = pacboost.theory.weights(model, 4, X, y)
    np.testing.assert_allclose(floats(page["next"]["weights"]), after.values, rtol=1e-6)
    assert page["next"]["effective_size"] == pytest.approx(after.effective_rows)


@each_value
@pytest.mark.parametrize("name", ["adaboost", "logit", "brown", "soft", "majority", "filter_boost"])
@pytest.mark.parametrize("learner", ["stump", "tree"])
def test_rounds_are_those_of_the_estimator(name: str, learner: str) -> None:
    run = {**MOONS, "booster": {"name": name}, "learner": {"name": learner}}
    page = shown(run, 6)
    X, y = MOONS_WORLD.draw(150, 3)
    model = BoostClassifier(
        make_booster(MethodChoice(name)), make_learner(MethodChoice(learner)), 6,
        early_stopping=False, random_state=0,
    ).fit(X, y)  # fmt: skip
    assert len(page["rounds"]) == len(model.ledger_.rounds)
    revised = model.ledger_.revised
    for item, entry in zip(page["rounds"], model.ledger_.rounds, strict=True):
        names = [n for n in SCALARS if not (revised and n == "vote")]
        assert [item[n] for n in names] == [getattr(entry, n) for n in names]
    last = page["rounds"][-1]
    np.testing.assert_allclose(floats(last["margins"]), model.margins(X, y), atol=1e-6)
    if revised:
        assert last["votes"] == pytest.approx(model.votes_.tolist())


def test_the_test_error_is_counted_on_fresh_draws_with_its_exact_interval() -> None:
    page = shown(MOONS, 12)["rounds"][-1]["test"]
    model = BoostClassifier(AdaBoost(), Stump(), 12, early_stopping=False)
    model.fit(*MOONS_WORLD.draw(150, 3))
    wrong = int(model.mistakes(*MOONS_WORLD.draw(1000, 1_000_003)).sum())
    assert (page["wrong"], page["n"]) == (wrong, 1000)
    assert page["lower"] == clopper_pearson_lower(wrong, 1000, 0.025)
    assert page["upper"] == clopper_pearson(wrong, 1000, 0.025)


def test_the_surface_is_the_score_divided_by_the_votes() -> None:
    session = LabSession()
    run = {**MOONS, "learner": {"name": "tree"}}
    page = shown(run, 20, session, surface=16)
    box = answers.data(session, run)["box"]
    x, z = np.linspace(box[0], box[1], 16), np.linspace(box[2], box[3], 16)
    grid = np.stack([np.tile(x, 16), np.repeat(z, 16)], axis=1)
    tree = make_learner(MethodChoice("tree"))
    model = BoostClassifier(AdaBoost(), tree, 20, early_stopping=False)
    model.fit(*MOONS_WORLD.draw(150, 3))
    for t, scores in enumerate(model.staged_decision_function(grid)):
        total = sum(entry.vote for entry in model.ledger_.rounds[: t + 1])
        surface = floats(page["rounds"][t]["surface"])
        np.testing.assert_allclose(surface, scores / total, atol=1e-6)


def test_every_booster_and_learner_runs_and_can_be_asked_for_in_any_order() -> None:
    assert set(BOOSTERS) - set(OFFERS) == {"graph_separation"}
    session = LabSession()
    data = {"kind": "gaussians", "n": 60}
    for number, booster in enumerate(OFFERS):
        learner = list(LEARNERS)[number % len(LEARNERS)]
        run = {"data": data, "booster": {"name": booster}, "learner": {"name": learner}}
        page = shown(run, 5, session)
        repeated = answers.rounds(session, {"run": run, "from": 2, "to": 2})
        assert [r["rule"] for r in repeated["rounds"]] == [r["rule"] for r in page["rounds"][1:2]]
        json.dumps(page, allow_nan=False)
        assert page["rounds"]
        assert all(0 <= r["error"] <= 0.5 for r in page["rounds"])
        for r in page["rounds"]:
            assert floats(r["weights"]).sum() == pytest.approx(1, abs=1e-5)


def test_bagging_is_that_of_the_estimator() -> None:
    run = {**MOONS, "method": "bagging", "learner": {"name": "tree"}}
    page = shown(run, 7)
    X, y = MOONS_WORLD.draw(150, 3)
    learner = make_learner(MethodChoice("tree"))
    model = BaggingClassifier(learner, 7, random_state=0).fit(X, y)
    votes = model.votes(X)
    margin = (votes[:, 1] - votes[:, 0]) / 7 * y
    last = page["rounds"][-1]
    np.testing.assert_allclose(floats(last["margins"]), margin, atol=1e-6)
    assert last["training_error"] == pytest.approx((margin <= 0).mean())
    assert last["bound"] is last["normaliser"] is None


RULE = {"feature": 1, "threshold": 4.5, "above": 1}


def test_the_edges_are_those_of_every_stump_under_the_next_weights() -> None:
    session = LabSession()
    result = answers.edges(session, {"run": LECTURE, "after": 1})
    page = answers.rounds(session, {"run": LECTURE, "from": 1, "to": 2})
    data = answers.data(session, LECTURE)
    weights, labels = floats(page["next"]["weights"]), np.array(data["label"])
    assert result["number"] == 2
    before = floats(page["rounds"][1]["weights"])
    for feature, values in zip(result["features"], (data["x"], data["y"]), strict=True):
        for cut, error in zip(feature["cuts"], feature["errors"], strict=True):
            outputs = np.where(np.array(values) > cut, 1, -1)
            assert error == pytest.approx(before[outputs != labels].sum(), abs=1e-6)
    best = result["best"]
    assert (best["feature"], best["threshold"], best["above"]) == (0, 7.5, -1)
    assert best["error"] == pytest.approx(3 / 14)
    assert weights.sum() == pytest.approx(1)


def test_a_rule_of_one_s_own_is_weighed_by_the_engine_and_then_committed() -> None:
    session = LabSession()
    tried = answers.weigh(session, {"run": LECTURE, "after": 1, "rule": RULE, "surface": 16})
    assert tried["allowed"]
    assert tried["round"]["own"]
    assert tried["round"]["error"] == pytest.approx(2 / 7)
    committed = answers.rounds(session, {"run": tried["run"], "from": 1, "to": 3})["rounds"]
    assert committed[1]["rule"] == "x1 > 4.5 → 1, else -1"
    assert committed[1]["vote"] == tried["round"]["vote"]
    unchanged = answers.rounds(session, {"run": LECTURE, "from": 1, "to": 3})["rounds"]
    assert committed[0]["vote"] == unchanged[0]["vote"]
    assert [r["own"] for r in committed] == [False, True, False]


def test_a_rule_that_is_wrong_more_often_than_right_is_turned_and_a_coin_is_refused() -> None:
    session = LabSession()
    asked = {"run": LECTURE, "after": 0, "rule": {**RULE, "above": -1}}
    turned = answers.weigh(session, asked)["round"]
    assert turned["error"] < 0.5
    assert turned["shape"]["above"] == 1
    repeated = {**RULE, "feature": 0, "threshold": 1.5}
    refused = answers.weigh(session, {"run": LECTURE, "after": 1, "rule": repeated})
    assert not refused["allowed"]
    assert "chance" in refused["why"]


def test_a_fork_keeps_the_rules_and_goes_on_by_other_means() -> None:
    session = LabSession()
    parent = answers.rounds(session, {"run": MOONS, "from": 1, "to": 8})["rounds"]
    other = {**MOONS, "changes": [{"after": 4, "learner": {"name": "tree"}}]}
    fork = answers.rounds(session, {"run": other, "from": 1, "to": 8})["rounds"]
    for item, first in zip(fork[:4], parent[:4], strict=True):
        assert item["vote"] == pytest.approx(first["vote"], rel=1e-6)
        np.testing.assert_allclose(floats(item["weights"]), floats(first["weights"]), rtol=1e-5)
    assert [r["shape"]["kind"] for r in fork] == ["stump"] * 4 + ["tree"] * 4
    brown = {**MOONS, "changes": [{"after": 4, "booster": {"name": "brown"}}]}
    fork = answers.rounds(session, {"run": brown, "from": 1, "to": 6})["rounds"]
    assert [r["shape"] for r in fork[:4]] == [r["shape"] for r in parent[:4]]
    assert small(fork[0]["agree"]).tolist() == small(parent[0]["agree"]).tolist()


def test_a_fork_beyond_the_end_is_refused_in_words() -> None:
    run = {**LECTURE, "learner": {"name": "tree", "parameters": {"max_leaves": 12, "max_depth": 9}}}
    fork = {**run, "changes": [{"after": 4, "booster": {"name": "logit"}}]}
    with pytest.raises(PacboostError, match=r"after round 4: .* 1 rounds"):
        answers.rounds(LabSession(), {"run": fork, "from": 1, "to": 6})


EDITS = {
    "flipped": [1, 2], "deleted": [3, 150], "moved": {"4": [0, 1]},
    "added": [[0.1, 0.2, 1], [0, 0, -1]],
}  # fmt: skip
RUNS: dict[str, dict[str, Any]] = {
    "lecture": LECTURE,
    "edited, own rule, two forks": {
        "data": {**MOONS["data"], "edits": EDITS},
        "rules": [{"round": 2, "rule": {"feature": 0, "threshold": 0.2, "above": 1}}],
        "changes": [
            {"after": 3, "booster": {"name": "logit", "parameters": {"learning_rate": 0.5}}},
            {"after": 4, "learner": {"name": "tree"}},
        ],
    },
    "rectangle, weak stumps": {
        "data": {"kind": "rectangle", "n": 80, "noise": 0.1},
        "learner": {"name": "weak_stump", "parameters": {"edge": 0.15}},
        "booster": {"name": "smooth"},
    },
    "adversary": {**MOONS, "learner": {"name": "adversary"}, "seed": 5},
    "straight lines": {**MOONS, "learner": {"name": "halfspace"}},
    "bits": {"data": {"kind": "long_servedio", "n": 200}, "booster": {"name": "mada"}},
    "calls": {"data": {"kind": "calls", "n": 150}},
    "painted": {
        "data": {
            "kind": "points",
            "edits": {"added": [[0, 0, 1], [1, 1, -1], [2, 0, 1], [3, 1, 1]]},
        }
    },
}


@pytest.mark.parametrize("name", RUNS)
def test_the_code_gives_the_numbers_of_the_page(name: str) -> None:
    session, rounds = LabSession(), 6
    page = answers.rounds(session, {"run": RUNS[name], "from": 1, "to": rounds})
    program = code(session, {"run": RUNS[name], "rounds": page["done"]})["code"]
    place: dict[str, Any] = {"print": lambda *words: None}
    exec(program, place)
    ledger = place["model"].ledger_
    assert [r["rule"] for r in page["rounds"]] == [entry.rule for entry in ledger.rounds]
    for name_of in ("error", "vote", "normaliser", "training_error"):
        assert [r[name_of] for r in page["rounds"]] == [getattr(e, name_of) for e in ledger.rounds]


def test_the_code_of_a_file_and_of_bagging(tmp_path: Path, monkeypatch: Any) -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(60, 2))
    lines = [f"{a},{b},{'yes' if a + b > 0 else 'no'}" for a, b in rows]
    content = "\n".join(["width,height,kind", *lines]).encode()
    (tmp_path / "own.csv").write_bytes(content)
    session = LabSession()
    file = session.files.add(read_file("own.csv", content))
    run = {"data": file.suggestion(), "method": "bagging", "learner": {"name": "stump"}}
    page = answers.rounds(session, {"run": run, "from": 1, "to": 4})["rounds"][-1]
    outcome = code(session, {"run": run, "rounds": 4})
    assert outcome["needs"] == ["own.csv"]
    monkeypatch.chdir(tmp_path)
    outputs: list[float] = []
    place: dict[str, Any] = {"print": outputs.append}
    exec(outcome["code"], place)
    data = answers.data(session, {"data": run["data"]})
    np.testing.assert_array_equal(place["X"][:, 0], data["x"])
    assert len(place["y_test"]) == data["test_rows"] == 18
    # Ties go to the first class in predict, so they are mistakes of the second class only.
    margins, second = floats(page["margins"]), np.array(data["label"]) > 0
    assert outputs[0] == pytest.approx(((margins < 0) | ((margins == 0) & second)).mean())


def test_the_measure_runs_to_its_stop_under_the_elevator_lemma() -> None:
    result = measure(LabSession(), {"data": {"kind": "rings"}})
    assert result["means"][-1] < 0.15 <= result["means"][-2]
    assert result["rounds"] <= result["most_rounds"] == 4444
    assert result["errors"][-1] <= result["means"][-1]
    slack = np.subtract(result["bound"], result["largest"])
    assert 0 <= slack.min() < 0.01  # the lemma holds, and is tight
    assert (np.array(result["collected"]) >= result["least"]).all()
    for histogram in result["floors"]:
        assert sum(histogram["shares"]) == pytest.approx(1)
    assert result["floors"][0]["floors"][-1] < result["floors"][1]["floors"][-1]
    json.dumps(result, allow_nan=False)


def test_the_naive_filter_of_the_measure_learns_nothing() -> None:
    result = measure(LabSession(), {"data": {"kind": "rings"}, "filter": "naive"})
    assert result["slope"] == 1
    assert result["errors"][2::2] == [1.0] * 6  # two opposite rules: every vote is tied


def test_the_measure_stops_where_stumps_break_their_promise() -> None:
    result = measure(LabSession(), {"data": {"kind": "xor"}})
    assert result["rounds"] == 0
    assert "edge of 0.046, and 0.1 was promised" in result["sentence"]
    with pytest.raises(ParameterError, match="filter"):
        measure(LabSession(), {"data": {"kind": "xor"}, "filter": "none"})
