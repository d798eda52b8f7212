"""Rows of files that are sorted: commands say so, or refuse."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import answer, people, run, well, write_csv


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("order")
    write_csv(folder / "train.csv", people(300, 0))
    columns = people(500, 1)
    write_csv(folder / "fresh.csv", columns)
    order = sorted(range(500), key=lambda row: str(columns["label"][row]))
    by_class = {name: [own[row] for row in order] for name, own in columns.items()}
    write_csv(folder / "sorted.csv", by_class)
    fit = ["--booster", "logit", "--learner", "tree", "--rounds", "9", "--output"]
    well("fit", folder / "train.csv", "--target", "label", *fit, folder / "m.pacb")
    return folder


@pytest.mark.parametrize(
    "more",
    [
        ["certify"],
        ["certify", "--of", "recall"],
        ["certify", "--target-error", "0.3"],
        ["threshold", "--recall", "0.8"],
    ],
)
def test_sorted_rows_are_seen(folder: Path, more: list[str]) -> None:
    def asked(file: str, *options: str) -> list[object]:
        return [more[0], folder / "m.pacb", folder / file, "--target", "label", *more[1:], *options]

    assert answer(*asked("fresh.csv", "--order", "refuse"))["order"]["by_chance"] is True
    found = answer(*asked("sorted.csv"))
    assert found["order"]["findings"][0]["what"] in ("mistakes", "labels")
    result = run(*asked("sorted.csv"))
    assert (result.exit_code, result.output.count("not in an order by chance")) == (0, 1)
    result = run(*asked("sorted.csv", "--order", "refuse"))
    assert result.exit_code == 1
    assert "not in an order by chance" in result.output
    assert "order" not in answer(*asked("sorted.csv", "--order", "any"))


def test_rows_in_the_order_of_time_are_not_tested(folder: Path) -> None:
    asked = ["certify", folder / "m.pacb", folder / "sorted.csv", "--target", "label", "--ordered"]
    assert "order" not in answer(*asked, "--order", "refuse")
