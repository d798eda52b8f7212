"""``pacboost cascade``: from a pool to answers in a file."""

from pathlib import Path

import numpy as np
import pandas as pd

import pacboost
from tests.cli.running import answer, refused, well


def test_from_a_pool_to_answers(tmp_path: Path) -> None:
    generator = np.random.default_rng(0)
    pool = pd.DataFrame({"x": generator.normal(size=900).round(3), "k": range(900)})
    truth = np.where(pool["x"] + generator.normal(0, 0.3, 900) > 0, "yes", "no")
    pool.to_csv(tmp_path / "pool.csv", index=False)
    ask, record = tmp_path / "ask.csv", tmp_path / "ask.draw.json"
    answer("draw", tmp_path / "pool.csv", "--rows", 400, "-o", ask, "--label", "teacher")
    labelled = pd.read_csv(ask)
    labelled["teacher"] = truth[labelled["k"]]
    labelled.to_csv(ask, index=False)
    call = ("cascade", tmp_path / "pool.csv", ask, "--teacher", "teacher", "--draw", record)
    out, student = tmp_path / "answers.csv", tmp_path / "student.pacb"
    found = answer(*call, "--target-error", 0.1, "-o", out, "--student", student)
    answers = pd.read_csv(out, keep_default_na=False)
    assert found["share"] == (answers["who"] != "teacher").mean() > 0.6
    given = answers["answer"] != ""
    assert (answers["answer"][given] != truth[given]).mean() < 0.1
    assert (answers["who"] == "asked").sum() == 400
    assert pacboost.load(student).classes_.tolist() == ["no", "yes"]
    assert "left to the teacher" in well(*call, "--target-error", 0.1, "--model", student)
    assert "Ask about more rows" in refused(*call, "--target-error", 0.001, code=1)
