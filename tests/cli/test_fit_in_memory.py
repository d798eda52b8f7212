"""``pacboost fit`` by a booster and a learner that were named."""

import warnings
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pacboost
from pacboost.boosters.registry import BOOSTERS, loss_names
from pacboost.cli.inputs.examples import read_examples
from pacboost.errors import InputWarning
from pacboost.sources import arrays, data_file, file_rows
from pacboost.training.run.loop import Run
from pacboost.training.run.rounds import FinishedRound
from tests.cli.running import answer, refused, run, well, write_csv
from tests.grids import each_value, one_in
from tests.worlds import noisy

STUMPS = ["--booster", "adaboost", "--learner", "stump"]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    X, signs = noisy(200, 3, seed=1)
    label = np.where(signs > 0, "yes", "no")
    return write_csv(
        tmp_path / "data.csv", dict(zip("abc", X.T.tolist(), strict=True)) | {"label": label}
    )


def test_fit_writes_a_model_that_predicts(data: Path, tmp_path: Path) -> None:
    model = tmp_path / "model.json"
    options = [*STUMPS, "--rounds", "9", "--certify", "train-error", "--output", model]
    well("fit", data, "--target", "label", *options)
    loaded = pacboost.load(model)
    X, signs = noisy(200, 3, seed=1)
    table = arrays.ArrayTable(X, ("a", "b", "c"))
    direct = pacboost.BoostClassifier("adaboost", "stump", n_estimators=9).fit(
        X, np.where(signs > 0, "yes", "no")
    )
    assert loaded.decision_function(table).tolist() == direct.decision_function(X).tolist()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--target", "nope"], "its columns are 'a', 'b', 'c', 'label'"),
        (["--target", "label", "--rounds", "0"], "n_estimators is 0"),
        (["--target", "label", "--learning-rate", "-1"], "learning_rate is -1"),
        (["--target", "label", "--output", "no/such/folder/m.json"], "folder does not exist"),
        (["--target", "label", "--leaves", "4"], "Stump has no parameter 'max_leaves'"),
        (["--target", "label", "--delta", "2", "--certify", "holdout"], "delta is 2"),
        (["--target", "label", "--learner", "tree", "--leaves", "1"], "max_leaves is 1; it may"),
    ],
)
def test_errors_are_one_sentence(data: Path, arguments: list[str], message: str) -> None:
    assert message in refused("fit", data, *STUMPS, *arguments)


@pytest.fixture
def coloured(tmp_path: Path) -> Path:
    generator = np.random.default_rng(0)
    colour, size = generator.choice(["red", "green", ""], size=200), generator.normal(size=200)
    labels = np.where(size + (colour == "red") > 0.3, "yes", "no")
    columns = {"colour": colour, "size": size.tolist(), "y": labels}
    return write_csv(tmp_path / "coloured.csv", columns)


def test_fit_boosts_trees_on_categories(coloured: Path, tmp_path: Path) -> None:
    model = tmp_path / "m.pacb"
    options = ["--booster", "gentle", "--learner", "tree", "--rounds", "8", "--leaves", "4"]
    said = well("fit", coloured, "--target", "y", *options, "--output", model, "--details")
    assert "certificate" in said
    loaded = pacboost.load(model)
    assert (loaded.booster, loaded.learner, len(loaded.ledger_)) == ("gentle", "tree", 8)
    assert loaded.levels_.to_dict() == {"0": ["green", "red"]}
    read = file_rows.read_csv(coloured, "y", categories=True)
    assert loaded.score(read.table, read.labels) > 0.85


@each_value
@pytest.mark.parametrize("booster", BOOSTERS)
@pytest.mark.parametrize("learner", ["stump", "tree"])
def test_every_booster_is_fitted_saved_and_verified(
    data: Path, tmp_path: Path, booster: str, learner: str
) -> None:
    model = tmp_path / "m.pacb"
    options = ["--booster", booster, "--learner", learner, "--rounds", "7", "--output", model]
    well("fit", data, "--target", "label", *options)
    assert "held-out rows" in well("verify", model)


def test_text_is_a_category_unless_that_is_refused(coloured: Path) -> None:
    common = ["fit", coloured, "--target", "y", "--learner", "tree"]
    assert "2 columns, 1 of numbers and 1" in well(*common)
    assert "hold text, not numbers" in refused(*common, "--no-categories")
    assert "1 column, 1 of numbers" in well(*common, "--no-categories", "--drop", "colour")


