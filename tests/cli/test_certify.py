"""``pacboost certify`` as a user runs it."""

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pacboost
from pacboost.bounds.family import Family
from pacboost.bounds.shift import stays
from pacboost.questions.answering import certify_answers
from pacboost.questions.certify import certify
from pacboost.sources.file_rows import read_csv
from tests.cli.running import answer, people, refused, run, well, write_csv


def houses(rows: int, seed: int) -> dict[str, Any]:
    generator = np.random.default_rng(seed)
    size, age = generator.random((2, rows))
    price = 3 * size - age + 0.3 * generator.normal(size=rows)
    return {"size": size.tolist(), "age": age.tolist(), "price": price.tolist()}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A classifier, a regressor, and files of rows that are new to them."""
    folder: Path = tmp_path_factory.mktemp("certify")
    generator, fresh = np.random.default_rng(3), people(500, 1)
    who, region = [k // 5 for k in range(500)], generator.choice(["north", "south"], size=500)
    order = sorted(range(500), key=lambda row: str(fresh["label"][row]))
    part = generator.choice(["north", "south"], size=600)
    files = {
        "train": people(300, 0), "fresh": {**fresh, "who": who, "region": region},
        "sorted": {name: [cells[row] for row in order] for name, cells in fresh.items()},
        "many": people(700, 1), "later": people(500, 2), "parts": {**people(600, 1), "part": part},
        "new": {**people(400, 2), "part": ["north", "south"] * 200},
        "moved": {**(more := people(700, 5)), "size": [own + 1 for own in more["size"]]},
        "weighed": {**people(900, 6), "w": generator.choice([0.25, 1.5], size=900).tolist()},
        "houses": houses(400, 0), "sold": houses(500, 1),
    }  # fmt: skip
    for name, columns in files.items():
        write_csv(folder / f"{name}.csv", columns)
    fit = ["--booster", "logit", "--learner", "tree", "--rounds", "100", "--output"]
    well("fit", folder / "train.csv", "--target", "label", *fit, folder / "m.pacb")
    fit = ["--loss", "squared_error", "--rounds", "20", "--output"]
    well("fit", folder / "houses.csv", "--target", "price", *fit, folder / "n.pacb")
    return folder


def asked(folder: Path, *options: str) -> list[object]:
    return ["certify", folder / "m.pacb", folder / "fresh.csv", "--target", "label", *options]


def test_python_is_not_spoken_of(folder: Path) -> None:
    """Sentences that name functions and parameters for others name commands and options here."""
    message = refused(*asked_for_threshold(folder, "--recall", "0.9999"), code=1)
    assert "recall 0.9999" in message
    assert "recall=" not in message
    sold = ["certify", folder / "n.pacb", folder / "sold.csv", "--target", "price", "--of"]
    assert "--clip" in refused(*sold, "absolute_error")


def test_it_says_what_python_says(folder: Path) -> None:
    read = read_csv(write_csv(folder / "same.csv", people(500, 1)), "label", categories=True)
    direct = certify(pacboost.load(folder / "m.pacb"), read.table, read.labels, delta=0.1)
    found = answer(*asked(folder, "--delta", "0.1"))
    assert found["certificate"] == direct.to_dict()
    assert found["met"] is None
    shown = well(*asked(folder, "--delta", "0.1"))
    assert shown.startswith(found["sentence"])
    assert f"{direct.inputs['k']} mistakes on 500 rows" in shown


@pytest.mark.parametrize(("epsilon", "code"), [("0.5", 0), ("0.01", 1)])
def test_an_error_that_is_wanted(folder: Path, epsilon: str, code: int) -> None:
    found = answer(*asked(folder, "--epsilon", epsilon), code=code)
    assert found["met"] is (code == 0)
    result = run(*asked(folder, "--epsilon", epsilon))
    assert result.exit_code == code
    assert ("NO." in result.stdout) is (code == 1)


def test_shares_of_classes_and_how_far_the_world_may_move(folder: Path) -> None:
    read = read_csv(write_csv(folder / "same.csv", people(500, 1)), "label", categories=True)
    model = pacboost.load(folder / "m.pacb")
    shares = {"yes": (0.3, 0.4), "no": (0.6, 0.7)}
    for text, given in (("yes=.3:.4,no=.6:.7", shares), ("yes=1,no=0", {"yes": 1, "no": 0})):
        direct = certify(model, read.table, read.labels, shift=pacboost.shift.shares(given))
        assert answer(*asked(folder, "--shares", text))["certificate"] == direct.to_dict()
    assert "whatever the shares" in well(*asked(folder, "--shares", "any"))
    for wrong in ("yes=half", "yes=.5", "yes=.5,no=.6", "some"):
        refused(*asked(folder, "--shares", wrong))
    refused(*asked(folder, "--shares", "any", "--of", "recall"))
    until = answer(*asked(folder, "--epsilon", "0.5"))["stays"]
    assert until == stays(certify(model, read.table, read.labels), 0.5)
    assert until in well(*asked(folder, "--epsilon", "0.5"))


def test_groups_order_and_several_models(folder: Path) -> None:
    plain = answer(*asked(folder))["certificate"]
    grouped = answer(*asked(folder, "--groups", "who"))["certificate"]
    assert (grouped["bound"], grouped["size"]) == ("dependent.group_bets", 100)
    ordered = answer(*asked(folder, "--ordered"))["certificate"]
    assert ordered["bound"] == "dependent.ordered_mixture"
    several = answer(*asked(folder, "--models", "20"))["certificate"]
    assert several["value"] > plain["value"]
    recall = asked(folder, "--of", "recall", "--groups", "who")
    assert "cannot be certified with groups" in refused(*recall, code=1)


def test_answers_of_which_it_is_confident(folder: Path) -> None:
    read = read_csv(write_csv(folder / "same.csv", people(500, 1)), "label", categories=True)
    model = pacboost.load(folder / "m.pacb")
    direct = certify_answers(model, read.table, read.labels, target_error=0.05)
    found = answer(*asked(folder, "--target-error", "0.05"))
    assert found["certificate"] == direct.certificate.to_dict()
    assert found["answering"]["chosen"] == direct.chosen
    assert "the new examples it" in well(*asked(folder, "--abstain-below", "0.9"))
    for part in ("answered held-out rows", "Always saying '", "It answers between", "Next: "):
        assert part in found["sentence"]
    refused(*asked(folder, "--target-error", "0.0001"), code=1)
    refused(*asked(folder, "--target-error", "0.1", "--ordered"))


def test_labels_that_are_numbers(tmp_path: Path) -> None:
    X = np.random.default_rng(0).normal(size=(400, 1))
    number = (X[:, 0] > 0).astype(int)
    pacboost.AdaBoostClassifier(n_estimators=2).fit(X, number).save(tmp_path / "m.pacb")
    fresh = np.random.default_rng(1).normal(size=100)
    for written in (fresh > 0).astype(int), (fresh > 0).astype(float):
        path = write_csv(tmp_path / "rows.csv", {"x": fresh.tolist(), "y": written.tolist()})
        found = answer("certify", tmp_path / "m.pacb", path, "--target", "y")
        assert found["certificate"]["inputs"]["k"] <= 2
    strange = [7, *(fresh > 0).astype(int).tolist()[1:]]
    path = write_csv(tmp_path / "rows.csv", {"x": fresh.tolist(), "y": strange})
    more = answer("certify", tmp_path / "m.pacb", path, "--target", "y")
    assert more["certificate"]["inputs"]["k"] == found["certificate"]["inputs"]["k"] + 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--target", "nope"], "has no column 'nope'"),
        (["--target", "label", "--groups", "nope"], "has no column 'nope'"),
        (["--target", "label", "--epsilon", "1.5"], "epsilon is 1.5"),
        (["--target", "label", "--models", "0"], "models is 0"),
        (["--target", "weight"], "holds none of the classes"),
        (["--target", "label", "--of", "recal"], "of is 'recal'"),
        (["--target", "label", "--of", "recall", "--positive", "maybe"], "the classes are no, yes"),
        (["--target", "label", "--cost", "yes-no"], "TRUE:SAID=NUMBER"),
        (["--target", "label", "--of", "recall", "--epsilon", "0.1"], "--epsilon certifies"),
    ],
)
def test_errors_are_one_sentence(folder: Path, options: list[str], message: str) -> None:
    assert message in refused("certify", folder / "m.pacb", folder / "fresh.csv", *options)


# ``pacboost certify --of``: what Python says, for saved classifiers and regressors.


def test_one_measure(folder: Path) -> None:
    found = answer(*asked(folder, "--of", "recall"))
    assert found["of_what"] == "recall"
    assert found["details"]["class"] == "yes"
    said = well(*asked(folder, "--of", "recall", "--positive", "no"))
    assert said.startswith("Of the new examples of class 'no'")
    assert "95 % confidence" in said


def test_a_family_by_groups(folder: Path) -> None:
    found = answer(*asked(folder, "--of", "recall", "--by", "region", "--end", "both"))
    family = Family.from_dict(found)
    assert {own.details["group"] for own in family} == {"north", "south"}
    assert all(check.holds for check in pacboost.verify(family))
    said = well(*asked(folder, "--of", "recall", "--by", "region", "--end", "both"))
    assert f"Worst group: {family.worst_group}." in said
    assert "two of the groups" in said


def test_costs(folder: Path) -> None:
    options = ("--cost", "yes:no=5", "--cost", "no:yes=1")
    found = answer(*asked(folder, *options))
    assert found["of_what"] == "cost"
    assert found["inputs"]["scale"] == 5
    both = answer(*asked(folder, "--of", "error,auc", *options))
    assert [own["of_what"] for own in both["certificates"]] == ["error", "auc", "cost"]


def test_regressors(tmp_path: Path) -> None:
    generator = np.random.default_rng(0)
    rows = generator.normal(size=(700, 2))
    target = rows[:, 0] + generator.normal(size=700) / 4
    model = pacboost.BoostRegressor(n_estimators=20, random_state=0).fit(rows[:400], target[:400])
    model.save(tmp_path / "m.pacb")
    held = {"a": rows[400:, 0].tolist(), "b": rows[400:, 1].tolist(), "y": target[400:].tolist()}
    data = write_csv(tmp_path / "fresh.csv", held)
    common = ["certify", tmp_path / "m.pacb", data, "--target", "y"]
    found = answer(*common, "--of", "large_errors", "--larger-than", "1")
    direct = pacboost.certify(
        model, rows[400:], target[400:], of=pacboost.measures.large_errors(larger_than=1.0)
    )
    assert found["value"] == direct.value
    assert "--of absolute_error" in refused(*common)


# ``pacboost threshold``: what Python says, a file that keeps it, and refusals.


def asked_for_threshold(folder: Path, *options: object) -> list[object]:
    return ["threshold", folder / "m.pacb", folder / "many.csv", "--target", "label", *options]


def test_the_file_keeps_the_threshold(folder: Path) -> None:
    careful = folder / "careful.pacb"
    found = answer(*asked_for_threshold(folder, "--recall", "0.9", "--output", careful))
    assert found["certificate"]["of_what"] == "recall"
    assert found["certificate"]["value"] >= 0.9
    model = pacboost.load(careful)
    assert model.threshold_ == found["threshold"]
    later = folder / "later.csv", "--target", "label"
    assert "yes" in well("predict", careful, *later)
    assert answer("certify", careful, *later, "--of", "recall")["value"] > 0.8
    refused("certify", careful, folder / "many.csv", "--target", "label", code=1)
    assert "finds at least" in well("verify", careful)
    well("report", careful, "--output", folder / "page.html")
    assert "finds at least" in (folder / "page.html").read_text(encoding="utf-8")
    assert "finds at least" in well("inspect", careful)


def test_answers_that_are_right(folder: Path) -> None:
    modest = folder / "modest.pacb"
    found = answer(*asked_for_threshold(folder, "--target-error", "0.08", "--output", modest))
    assert found["certificate"]["value"] <= 0.08
    assert pacboost.choose_threshold(pacboost.load(modest)).threshold_ == found["threshold"]
    assert "of the new examples" in well(*asked_for_threshold(folder, "--target-error", "0.08"))


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        ((), 2, "one goal: --recall, --precision"),
        (("--recall", "0.9", "--precision", "0.9"), 2, "exactly one"),
        (("--recall", "0.9999"), 1, "needs at least 29,956 rows"),
        (("--cost", "much"), 2, "MISS,ALARM"),
        (("--recall", "0.9", "--positive", "perhaps"), 2, "the classes are no, yes"),
    ],
)
def test_bad_input_to_threshold(
    folder: Path, options: tuple[str, ...], code: int, words: str
) -> None:
    assert words in refused(*asked_for_threshold(folder, *options), code=code)


# ``pacboost sets`` and ``pacboost intervals``: kept in files, and used by predict.


def asked_for_sets(folder: Path, *options: object) -> list[object]:
    files = folder / "m.pacb", folder / "parts.csv"
    return ["sets", *files, "--target", "label", "--drop", "part", *options]


def table(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_sets_are_kept_and_used(folder: Path) -> None:
    kept, out = folder / "sure.pacb", folder / "out.csv"
    found = answer(*asked_for_sets(folder, "--coverage", "0.85", "--output", kept))
    assert found["value"] >= 0.85
    made: Any = pacboost.sets(pacboost.load(kept)).certificate_
    assert made.value == found["value"]
    well("predict", kept, folder / "new.csv", "--sets", "--proba", "--output", out)
    rows = table(out)
    held = [set(row["set"].split("|")) for row in rows]
    assert all(row["prediction"] in own for row, own in zip(rows, held, strict=True))
    truth = people(400, 2)["label"]
    assert np.mean([own in sets for own, sets in zip(truth, held, strict=True)]) > 0.8
    assert "calibration of sets or" in well("verify", kept)
    assert "prediction set holds the" in well(*asked_for_sets(folder))


def test_sets_of_groups_and_classes(folder: Path) -> None:
    kept, out = folder / "groups.pacb", folder / "out.csv"
    found = answer(*asked_for_sets(folder, "--by", "part", "--output", kept))
    assert [own["details"]["group"] for own in found["certificates"]] == ["north", "south"]
    assert pacboost.sets(pacboost.load(kept)).rule.groups == ("north", "south")
    well("predict", kept, folder / "new.csv", "--sets", "--by", "part", "--output", out)
    assert "give the group of" in refused("predict", kept, folder / "new.csv", "--sets")
    said = well(*asked_for_sets(folder, "--by-class", "--method", "raps"))
    assert "Of the new examples" in said


def test_intervals_are_kept_and_used(folder: Path) -> None:
    kept, out = folder / "wide.pacb", folder / "out.csv"
    command = ["intervals", folder / "n.pacb", folder / "sold.csv", "--target", "price"]
    found = answer(*command, "--output", kept)
    assert found["value"] >= 0.9
    write_csv(folder / "market.csv", houses(300, 2))
    well("predict", kept, folder / "market.csv", "--intervals", "--output", out)
    inside = [
        float(row["low"]) <= price <= float(row["high"])
        for row, price in zip(table(out), houses(300, 2)["price"], strict=True)
    ]
    assert np.mean(inside) > 0.85
    assert "The prediction interval holds" in well(*command)


@pytest.mark.parametrize(
    ("command", "code", "words"),
    [
        (["sets", "n.pacb", "sold.csv", "--target", "price"], 2, "for those there is pacboost int"),
        (["intervals", "m.pacb", "new.csv", "--target", "label", "--drop", "part"], 2,
         "for those there is pacboost sets"),
        (["sets", "m.pacb", "train.csv", "--target", "label"], 1, "trained"),
        (["sets", "m.pacb", "parts.csv", "--target", "label", "--drop", "part", "--coverage",
          "0.999"], 1, "needs at least 2,995 rows"),
        (["predict", "m.pacb", "new.csv", "--sets"], 2, "holds no sets; calibrate them"),
        (["predict", "n.pacb", "houses.csv", "--intervals"], 2, "holds no intervals"),
    ],
)  # fmt: skip
def test_refusals(folder: Path, command: list[str], code: int, words: str) -> None:
    names = [folder / own if own.endswith((".pacb", ".csv")) else own for own in command]
    assert words in refused(*names, code=code)


def test_a_world_that_has_moved(folder: Path) -> None:
    """A column of ratios, or rows without labels, say which examples are spoken of."""
    asked = ["certify", folder / "m.pacb", folder / "weighed.csv", "--target", "label"]
    known = answer(*asked, "--ratio-column", "w", "--ratio-bound", "2", "--seed", "3")
    rows = read_csv(folder / "weighed.csv", "label", categories=True)
    found = known["certificate"]
    assert found["details"] == {"ratio_bound": 2.0, "offered": rows.table.n_rows, "seed": 3}
    assert known["sentence"].startswith("On examples that the ratio")
    groups = ["--by", "colour", "--of", "error"]
    family = answer(*asked, "--ratio-column", "w", "--ratio-bound", "2", "--seed", "3", *groups)
    assert sum(own["size"] for own in family["certificates"]) == found["size"]
    learned = answer(*asked, "--drop", "w", "--new-rows", folder / "moved.csv")["certificate"]
    assert learned["details"]["learned"] == 1
    assert learned["sample"]["moved"][0][0] == "size"
    sets = ["sets", *asked[1:], "--drop", "w", "--new-rows", folder / "moved.csv"]
    assert "learned weights describe" in answer(*sets)["sentence"]
    assert "--ratio-bound" in refused(*asked, "--ratio-column", "w")
    assert "may not be raised" in refused(*asked, "--ratio-column", "w", "--ratio-bound", "1")
    assert "does not hold numbers" in refused(*asked, "--ratio-column", "colour")
    words = refused(*asked, "--ratio-column", "w", "--abstain-below", "0.9")
    assert "leave them out" in words
