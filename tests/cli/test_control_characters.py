"""Text of strangers: a terminal does not obey it, and a spreadsheet does not run it."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

import pacboost
from pacboost.cli.main import main
from pacboost.cli.output import make_console
from pacboost.numerics.percent import guarded, visible

ESCAPE = "\x1b[31mred"


def rows(path: Path, labels: tuple[str, str], name: str = "size") -> Path:
    lines = [f"{k % 17},{labels[k % 17 > 8]}" for k in range(200)]
    path.write_text("\n".join([f"{name},label", *lines]) + "\n", encoding="utf-8")
    return path


def run(*words: object) -> str:
    done = CliRunner().invoke(main, [str(word) for word in words], color=True)
    assert done.exit_code in (0, 1), done.output
    return done.output


def test_labels_and_names_with_escapes_are_shown_not_obeyed(tmp_path: Path) -> None:
    data = rows(tmp_path / "rows.csv", (ESCAPE, "blue"), ESCAPE)
    model = tmp_path / "model.pacb"
    said = run("fit", data, "--target", "label", "--output", model)
    said += run("inspect", model) + run("verify", model)
    said += run("predict", model, data, "--output", tmp_path / "answers.csv")
    assert "\x1b[31m" not in said
    assert "\u241b[31m" in said


def test_errors_with_escapes_are_shown_not_obeyed(tmp_path: Path) -> None:
    data = rows(tmp_path / "rows.csv", ("a", "b"), ESCAPE)
    done = CliRunner().invoke(main, ["fit", str(data), "--target", "\x1b]0;title\x07"], color=True)
    assert done.exit_code == 2
    assert "\x1b" not in done.output


def test_tables_show_control_characters() -> None:
    from io import StringIO

    from rich.table import Table

    table = Table("name")
    table.add_row(ESCAPE)
    page = StringIO()
    make_console(file=page, force_terminal=True).print(table)
    assert "\u241b[31m" in page.getvalue()
    assert "\x1b[31m" not in page.getvalue()


def test_formulas_are_guarded_unless_asked_for(tmp_path: Path) -> None:
    data = rows(tmp_path / "rows.csv", ("=1+1", "@b"))
    model, answers = tmp_path / "model.pacb", tmp_path / "answers.csv"
    run("fit", data, "--target", "label", "--output", model)
    run("predict", model, data, "--output", answers)
    assert set(answers.read_text().split()[1:]) == {"'=1+1", "'@b"}
    run("predict", model, data, "--raw", "--output", answers)
    assert set(answers.read_text().split()[1:]) == {"=1+1", "@b"}


@pytest.mark.parametrize("text", ["a\nb\tc", "äöü", "日本", "−"])
def test_plain_text_stays_as_it_is(text: str) -> None:
    assert visible(text) == text
    assert guarded(text) == text


@pytest.mark.parametrize("more", [(), ("--drop", "x"), ("--loss", "squared_error")])
def test_a_file_that_holds_only_the_target(tmp_path: Path, more: tuple[str, ...]) -> None:
    data = tmp_path / "rows.csv"
    data.write_text("label\n1\n0\n1\n")
    done = CliRunner().invoke(main, ["fit", str(data), "--target", "label", *more])
    assert done.exit_code == 2
    assert "at least one more" in done.output


def test_reports_escape_markup(tmp_path: Path) -> None:
    X = [[k % 17] for k in range(200)]
    y = ["<script>alert(1)</script>" if k % 17 > 8 else "b" for k in range(200)]
    pacboost.AdaBoostClassifier(n_estimators=3).fit(X, y).report(tmp_path / "page.html")
    assert "<script>alert" not in (tmp_path / "page.html").read_text(encoding="utf-8")
