"""``pacboost watch`` as a nightly job runs it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.cli.running import answer, people, run, well, write_csv


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("watch")
    old = write_csv(made / "old.csv", people(1200, 0))
    options = ("--booster", "logit", "--learner", "stump", "--rounds", "30")
    well("fit", old, "--target", "label", "--output", made / "m.pacb", *options)
    write_csv(made / "reference.csv", people(1500, 1))
    for night in (1, 2):
        write_csv(made / f"night{night}.csv", people(300, 10 + night))
    changed: dict[str, Any] = people(700, 20)
    changed["size"] = [own + 1.5 for own in changed["size"]]
    write_csv(made / "changed.csv", changed)
    return made


def test_nights_that_are_quiet_and_one_that_is_not(folder: Path, tmp_path: Path) -> None:
    state, model = tmp_path / "m.watch", folder / "m.pacb"
    options = ("--target", "label", "--state", state, "--reference", folder / "reference.csv")
    for night in (1, 2):
        found = answer("watch", model, folder / f"night{night}.csv", *options)
        assert found["alarm"] is False
        assert found["rows"] == found["drift"]["rows"] == 300 * night
    known = state.read_bytes()
    found = answer("watch", folder / "changed.csv", model, *options, code=3)
    assert found["drift"]["drifted_at"] > 600
    assert next(iter(found["drift"]["columns"])) == "size"
    said = run("watch", model, folder / "night1.csv", *options)
    assert said.exit_code == 3
    assert "ALARM: the rows have drifted" in " ".join(said.stdout.split())
    state.write_bytes(known)
    result = run("watch", model, folder / "night1.csv", *options, "--delta", "0.01")
    assert result.exit_code == 2
    assert "was begun with delta=0.05" in result.stderr
    assert state.read_bytes() == known


def test_labels_alone_and_rows_alone(folder: Path, tmp_path: Path) -> None:
    model, night = folder / "m.pacb", folder / "night1.csv"
    said = well("watch", model, night, "--target", "label")
    assert "mistakes on 300 labelled rows" in said
    strict = run("watch", model, folder / "changed.csv", "--target", "label", "--error", "0.001")
    assert strict.exit_code == 3
    assert "ALARM: the certificate (error at most 0.1 %) was refuted" in strict.stdout.replace(
        "\n", " "
    )
    found = answer("watch", model, night, "--reference", folder / "reference.csv")
    assert (found["rows"], found["drift"]["compared"]) == (0, 300)
    pytest.importorskip("matplotlib")
    well("watch", model, night, "--target", "label", "--plot", tmp_path / "curves.png")
    assert (tmp_path / "curves.png").stat().st_size > 1000


def test_bad_input(folder: Path, tmp_path: Path) -> None:
    model, night = folder / "m.pacb", folder / "night1.csv"
    result = run("watch", model, night)
    assert result.exit_code == 2
    assert "without --target" in result.stderr
    (tmp_path / "m.watch").write_text("{}")
    result = run("watch", model, night, "--target", "label", "--state", tmp_path / "m.watch")
    assert result.exit_code == 2
    assert "not the file of a monitor" in result.stderr
    result = run("watch", model, night, "--target", "label", "--state", night)
    assert "would be overwritten" in result.stderr
