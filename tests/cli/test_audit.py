"""``pacboost audit`` for answers and for models."""

from pathlib import Path

import numpy as np
import pandas as pd

import pacboost
from tests.cli.running import answer, refused, run, well


def test_answers_and_models(tmp_path: Path) -> None:
    generator = np.random.default_rng(0)
    frame = pd.DataFrame({
        "age": generator.integers(20, 80, 3_000),
        "region": generator.choice(["north", "south"], 3_000),
    })  # fmt: skip
    frame["label"] = np.where(frame["age"] > 50, "yes", "no")
    noisy = (frame["region"] == "north") & (generator.random(3_000) < 0.4)
    frame["verdict"] = np.where(noisy, "maybe", frame["label"])
    path = tmp_path / "answers.csv"
    frame.to_csv(path, index=False)
    said = ("audit", path, "--said", "verdict", "--truth", "label")
    found = answer(*said)
    assert found["findings"][0]["conditions"] == [["region", "is", "north"]]
    assert "errs above" in well(*said)
    assert run(*said, "--limit", 0.2).exit_code == 1
    assert run(*said, "--limit", 0.9).exit_code == 0
    model = pacboost.BoostClassifier(n_estimators=5).fit(frame[["age"]], frame["label"])
    model.save(tmp_path / "m.pacb")
    new = pd.DataFrame({"age": generator.integers(20, 80, 900), "plan": ["a", "b", "c"] * 300})
    new["label"] = np.where((new["age"] > 50) ^ (new["plan"] == "a"), "yes", "no")
    new.to_csv(tmp_path / "new.csv", index=False)
    found = answer("audit", tmp_path / "m.pacb", tmp_path / "new.csv", "--target", "label")
    assert found["findings"][0]["conditions"][0][2] == "a"
    assert "two were given" in refused(*said, "--said", "verdict", path)
