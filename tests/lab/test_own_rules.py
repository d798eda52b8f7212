"""Rules of one's own, forks, and the code that reproduces a run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pacboost.errors import PacboostError
from pacboost.lab import answers
from pacboost.lab.files import read_file
from pacboost.lab.reproduce import code
from pacboost.lab.session import LabSession
from tests.lab.asking import LECTURE, MOONS, floats, small

RULE = {"feature": 1, "threshold": 4.5, "above": 1}


def test_the_edges_are_those_of_every_stump_under_the_next_weights() -> None:
    session = LabSession()
    found = answers.edges(session, {"run": LECTURE, "after": 1})
    page = answers.rounds(session, {"run": LECTURE, "from": 1, "to": 2})
    data = answers.data(session, LECTURE)
    weights, labels = floats(page["next"]["weights"]), np.array(data["label"])
    assert found["number"] == 2
    before = floats(page["rounds"][1]["weights"])
    for feature, values in zip(found["features"], (data["x"], data["y"]), strict=True):
        for cut, error in zip(feature["cuts"], feature["errors"], strict=True):
            said = np.where(np.array(values) > cut, 1, -1)
            assert error == pytest.approx(before[said != labels].sum(), abs=1e-6)
    best = found["best"]
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
    plain = answers.rounds(session, {"run": LECTURE, "from": 1, "to": 3})["rounds"]
    assert committed[0]["vote"] == plain[0]["vote"]
    assert [r["own"] for r in committed] == [False, True, False]


def test_a_rule_that_is_wrong_more_often_than_right_is_turned_and_a_coin_is_refused() -> None:
    session = LabSession()
    turned = answers.weigh(session, {"run": LECTURE, "after": 0, "rule": {**RULE, "above": -1}})[
        "round"
    ]
    assert turned["error"] < 0.5
    assert turned["shape"]["above"] == 1
    again = {**RULE, "feature": 0, "threshold": 1.5}
    refused = answers.weigh(session, {"run": LECTURE, "after": 1, "rule": again})
    assert not refused["allowed"]
    assert "guessing" in refused["why"]


def test_a_fork_keeps_the_rules_and_goes_on_by_other_means() -> None:
    session = LabSession()
    parent = answers.rounds(session, {"run": MOONS, "from": 1, "to": 8})["rounds"]
    other = {**MOONS, "changes": [{"after": 4, "learner": {"name": "tree"}}]}
    fork = answers.rounds(session, {"run": other, "from": 1, "to": 8})["rounds"]
    for own, first in zip(fork[:4], parent[:4], strict=True):
        assert own["vote"] == pytest.approx(first["vote"], rel=1e-6)
        np.testing.assert_allclose(floats(own["weights"]), floats(first["weights"]), rtol=1e-5)
    assert [r["shape"]["kind"] for r in fork] == ["stump"] * 4 + ["tree"] * 4
    brown = {**MOONS, "changes": [{"after": 4, "booster": {"name": "brown"}}]}
    fork = answers.rounds(session, {"run": brown, "from": 1, "to": 6})["rounds"]
    assert [r["shape"] for r in fork[:4]] == [r["shape"] for r in parent[:4]]
    assert small(fork[0]["agree"]).tolist() == small(parent[0]["agree"]).tolist()


def test_a_fork_beyond_the_end_is_refused_in_words() -> None:
    run = {**LECTURE, "learner": {"name": "tree", "parameters": {"max_leaves": 12, "max_depth": 9}}}
    fork = {**run, "changes": [{"after": 4, "booster": {"name": "logit"}}]}
    with pytest.raises(PacboostError, match="cannot be changed after round 4: it has 1 rounds"):
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
    made = code(session, {"run": run, "rounds": 4})
    assert made["needs"] == ["own.csv"]
    monkeypatch.chdir(tmp_path)
    said: list[float] = []
    place: dict[str, Any] = {"print": said.append}
    exec(made["code"], place)
    data = answers.data(session, {"data": run["data"]})
    np.testing.assert_array_equal(place["X"][:, 0], data["x"])
    assert len(place["y_test"]) == data["test_rows"] == 18
    margins = floats(page["margins"])
    assert said[0] == pytest.approx((margins < 0).mean() + _ties_lost(margins, data["label"]))


def _ties_lost(margins: Any, labels: Any) -> float:
    """Ties go to the first class in predict, so they are mistakes of the second class only."""
    return float(((margins == 0) & (np.array(labels) > 0)).mean())
