"""pacboost fit --learner file.py:name."""

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from pacboost.cli.main import main

MINE = '''
import numpy as np

columns = 3

def make_rule(X, y, weights):
    """Stump on the column that tells most, from numbers or mappings."""
    if isinstance(X, list):
        return lambda rows: [1 if row["shop"] == "a" else -1 for row in rows]
    edges = (weights * y) @ np.where(X > 0, 1, -1)
    j = np.abs(edges).argmax()
    return lambda rows: np.sign(edges[j]) * np.where(rows[:, j] > 0, 1, -1)
'''


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    draw = np.random.default_rng(0)
    X, shops = draw.normal(size=(400, 3)), draw.choice(["a", "b", "c"], 400)
    y = np.where((X > 0).sum(axis=1) > 1, "yes", "no")
    lines = [
        "u,v,w,y",
        *(",".join([*map(str, row), label]) for row, label in zip(X, y, strict=True)),
    ]
    (tmp_path / "data.csv").write_text("\n".join(lines))
    mixed = [f"{s},{x[0]},{'in' if s == 'a' else 'out'}" for s, x in zip(shops, X, strict=True)]
    (tmp_path / "mixed.csv").write_text("\n".join(["shop,size,y", *mixed]))
    (tmp_path / "mine.py").write_text(MINE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("data", "more"), [("data", ""), ("mixed", ""), ("data", "--edge 0.2"), ("data", "--seed 3")]
)
def test_a_learner_in_a_file_is_boosted_and_certified(folder: Path, data: str, more: str) -> None:
    words = f"fit {data}.csv --target y --learner mine.py:make_rule --epsilon 0.1 {more}"
    done = CliRunner().invoke(main, words.split())
    assert done.exit_code == 0, done.output
    assert "10 % was asked for, and reached" in " ".join(done.output.split())
    assert "rules of make_rule by" in " ".join(done.output.split())


@pytest.mark.parametrize(
    ("place", "said"),
    [("other.py:f", "there is no file other.py"), ("mine.py:rule", "defines no rule"),
     ("bad.py:f", "raised ZeroDivisionError"), ("mine.py:columns", "learner is 3")],
)  # fmt: skip
def test_a_file_without_a_learner_is_refused(folder: Path, place: str, said: str) -> None:
    (folder / "bad.py").write_text("1 / 0")
    done = CliRunner().invoke(main, f"fit data.csv --target y --learner {place}".split())
    assert done.exit_code != 0
    assert said in " ".join(done.output.split())