def test_a_category_with_a_level_for_every_row_is_no_use(tmp_path: Path) -> None:
    columns = {"note": [f"text {k}" for k in range(400)], "y": ["a", "b"] * 200}
    path = write_csv(tmp_path / "notes.csv", columns)
    assert "it is unique in" in refused("fit", str(path), "--target", "y", "--learner", "tree")


def test_a_column_to_drop_that_is_not_there(coloured: Path) -> None:
    options = ["--target", "y", "--drop", "shape"]
    assert "--drop names 'shape', which" in refused("fit", coloured, *options)


@pytest.mark.parametrize(
    "other", [["--learner", "tree"], ["--booster", "logit"], [*STUMPS, "--leaves", "4"]]
)
def test_resampling_is_for_adaboost_with_stumps(data: Path, other: list[str]) -> None:
    message = refused("fit", data, "--target", "label", "--resample", *other)
    assert "--resample requires --booster adaboost" in message


def test_json_is_all_that_is_printed(data: Path, tmp_path: Path) -> None:
    model = tmp_path / "m.pacb"
    asked = [*STUMPS, "--rounds", "5", "--certify", "holdout", "--output", model]
    found = answer("fit", data, "--target", "label", *asked)
    loaded = pacboost.load(model)
    assert found["certificate"] == loaded.certificate_.to_dict()
    assert found["sentence"].startswith("At most ")
    assert (found["booster"], found["learner"], found["rounds"]) == ("adaboost", "stump", 5)
    assert found["classes"] == ["no", "yes"]
    assert found["model"] == str(model)
    assert found["training_error"] == loaded.ledger_.rounds[-1].training_error


@pytest.mark.parametrize("option", ["--text=a", "--epsilon=0.1", "--groups=a", "--time-column=a"])
def test_what_goes_with_a_choice_of_ours_alone(data: Path, option: str) -> None:
    message = refused("fit", data, "--target", "label", *STUMPS, option)
    assert f"{option.partition('=')[0]} cannot be combined" in message


def test_ctrl_c_keeps_and_shows_what_is_done(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    up_to = Run.up_to

    def interrupted(self: Run, rounds: int) -> Iterator[FinishedRound]:
        yield from islice(up_to(self, rounds), 3)
        raise KeyboardInterrupt

    monkeypatch.setattr(Run, "up_to", interrupted)
    assert "interrupted" in refused(
        "fit", data, "--target", "label", *STUMPS, "--output", tmp_path / "m.pacb", code=130
    )
    assert len(pacboost.load(tmp_path / "m.pacb").ledger_) == 3


# ``pacboost fit --loss``: a regressor from a file, which predicts, is reported on and exported.


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
def houses(tmp_path: Path) -> Path:
    return write_csv(tmp_path / "houses.csv", columns())


@one_in(2)
@pytest.mark.parametrize("loss", loss_names())
def test_every_loss_fits_and_predicts(loss: str, houses: Path, tmp_path: Path) -> None:
    model = tmp_path / "m.pacb"
    more = ("--quantile", 0.9) if loss == "quantile" else ()
    arguments = ("fit", houses, "--target", "price", "--loss", loss, *more, "--rounds", 40)
    said = answer(*arguments, "--weight", "weight", "--output", model)
    assert (said["estimator"], said["loss"], said["rounds"]) == ("BoostRegressor", loss, 40)
    assert said["training_loss"] > 0
    back, own = pacboost.load(model), columns()
    lines = run("predict", model, houses).stdout.splitlines()
    assert lines[0] == "prediction"
    predicted = np.array(lines[1:], dtype=np.float64)
    assert np.corrcoef(predicted, own["price"])[0, 1] > 0.7
    assert back.feature_names_in_.tolist() == ["size", "colour"]


def test_text_report_and_export(houses: Path, tmp_path: Path) -> None:
    model = tmp_path / "m.pacb"
    arguments = ("fit", houses, "--target", "price", "--loss", "gamma", "--validation", 0.2)
    said = well(*arguments, "--output", model)
    assert "pacboost certify" in said
    assert "mean gamma" in said
    assert "on the validation rows" in said
    well("report", model, "--data", houses, "--target", "price", "--output", tmp_path / "page.html")
    assert "mean absolute error" in (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "does not hold numbers" in refused(
        "report", model, "--data", houses, "--target", "colour"
    )
    well("export", model, "--output", tmp_path / "m.py")
    assert "logs=True" in (tmp_path / "m.py").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--target", "price", "--loss", "hubr"), "hubr"),
        (("--target", "price", "--loss", "quantile"), "option --quantile"),
        (("--target", "price", "--quantile", 0.5), "--quantile requires --loss; add it"),
        (("--target", "price", "--loss", "huber", "--quantile", 0.5), "quantile belongs to"),
        (("--target", "price", "--loss", "huber", "--booster", "logit"), "--booster cannot be"),
        (("--target", "price", "--loss", "huber", "--delta", 0.1), "--delta cannot be"),
        (("--target", "size", "--loss", "poisson"), "predicts counts"),
        (("--target", "colour", "--loss", "huber"), "holds text, such as"),
        (("--target", "price"), "add --loss squared_error"),
    ],
)
def test_what_does_not_fit_together_is_refused(
    arguments: tuple[Any, ...], said: str, houses: Path
) -> None:
    assert said in refused("fit", houses, *arguments)


