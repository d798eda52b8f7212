"""``pacboost fit --loss``: a regressor from a file, which predicts, is reported on and exported."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pacboost
from pacboost.boosters.registry import loss_names
from tests.cli.running import answer, run, well, write_csv


def columns(rows: int = 300) -> dict[str, Any]:
    generator = np.random.default_rng(0)
    size, noise = generator.normal(size=(2, rows))
    colour = generator.choice(["red", "green"], size=rows)
    price = np.exp(size + (colour == "red") + 0.1 * noise)
    weight = generator.integers(1, 4, size=rows)
    return {
        "size": size.tolist(), "colour": colour, "weight": weight.tolist(), "price": price.tolist()
    }  # fmt: skip


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return write_csv(tmp_path / "houses.csv", columns())


@pytest.mark.thinned(2)
@pytest.mark.parametrize("loss", loss_names())
def test_every_loss_fits_and_predicts(loss: str, data: Path, tmp_path: Path) -> None:
    model = tmp_path / "m.pacb"
    more = ("--quantile", 0.9) if loss == "quantile" else ()
    arguments = ("fit", data, "--target", "price", "--loss", loss, *more, "--rounds", 20)
    said = answer(*arguments, "--weight", "weight", "--output", model)
    assert (said["estimator"], said["loss"], said["rounds"]) == ("BoostRegressor", loss, 20)
    assert said["training_loss"] > 0
    back, own = pacboost.load(model), columns()
    lines = run("predict", model, data).stdout.splitlines()
    assert lines[0] == "prediction"
    predicted = np.array(lines[1:], dtype=np.float64)
    assert np.corrcoef(predicted, own["price"])[0, 1] > 0.7
    assert back.feature_names_in_.tolist() == ["size", "colour"]


def test_text_report_and_export(data: Path, tmp_path: Path) -> None:
    model = tmp_path / "m.pacb"
    arguments = ("fit", data, "--target", "price", "--loss", "gamma", "--validation", 0.2)
    said = well(*arguments, "--output", model)
    assert "no certificate" in said
    assert "mean gamma" in said
    assert "on the validation rows" in said
    well("report", model, "--data", data, "--target", "price", "--output", tmp_path / "page.html")
    assert "mean absolute error" in (tmp_path / "page.html").read_text(encoding="utf-8")
    result = run("report", model, "--data", data, "--target", "colour")
    assert result.exit_code == 2
    assert "does not hold numbers" in result.stderr
    well("export", model, "--output", tmp_path / "m.py")
    assert "logs=True" in (tmp_path / "m.py").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--target", "price", "--loss", "hubr"), "hubr"),
        (("--target", "price", "--loss", "quantile"), "loss='quantile' needs quantile"),
        (("--target", "price", "--quantile", 0.5), "--quantile requires --loss quantile"),
        (("--target", "price", "--loss", "huber", "--quantile", 0.5), "quantile belongs to"),
        (("--target", "price", "--loss", "huber", "--booster", "logit"), "--booster cannot be"),
        (("--target", "price", "--loss", "huber", "--delta", 0.1), "--delta cannot be"),
        (("--target", "size", "--loss", "poisson"), "predicts counts"),
        (("--target", "colour", "--loss", "huber"), "holds text, such as"),
        (("--target", "price"), "add --loss squared_error"),
    ],
)
def test_what_does_not_fit_together_is_refused(
    arguments: tuple[Any, ...], said: str, data: Path
) -> None:
    result = run("fit", data, *arguments)
    assert result.exit_code == 2
    assert said in " ".join(result.stderr.split())
