"""The first day of a new user: one messy table, from the file to a watched model."""

from __future__ import annotations

import json
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import pacboost
from pacboost.errors import DataError, DataTypeError, InputWarning, NotCertified, ParameterError
from tests.cli.running import answer, refused, run, well

pytestmark = pytest.mark.filterwarnings("ignore::pacboost.errors.InputWarning")
SMALL = ("HA", "VX", "YV")
"""Carriers of few flights each."""


def flights(rows: int, seed: int) -> pd.DataFrame:
    """Dates, yes and no, levels, tail numbers of which many are rare, and booleans as labels."""
    generator = np.random.default_rng(seed)
    hours = generator.integers(0, 365 * 24, rows)
    carrier = generator.choice(["UA", "DL", *SMALL], rows, p=[0.6, 0.385, 0.005, 0.005, 0.005])
    late = (hours % 24 > 15) ^ (generator.random(rows) < 0.08)
    return pd.DataFrame(
        {
            "time_hour": pd.Timestamp("2024-01-01") + pd.to_timedelta(hours, unit="h"),
            "carrier": carrier,
            "tail": np.char.add("N", generator.integers(100, 500, rows).astype(str)),
            "insured": generator.choice(["yes", "no"], rows),
            "late": late,
        }
    )


@dataclass(frozen=True)
class Day:
    """A fitted model, new rows, and the files of both."""

    folder: Path
    model: Any
    new: pd.DataFrame
    X: pd.DataFrame
    y: pd.Series[bool]
    saved: Path
    fresh: Path


@pytest.fixture(scope="module")
def day(tmp_path_factory: pytest.TempPathFactory) -> Day:
    folder = tmp_path_factory.mktemp("day")
    old, new = flights(1500, 0), flights(1000, 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InputWarning)
        model = pacboost.BoostClassifier(n_estimators=20, random_state=0)
        model.fit(old.drop(columns="late"), old["late"])
    model.save(folder / "late.pacb")
    # ten rows without a label, and twenty double entries
    unlabelled = new.astype({"late": object}).iloc[:10].assign(late=None)
    pd.concat([new, new.iloc[:20], unlabelled]).to_csv(folder / "new.csv", index=False)
    X, y = new.drop(columns="late"), new["late"]
    return Day(folder, model, new, X, y, folder / "late.pacb", folder / "new.csv")


def test_notes_and_introduction(day: Day) -> None:
    assert [[name for name in day.X if f"'{name}'" in note] for note in day.model.notes_] == [
        ["insured"],
        ["tail"],
    ]
    assert "certify" in day.model.sentence_
    assert "1,500 rows" in day.model.sentence_


def test_the_certificate_has_one_text_everywhere(day: Day) -> None:
    found = answer("certify", day.saved, day.fresh, "--target", "late")
    certificate = found["certificate"]
    assert certificate["size"] == 1020  # double entries count, rows without a label do not
    again = pacboost.certify(
        day.model, pd.concat([day.X, day.X[:20]]), pd.concat([day.y, day.y[:20]])
    )
    assert certificate["value"] == again.value
    # in a file dates are text, so only the frame says that its rows have times
    assert found["sentence"].startswith(again.sentence.partition(")")[0])
    assert (pd.Series(day.model.predict(day.X)) == day.y).mean() > 0.85


def test_small_groups_are_pooled(day: Day) -> None:
    with pytest.warns(pacboost.errors.TooFewRowsWarning, match=f"{len(SMALL)} groups"):
        family = pacboost.certify_all(day.model, day.X, day.y, by="carrier")
    assert [one.details["group"] for one in family.certificates] == ["DL", "UA", "other"]


def test_arguments_in_the_wrong_places_are_named(day: Day) -> None:
    with pytest.raises(ParameterError) as swapped:
        pacboost.certify(day.model, day.y, day.X)
    assert swapped.value.parameter == "X"
    with pytest.raises(ParameterError) as model_last:
        pacboost.compare_models(day.X, day.model, day.model, day.y)
    assert model_last.value.parameter == "X"
    with pytest.raises(DataTypeError, match="certify_all"):
        pacboost.certify(day.model, day.X, day.y, by="carrier")  # type: ignore[call-arg]
    assert "did you mean 0.95" in refused(
        "threshold", day.saved, day.fresh, "--target", "late", "--recall", "95", "--output", "t"
    )


def test_answers_that_are_no_labels(day: Day) -> None:
    truth = np.where(day.y, "yes", "no")
    with pytest.raises(DataError, match=r"'yes\.'"):
        pacboost.certify(pacboost.answers(["yes."] * 1000), y=truth)
    with pytest.raises(DataError):
        pacboost.certify(pacboost.answers(day.model.predict_proba(day.X)[:, 1]), y=day.y)
    with pytest.warns(InputWarning, match="300 of 1,000"):
        said = pacboost.certify(pacboost.answers([*["yes."] * 300, *truth[300:]]), y=truth)
    assert said.inputs["k"] == 300