# Constraints on trees, and the share of huber and quantile losses, on the command line.


@pytest.fixture(scope="module")
def sines(tmp_path_factory: pytest.TempPathFactory) -> Path:
    generator = np.random.default_rng(0)
    X = generator.normal(size=(300, 3))
    y = X[:, 0] + 1.5 * np.sin(4 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * generator.normal(size=300)
    columns = dict(zip("abc", X.T.tolist(), strict=True)) | {"number": y.tolist()}
    columns["label"] = np.where(y > 0, "high", "low").tolist()
    return write_csv(tmp_path_factory.mktemp("constraints") / "rows.csv", columns)


NUMBERS = ("--target", "number", "--drop", "label", "--rounds", "30", "--loss")
CLASSES = ("--target", "label", "--drop", "number", "--rounds", "30", "--learner", "tree")


def rows(a: Any) -> Any:
    """Rows with these values of the first column, and 0 in the others."""
    return pytest.importorskip("pandas").DataFrame({"a": a, "b": 0.0, "c": 0.0})


def fitted(sines: Path, *options: str) -> Any:
    model = sines.parent / "m.pacb"
    well("fit", sines, *options, "--output", model)
    return pacboost.load(model)


@pytest.mark.parametrize("options", [(*NUMBERS, "squared_error"), (*CLASSES, "--booster", "logit")])
def test_predictions_only_fall_in_a_column(sines: Path, options: tuple[str, ...]) -> None:
    grid = rows(np.linspace(-3, 3, 50))
    score = "predict" if "--loss" in options else "decision_function"
    free = getattr(fitted(sines, *options), score)(grid)
    assert (np.diff(free) < 0).any()
    sign = 1 if "--loss" in options else -1  # "low" is the second class
    bound = getattr(fitted(sines, *options, "--monotone", f"a={sign:+}"), score)(grid)
    assert (sign * np.diff(bound) >= 0).all()


def asked_together(model: Any) -> set[frozenset[int]]:
    return {
        frozenset(int(tree.feature[split]) for split, _ in tree.path(leaf))
        for tree, _ in model.model_.vote.trees
        for leaf in range(len(tree.values))
    }


def test_columns_are_used_together_as_allowed(sines: Path) -> None:
    options = (*NUMBERS, "squared_error")
    assert any(len(asked) == 3 for asked in asked_together(fitted(sines, *options)))
    apart = fitted(sines, *options, "--interact", "no-interactions")
    assert all(len(asked) <= 1 for asked in asked_together(apart))
    some = fitted(sines, *options, "--interact", "b, c", "--interact", "a")
    allowed = (frozenset({0}), frozenset({1, 2}))
    assert all(any(asked <= one for one in allowed) for asked in asked_together(some))


def test_alpha_is_that_of_huber_and_quantile(sines: Path) -> None:
    low = fitted(sines, *NUMBERS, "quantile", "--alpha", "0.1")
    same = fitted(sines, *NUMBERS, "quantile", "--quantile", "0.1")
    row = rows(np.zeros(1))
    assert low.predict(row) == same.predict(row)
    tight = fitted(sines, *NUMBERS, "huber", "--alpha", "0.5")
    assert tight.predict(row) != fitted(sines, *NUMBERS, "huber").predict(row)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((*NUMBERS, "squared_error", "--alpha", "0.5"), "--alpha belongs to --loss huber"),
        ((*NUMBERS, "quantile", "--alpha", "0.5", "--quantile", "0.5"), "leave one of them out"),
        (("--target", "label", "--alpha", "0.5"), "--alpha requires --loss; add it"),
        (("--target", "label", "--monotone", "a=+1"), "--monotone requires --booster or"),
        (("--target", "label", "--learner", "stump", "--interact", "a,b"), "add --learner tree"),
        ((*NUMBERS, "squared_error", "--monotone", "a"), "as in --monotone age=+1"),
        ((*NUMBERS, "squared_error", "--monotone", "a=2"), "as in --monotone age=+1"),
        ((*NUMBERS, "squared_error", "--monotone", "a=+1", "--monotone", "a=-1"), "both +1 and -1"),
        ((*NUMBERS, "squared_error", "--monotone", "z=+1"), "'z'"),
        ((*NUMBERS, "squared_error", "--interact", "pairwise", "--interact", "a"), "stands alone"),
        ((*NUMBERS, "squared_error", "--interact", "a,z"), "'z'"),
    ],
)
def test_what_makes_no_sense_is_refused(sines: Path, options: tuple[str, ...], said: str) -> None:
    assert said in refused("fit", sines, *options)


