"""Whatever rows come in: frames, files, sparse matrices and mixed tables give the same answers."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from click.testing import CliRunner
from scipy import sparse

import pacboost
from pacboost.cli.main import main
from pacboost.errors import DataError, FileError, ParameterError
from pacboost.estimators.strong import reading
from pacboost.estimators.strong.classifier import StrongClassifier
from pacboost.fit.roles import RolesAsk, divide
from pacboost.samples.same_example import Examples
from pacboost.sources import data_file
from tests.worlds import noisy

X, Y = noisy(300, 3, seed=1, noise=0.1)
CITIES = np.array(["Rome", "Bern", "Oslo"])[np.arange(300) % 3]
FRAME = pd.DataFrame(
    {
        "a": X[:, 0],
        "b": X[:, 1],
        "c": X[:, 2],
        "city": CITIES,
        "label": np.where(Y > 0, "yes", "no"),
    }
)
SAID = [
    f"please {'block my card' if sign > 0 else 'top me up'} number {i}" for i, sign in enumerate(Y)
]


def strong(**more: Any) -> StrongClassifier:
    return StrongClassifier(n_estimators=8, random_state=0, **more)


@pytest.mark.parametrize("make", [lambda f: f, pl.from_pandas, pa.Table.from_pandas])
def test_frames_name_the_column_of_labels(make: Callable[[Any], Any]) -> None:
    apart = strong().fit(FRAME.drop(columns="label"), FRAME["label"])
    named = strong().fit(make(FRAME), "label")
    assert named.feature_names_in_.tolist() == ["a", "b", "c", "city"]
    assert named.certificate_ == apart.certificate_
    assert np.array_equal(named.predict(make(FRAME)), apart.predict(FRAME.drop(columns="label")))


@pytest.mark.parametrize("kind", ["csv", "parquet", "feather"])
def test_a_file_is_read_as_its_frame(tmp_path: Path, kind: str) -> None:
    path = tmp_path / f"rows.{kind}"
    getattr(FRAME, f"to_{kind}")(path, **{"index": False} if kind == "csv" else {})
    model = strong().fit(path, "label")
    assert model.certificate_ == strong().fit(FRAME, "label").certificate_
    assert model.predict(FRAME).shape == (300,)
    assert strong().fit(str(path), "label").sentence_ == model.sentence_


def test_a_large_file_is_drawn_from(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "rows.csv"
    FRAME.drop(columns="city").to_csv(path, index=False)
    monkeypatch.setattr(data_file, "MAX_TEXT_BYTES", 1000)
    model = StrongClassifier(n_estimators=3, random_state=0).fit(path, "label")
    assert model.ledger_.refills
    assert 0 < model.certificate_.size < 100
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    assert model.predict(FRAME[["a", "b", "c"]]).shape == (300,)


def test_no_rows_are_an_error() -> None:
    with pytest.raises(DataError, match="X has no rows"):
        StrongClassifier().fit(np.zeros((0, 3)), [])


def test_sparse_rows_are_those_of_the_dense_matrix() -> None:
    rows = np.where(np.abs(X) < 0.5, 0.0, X)
    dense = strong().fit(rows, Y)
    for kind in (sparse.csr_matrix, sparse.csc_array):
        model = strong().fit(kind(rows), Y)
        assert model.certificate_ == dense.certificate_
        assert np.array_equal(model.decision_function(kind(rows)), dense.decision_function(rows))


@pytest.mark.parametrize("make", [lambda f: f, pl.from_pandas])
def test_columns_that_read_like_sentences_are_texts(make: Callable[[Any], Any]) -> None:
    frame = make(FRAME.assign(said=SAID))
    model = strong().fit(frame, "label")
    assert model.model_.text is not None
    assert "'said' holds texts" in model.choice_
    assert (model.predict(frame) == FRAME["label"].to_numpy()).mean() > 0.9


def test_text_columns_can_be_named_or_denied(tmp_path: Path) -> None:
    frame = pd.DataFrame({"said": ["lost card", "top up"] * 30, "label": ["card", "top"] * 30})
    named = strong(text_columns=["said"]).fit(frame, "label")
    assert named.model_.text is not None
    assert strong().fit(frame, "label").model_.text is None
    path = tmp_path / "said.csv"
    frame.to_csv(path, index=False)
    from_file = strong(text_columns=["said"]).fit(path, "label")
    assert from_file.predict(frame).tolist() == frame["label"].tolist()


def test_which_columns_are_texts_is_not_seen_from_certifying_rows() -> None:
    seed = int(np.random.RandomState(0).randint(2**31))
    apart = np.random.default_rng(seed).permutation(300)[:60]
    cells = np.array(["short"] * 300, dtype=object)
    cells[apart] = [SAID[i] for i in apart]
    model = strong().fit(FRAME.assign(said=cells), "label")
    assert model.model_.text is None
    assert model.levels_.columns[4] == ("short",)


def test_groups_are_set_apart_as_a_whole() -> None:
    groups = np.arange(300) // 5
    model = strong().fit(X, Y, groups=groups)
    assert model.parts_ == {"learn": 215, "watch": 25, "certify": 60}
    assert model.certificate_.bound == "dependent.group_bets"
    assert model.certificate_.size == 12
    assert "every group counts once" in model.sentence_
    by_name = strong().fit(FRAME.assign(patient=groups), "label", groups="patient")
    assert by_name.certificate_.size == 12
    assert "patient" not in by_name.feature_names_in_


def test_the_latest_rows_certify() -> None:
    times = np.random.default_rng(0).permutation(300)
    latest = times >= 240
    model = strong(delta=0.1).fit(X, Y, time=times)
    assert model.certificate_.bound == "dependent.ordered_mixture"
    assert model.certificate_.inputs["k"] == int(model.mistakes(X[latest], Y[latest]).sum())
    days = pd.Timestamp("2024-01-01") + pd.to_timedelta(times, unit="D")
    for column in (days, days.strftime("%Y-%m-%d")):
        dated = strong(delta=0.1).fit(FRAME.assign(day=column), "label", time="day")
        assert dated.certificate_.size == 60
        assert "day" not in dated.feature_names_in_


@pytest.mark.parametrize(
    ("call", "kind", "complaint"),
    [
        (lambda: strong().fit(X, "label"), ParameterError, "columns of X have no names"),
        (lambda: strong().fit(FRAME, "nope"), DataError, "'nope', which is not a column"),
        (lambda: strong().fit("nowhere.csv", "y"), FileError, "no such file"),
        (lambda: strong().fit("nowhere.csv"), ParameterError, "name the column"),
        (lambda: strong().fit(X, Y, groups=Y, time=Y), ParameterError, "both given"),
        (lambda: strong().fit(X, Y, groups=[1]), DataError, "groups has shape"),
        (lambda: strong().fit(X, Y, time=[1]), DataError, "time has shape"),
        (lambda: strong().fit(FRAME, "label", time="city"), DataError, "is not a date"),
        (lambda: strong().fit(lambda: [], groups=Y), ParameterError, "rows in memory"),
        (lambda: strong().fit([None, "top up"] * 20, ["a", "b"] * 20), DataError, "row 0"),
    ],
)
def test_what_cannot_be_read_is_refused(
    call: Callable[[], Any], kind: type[Exception], complaint: str
) -> None:
    with pytest.raises(kind, match=complaint):
        call()


def test_labels_of_certifying_rows_shape_nothing() -> None:
    """A class that only they have would be a fourth, and of four classes fewer rounds are made."""
    generator = np.random.default_rng(0)
    X = generator.normal(size=(120, 2))
    y = (np.sin(4 * X[:, 0]) + X[:, 1] > 0).astype(int) + (X[:, 0] * X[:, 1] > 0.3)
    seed = int(np.random.RandomState(0).randint(2**31))
    strange = y.copy()
    strange[divide(Examples(120, None), RolesAsk(seed)).certify[0]] = 9
    one, other = (StrongClassifier(random_state=0).fit(X, labels) for labels in (y, strange))
    assert one.settings_ == other.settings_
    assert len(one.ledger_) == len(other.ledger_)
    assert (one.decision_function(X) == other.decision_function(X)).all()


PLANTED = (7, 77, 177, 277, 377, 477, 555)
"""Rows far within one class that bear the label of the other."""
ROWS = 600


def separated() -> tuple[Any, Any]:
    """Two classes far from each other, and wrong labels at known rows."""
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, ROWS)
    X = rng.normal(size=(ROWS, 4))
    X[:, 0] = np.where(y == 1, 1, -1) * rng.uniform(2.0, 3.0, ROWS)
    y[list(PLANTED)] = 1 - y[list(PLANTED)]
    return X, y


def texts() -> tuple[list[str], Any]:
    X, y = separated()
    words = ["lovely" if row[0] > 0 else "dreadful" for row in X]
    return words, y


def boost(**parameters: Any) -> Callable[[], Any]:
    return lambda: pacboost.BoostClassifier(
        "adaboost", "stump", n_estimators=1, random_state=0, **parameters
    )


TABLES: dict[str, Callable[[], Any]] = {
    "strong": strong,
    "strong, looking early": lambda: strong(epsilon=0.2),
    "strong, epsilon missed": lambda: strong(epsilon=0.001),
    "adaboost": lambda: pacboost.AdaBoostClassifier(
        n_estimators=1, certify="holdout", random_state=0
    ),
    "boost": boost(),
    "boost, held out": boost(certify="holdout", early_stopping=True, calibrate="sigmoid"),
    "by majority": lambda: pacboost.theory.BoostByMajority(certify="holdout", random_state=0),
}


@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.filterwarnings("ignore")
def test_the_hardest_rows_are_those_with_wrong_labels(kind: str) -> None:
    X, y = separated()
    model = TABLES[kind]().fit(X, y)
    hardest = model.ledger_.hardest(3)
    assert {entry.row for entry in hardest} <= set(PLANTED)
    assert [entry.label for entry in hardest] == [str(y[entry.row]) for entry in hardest]


@pytest.mark.parametrize("kind", [pacboost.StrongClassifier, pacboost.TextBoostClassifier])
@pytest.mark.filterwarnings("ignore")
def test_the_hardest_texts_are_those_with_wrong_labels(kind: Any) -> None:
    X, y = texts()
    model = kind(random_state=0, n_estimators=20).fit(X, y)
    assert {entry.row for entry in model.ledger_.hardest(3)} <= set(PLANTED)


def test_groups_and_times_leave_the_numbers_as_they_were() -> None:
    X, y = separated()
    for known in ({"groups": np.arange(ROWS) // 4}, {"time": np.arange(ROWS)[::-1].copy()}):
        model = strong().fit(X, y, **known)
        assert {entry.row for entry in model.ledger_.hardest(3)} <= set(PLANTED)


def test_times_with_a_zone_are_read_without_a_warning() -> None:
    moments = np.datetime64("2024-01-01T00:00:00") + np.arange(ROWS).astype("timedelta64[h]")
    texts = [f"{moment}Z" for moment in moments]
    plain = reading.ordered(reading._moments(np.array(texts)), ROWS)
    assert plain.tolist() == list(range(ROWS))
    X, y = separated()
    assert strong().fit(X, y, time=texts).certificate_ is not None


def test_a_file_and_its_report_name_rows_of_the_data(tmp_path: Path) -> None:
    X, y = separated()
    data, file, page = (tmp_path / name for name in ("rows.csv", "m.pacb", "m.html"))
    lines = [
        ",".join([*map(repr, map(float, row)), str(label)]) for row, label in zip(X, y, strict=True)
    ]
    data.write_text("\n".join(["a,b,c,d,label", *lines]))
    fitted = CliRunner().invoke(
        main, ["fit", str(data), "--target", "label", "--output", str(file)]
    )
    assert fitted.exit_code == 0, fitted.output
    assert {e.row for e in pacboost.load(file).ledger_.hardest(3)} <= set(PLANTED)
    assert all(check.holds for check in pacboost.verify(file))
    written = CliRunner().invoke(main, ["report", str(file), "--output", str(page)])
    assert written.exit_code == 0, written.output
    section = page.read_text(encoding="utf-8").partition("Among the training rows")[2]
    named = re.findall(r"<tr><td class=.?number.?>([\d,]+)</td>", section)[:3]
    assert named
    assert {int(number.replace(",", "")) for number in named} <= set(PLANTED)