def test_training_rows_are_refused_and_copies_have_a_way_out(day: Day) -> None:
    X = pd.concat([day.new, flights(1500, 0)[:100]])
    y = X.pop("late")
    with pytest.raises(NotCertified, match="copies='distinct'"):
        pacboost.certify(day.model, X, y)
    assert pacboost.certify(day.model, X, y, copies="distinct").size <= 1000


def test_explanations_are_in_the_words_of_the_table(day: Day) -> None:
    evening = pd.Timestamp("2024-05-01 18:00")
    row = {"time_hour": evening, "carrier": "UA", "tail": "N1", "insured": "yes"}
    words = [entry.words for entry in day.model.explain(row).entries]
    assert "time_hour: hour = 18" in words
    assert "tail = N1, one of the others" in words
    reply = answer("ask", day.saved, "carrier=UA", "time_hour=2024-05-01 18:00")["answers"][0]
    assert json.dumps(reply).count("time_hour: hour = 18")
    assert "did you mean 'carrier'" in refused("ask", day.saved, "carier=UA")
    assert day.model.importances().to_frame()["column"][0] == "time_hour: hour"


def test_report_and_two_watches(day: Day) -> None:
    well("report", day.saved, "--output", day.folder / "page.html")
    page = (day.folder / "page.html").read_text(encoding="utf-8")
    assert "Nothing is certified yet" in page
    assert "object at 0x" not in page
    watch = ("watch", day.saved, day.fresh, "--target", "late", "--error", "0.2", "--state")
    state = day.folder / "state.json"
    well(*watch, state)
    assert "--again" in refused(*watch, state)
    assert run(*watch, state, "--again").exit_code == 0


@pytest.mark.parametrize(
    ("call", "advice"),
    [
        (lambda m, X, y: pacboost.certify(m, X, y, alpha=0.1), "delta=0.05"),  # type: ignore[call-arg]
        (lambda m, X, y: pacboost.certify(m, X, y, confidence=0.95), "delta=0.05"),  # type: ignore[call-arg]
        (lambda m, X, y: pacboost.certify(m, X, y, positive=True), "measures.recall(positive)"),  # type: ignore[call-arg]
        (lambda m, X, y: pacboost.certify(m, X, y, clip=3), "absolute_error(clip=120)"),  # type: ignore[call-arg]
        (lambda m, X, y: pacboost.certify(m, X, y, delta=95), "95 % confidence is delta=0.05"),
        (lambda m, X, y: pacboost.certify(m, X, y, of="absolute_error"), "a largest error"),
        (lambda m, X, y: pacboost.sets(m, X, y, alpha=0.1), "coverage=0.9"),  # type: ignore[call-arg]
        (lambda m, X, y: pacboost.BoostClassifier().fit(X, y, groups=y), "StrongClassifier.fit"),  # type: ignore[call-arg]
        (lambda m, X, y: m.predict(X.to_numpy()), "pass a frame"),
    ],
)
def test_words_of_other_libraries_are_answered(day: Day, call: Any, advice: str) -> None:
    with pytest.raises((TypeError, ValueError)) as refused:
        call(day.model, day.X, day.y)
    assert advice in str(refused.value)


def test_words_of_other_programs_are_answered(day: Day) -> None:
    for advice, *line in (
        ("'tail' was read as a second file", "fit", day.fresh, "--target", "late",
         "--categories", "tail"),
        ("did you mean 'carrier'?", "fit", day.fresh, "--target", "late", "--drop", "carier"),
        ("--recall", "threshold", day.saved, day.fresh, "--target", "late"),
        ("did you mean", "threshold", day.saved, day.fresh, "--target", "late", "--recall", "0.8",
         "--positive", "Ture"),
        ("there is no such file", "lab", day.folder / "nofile.csv"),
    ):  # fmt: skip
        assert advice in " ".join(refused(*line).split())
    assert answer("demo", "--theory")["points"]["training_error"] == 0
    found = run("verify", day.saved)
    assert "It holds no certificate about new examples" in " ".join(found.output.split())


def test_a_printed_certificate_says_what_was_seen(day: Day) -> None:
    certificate = pacboost.certify(day.model, day.X, day.y)
    first, *facts = str(certificate).splitlines()
    assert first == certificate.sentence
    assert "Always saying" in first
    assert any("wrong on" in line and "of 1,000 rows" in line for line in facts)


def test_names_are_those_of_the_columns_given(day: Day) -> None:
    names = day.model.feature_names_in_.tolist()
    assert names == list(day.X)
    assert day.model.n_features_in_ == len(names)
    assert np.array_equal(day.model.predict(day.X.assign(more=1)[names]), day.model.predict(day.X))