# Columns of a file that are read as categories, and were hardly meant as such, are noted.


ROWS = 60


def read(folder: Path, cells: list[str]) -> None:
    path = folder / "rows.csv"
    rows = (f'{k % 7},"{cell}",{"ab"[k % 2]}' for k, cell in enumerate(cells))
    path.write_text("\n".join(["size,price,label", *rows]), encoding="utf-8")
    read_examples(data_file.DataFile(path), "label")


@pytest.mark.parametrize("sign", ["${:.2f}", "{:.2f} €", "{}%", "1'{:03d}"])
def test_signs_beside_numbers_are_noted(tmp_path: Path, sign: str) -> None:
    with pytest.warns(InputWarning, match="'price' holds mostly numbers"):
        read(tmp_path, [sign.format(k) for k in range(ROWS)])


@pytest.mark.parametrize("cell", ["1/{}/24", "{}-12-2024", "{} Dec 2024", "Dec {}, 2024"])
def test_dates_that_are_not_read_are_noted(tmp_path: Path, cell: str) -> None:
    with pytest.warns(InputWarning, match="'price' holds dates such"):
        read(tmp_path, [cell.format(1 + k % 12) for k in range(ROWS)])


def test_classes_that_differ_in_capitals_only_are_noted(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("size,label\n1,yes\n2,Yes\n3,no\n")
    with pytest.warns(InputWarning, match="'Yes' and 'yes' in"):
        read_examples(data_file.DataFile(path), "label")


@pytest.mark.parametrize("levels", [["red", "green", "blue"], ["1", "2", "3", "4 or more"]])
def test_categories_are_not_noted(tmp_path: Path, levels: list[str]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read(tmp_path, [levels[k % len(levels)] for k in range(ROWS)])


@pytest.mark.parametrize(
    ("options", "parameters"),
    [
        (["--booster", "logit"], {"booster": "logit"}),
        (["--booster", "logit", "--quality", "fast"], {"booster": "logit", "quality": "fast"}),
        (["--learner", "stump"], {"learner": "stump"}),
        (["--booster", "logit", "--no-derive"], {"booster": "logit", "derive": False}),
    ],
)
def test_options_mean_what_parameters_mean(
    options: list[str], parameters: dict[str, Any], data: Path, tmp_path: Path
) -> None:
    """What is not an option has the default of the class, such as the number of rounds."""
    model = tmp_path / "m.pacb"
    well("fit", data, "--target", "label", *options, "--certify", "train-error", "-o", model)
    X, signs = noisy(200, 3, seed=1)
    labels = np.where(signs > 0, "yes", "no")
    direct = pacboost.BoostClassifier(**parameters, random_state=0).fit(X, labels)
    scores = pacboost.load(model).decision_function(arrays.ArrayTable(X, ("a", "b", "c")))
    assert scores.tolist() == direct.decision_function(X).tolist()


def test_quality_is_an_option_of_every_fit_in_memory(data: Path) -> None:
    """And of no other: boosting by filtering has no trial."""
    assert answer("fit", data, "--target", "label", "--quality", "fast")["rounds"] == 100
    said = refused("fit", data, "--target", "label", "--quality", "fast", "--filter")
    assert "--quality cannot be combined with boosting by filtering" in said
