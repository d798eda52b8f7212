"""What is noticed about rows is said at every door: copies of rows learned from, and times.

Labels are coins, or change with time, so that claims without the notice are false.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from numpy.typing import NDArray
from scipy import sparse

import pacboost
from pacboost import (
    BaggingClassifier,
    BoostClassifier,
    FilterBoostClassifier,
    RandomForestClassifier,
    StrongClassifier,
    certify,
    choose_threshold,
)
from pacboost.bounds.certificate import Certificate
from pacboost.bounds.wording import HAVE_TIMES, SHARE_BUT_ONE, SHARE_LEARNED
from pacboost.cli.main import main
from pacboost.errors import InputWarning
from pacboost.samples.same_example import share_learned, share_repeated
from pacboost.samples.time_order import have_times
from tests.attacks.worlds import coins
from tests.grids import each_value

Rows = tuple[Any, NDArray[Any]]
OPTIONS: dict[str, Any] = {"random_state": 0, "n_jobs": 1}


def visits(seed: int, patients: int = 200) -> Rows:
    """Each patient comes four times, with the same values and the same label, a coin."""
    X, y = coins(seed, patients)
    rows = np.random.default_rng(seed).permutation(np.repeat(np.arange(patients), 4))
    return X[rows], y[rows]


def filtering(**more: Any) -> FilterBoostClassifier:
    tree = {"max_leaves": 60, "min_leaf_rows": 1, "learning_rate": 1.0}
    return FilterBoostClassifier(
        **{"n_estimators": 5, "sample_rows": 600, **tree, **OPTIONS, **more}
    )


def batches(X: Any, y: Any) -> FilterBoostClassifier:
    model = filtering(n_estimators=2)
    for part in np.array_split(np.arange(len(y)), 4):
        model.partial_fit(X[part], y[part], classes=[0, 1])
    return model


def answering(X: Any, y: Any) -> Certificate:
    model = BoostClassifier(n_estimators=5, certify="holdout", **OPTIONS).fit(X, y)
    return choose_threshold(model, target_error=0.9).certificate_


def answering_by_rows(X: Any, y: Any) -> Certificate:
    model = BoostClassifier(n_estimators=5, **OPTIONS).fit(X[:600], y[:600])
    return choose_threshold(model, X[600:], y[600:], target_error=0.9).certificate_


DOORS: dict[str, Callable[[Any, Any], Certificate]] = {
    "holdout": lambda X, y: (
        BoostClassifier(n_estimators=5, certify="holdout", **OPTIONS).fit(X, y).certificate_
    ),
    "strong": lambda X, y: StrongClassifier(n_estimators=5, **OPTIONS).fit(X, y).certificate_,
    "recall": lambda X, y: (
        StrongClassifier(n_estimators=5, recall=0.5, **OPTIONS).fit(X, y).certificate_
    ),
    "forest": lambda X, y: (
        RandomForestClassifier(20, certify="oob", **OPTIONS).fit(X, y).certificate_
    ),
    "bagging": lambda X, y: (
        BaggingClassifier(n_estimators=10, certify="oob", **OPTIONS).fit(X, y).certificate_
    ),
    "filtering": lambda X, y: filtering().fit(X, y).certificate_,
    "batches": lambda X, y: batches(X, y).certificate_,
    "target error": answering,
}
SPARSE = ("holdout", "strong", "filtering")


def of_sparse(door: str) -> Callable[[Any, Any], Certificate]:
    return lambda X, y: DOORS[door](sparse.csr_array(np.where(X < 0.7, 0, X)), y)


EVERY = DOORS | {f"sparse {door}": of_sparse(door) for door in SPARSE}
pytestmark = pytest.mark.filterwarnings(
    "ignore::pacboost.errors.RareClassWarning", "ignore::pacboost.errors.DenseWarning"
)


@pytest.mark.parametrize("door", EVERY)
def test_equal_visits_are_noticed_at_every_door(door: str) -> None:
    for seed in range(2):
        with pytest.warns(InputWarning, match="equal rows it learned from"):
            certificate = EVERY[door](*visits(seed))
        assert float(certificate.details[SHARE_LEARNED]) > 0.3
        assert "equal rows it learned from" in certificate.claim


@pytest.mark.parametrize("door", EVERY)
def test_rows_without_copies_carry_no_notice(door: str) -> None:
    X, y = coins(1, 800)
    certificate = EVERY[door](X, y)
    assert SHARE_LEARNED not in certificate.details


def test_a_threshold_by_further_rows_says_how_many_are_known() -> None:
    X, y = coins(0, 800)
    X[600:603], y[600:603] = X[:3], y[:3]
    with pytest.warns(InputWarning, match="equal rows it learned from"):
        certificate = answering_by_rows(X, y)
    assert certificate.details[SHARE_LEARNED] == 3 / 200


def test_a_stream_that_delivers_every_row_twice() -> None:
    X, y = coins(0, 400)
    with pytest.warns(InputWarning, match="equal rows it learned from"):
        model = filtering().fit_source((X[[k, k]], y[[k, k]]) for k in range(400))
    assert float(model.certificate_.details[SHARE_LEARNED]) > 0.3


def test_the_number_counts_equal_rows() -> None:
    """Of times in milliseconds none are equal, although they are as 32-bit floats."""
    generator = np.random.default_rng(0)
    time = 1_700_000_000_000 + np.floor(1e6 * generator.random(2000))
    X = np.column_stack([np.unique(time)[:1900], np.zeros(1900)])
    y = generator.integers(2, size=1900)
    order = generator.permutation(1900)
    X = X[order]
    assert share_learned(X[:1500], X[1500:]) == (0.0, False)
    assert share_repeated(X) == 0
    model = BoostClassifier(n_estimators=2, **OPTIONS).fit(X[:1500], y[:1500])
    assert SHARE_LEARNED not in certify(model, X[1500:], y[1500:]).details
    again = np.append(X[1500:], X[:5], axis=0)
    assert share_learned(X[:1500], again) == (5 / 405, False)


def test_rows_that_differ_in_a_stamp_alone_are_not_called_equal() -> None:
    X, y = visits(0)
    stamps = np.random.default_rng(0).permutation(10**6)[: len(y)]
    with pytest.warns(InputWarning, match="in all columns but one"):
        certificate = DOORS["holdout"](np.column_stack([stamps, X]), y)
    assert SHARE_LEARNED not in certificate.details
    assert float(certificate.details[SHARE_BUT_ONE]) > 0.9


def drifting(rows: int = 1200) -> tuple[pd.DataFrame, NDArray[Any]]:
    """The label is the sign of a column, and the opposite after the last of these rows."""
    generator = np.random.default_rng(8)
    X = generator.normal(size=(rows, 2))
    frame = pd.DataFrame(X, columns=["a", "b"])
    return frame, (X[:, 0] > 0).astype(np.int64)


def with_dates(frame: pd.DataFrame, *, shuffled: bool = True) -> pd.DataFrame:
    days = pd.date_range("2021-01-01", periods=len(frame), freq="D")
    texts = days.strftime("%Y-%m-%d").to_numpy(dtype=object)
    return frame.assign(day=np.random.default_rng(0).permutation(texts) if shuffled else texts)


def with_numbers(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.assign(moment=100_000 + 7 * np.arange(len(frame)))


def newest_first(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.assign(moment=100_000 - 7 * np.arange(len(frame)))


def in_the_index(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.set_index(pd.date_range("2021-01-01", periods=len(frame)))


def as_levels(frame: pd.DataFrame) -> pd.DataFrame:
    return with_dates(frame).astype({"day": "category"})


FIT = ["--target", "y", "--rounds", "10"]


def by_file(frame: pd.DataFrame, y: NDArray[Any], folder: Path) -> str:
    frame.assign(y=y).to_csv(path := folder / "a.csv", index=False)
    return str(StrongClassifier(n_estimators=10, **OPTIONS).fit(path, "y").sentence_)


def by_command(frame: pd.DataFrame, y: NDArray[Any], folder: Path) -> str:
    frame.assign(y=y).to_csv(path := folder / "a.csv", index=False)
    result = CliRunner().invoke(main, ["fit", str(path), *FIT])
    assert result.exit_code == 0, result.output
    return " ".join((result.output + result.stderr).split())


def by_stumps(frame: pd.DataFrame, y: NDArray[Any], folder: Path) -> str:
    frame.assign(y=y).to_csv(path := folder / "a.csv", index=False)
    result = CliRunner().invoke(main, ["fit", str(path), *FIT, "--learner", "stump"])
    assert result.exit_code == 0, result.output
    return " ".join((result.output + result.stderr).split())


def by_frame(frame: pd.DataFrame, y: NDArray[Any], folder: Path) -> str:
    return str(StrongClassifier(n_estimators=10, **OPTIONS).fit(frame, y).sentence_)


def by_holdout(frame: pd.DataFrame, y: NDArray[Any], folder: Path) -> str:
    model = BoostClassifier(n_estimators=10, certify="holdout", **OPTIONS).fit(frame, y)
    return str(model.certificate_.claim)


def by_bags(frame: pd.DataFrame, y: NDArray[Any], folder: Path) -> str:
    return RandomForestClassifier(20, certify="oob", **OPTIONS).fit(frame, y).certificate_.claim


def by_filter(frame: pd.DataFrame, y: NDArray[Any], folder: Path) -> str:
    if "day" in frame:  # it reads numbers alone
        frame = with_numbers(frame.drop(columns="day"))
    return str(filtering(max_leaves=4, min_leaf_rows=None).fit(frame, y).certificate_.claim)


def by_new_rows(frame: pd.DataFrame, y: NDArray[Any], folder: Path) -> str:
    model = BoostClassifier(n_estimators=10, **OPTIONS).fit(frame[:600], y[:600])
    return str(certify(model, frame[600:], y[600:]).claim)


def by_new_file(frame: pd.DataFrame, y: NDArray[Any], folder: Path) -> str:
    frame.assign(y=y)[:600].to_csv(old := folder / "old.csv", index=False)
    frame.assign(y=y)[600:].to_csv(new := folder / "new.csv", index=False)
    model = str(folder / "m.pacb")
    fit = ["fit", str(old), *FIT, "--output", model]
    assert CliRunner().invoke(main, fit).exit_code == 0
    result = CliRunner().invoke(main, ["certify", model, str(new), "--target", "y"])
    assert result.exit_code == 0, result.output
    return " ".join((result.output + result.stderr).split())


TIMED = [
    by_file, by_command, by_stumps, by_frame, by_holdout, by_bags, by_filter, by_new_rows,
    by_new_file,
]  # fmt: skip


@each_value
@pytest.mark.filterwarnings("ignore::pacboost.errors.InputWarning")
@pytest.mark.parametrize("door", TIMED)
@pytest.mark.parametrize("stamped", [with_dates, with_numbers, newest_first, lambda frame: frame])
def test_times_are_said_at_every_door(
    stamped: Callable[[pd.DataFrame], pd.DataFrame], door: Callable[..., str], tmp_path: Path
) -> None:
    frame, y = drifting()
    told = "not about later ones" in door(stamped(frame), y, tmp_path)
    assert told == (stamped in (with_dates, with_numbers, newest_first))


@pytest.mark.filterwarnings("ignore::pacboost.errors.InputWarning")
@pytest.mark.parametrize("door", [by_frame, by_holdout, by_bags, by_new_rows])
@pytest.mark.parametrize("stamped", [in_the_index, as_levels])
def test_times_of_frames_are_said_wherever_they_are_kept(
    stamped: Callable[[pd.DataFrame], pd.DataFrame], door: Callable[..., str], tmp_path: Path
) -> None:
    frame, y = drifting()
    assert "not about later ones" in door(stamped(frame), y, tmp_path)


def test_a_fit_says_so_of_its_confident_answers() -> None:
    frame, y = drifting()
    model = BoostClassifier(n_estimators=5, certify="holdout", **OPTIONS)
    certificate = choose_threshold(model.fit(with_numbers(frame), y), target_error=0.5).certificate_
    assert certificate.details[HAVE_TIMES]


def test_what_is_a_time() -> None:
    frame, _ = drifting(300)
    rising = np.arange(300)
    days = pd.date_range("2021-01-01", periods=300)
    for rows in (
        newest_first(frame), newest_first(frame).to_numpy(), in_the_index(frame), as_levels(frame),
        frame.set_index(days.to_period("D")), frame.set_index(days.astype(str)),
        frame.set_index([rising, days]), frame.assign(day=["1/2/2024", "2/1/2024"] * 150),
        frame.assign(t=np.where(rising % 9 == 2, np.nan, rising)),
        newest_first(frame)[:30].to_numpy(),
        with_dates(frame), with_dates(frame, shuffled=False), with_numbers(frame),
        with_numbers(frame).to_numpy(), with_numbers(frame).to_numpy().tolist(),
        with_numbers(frame).astype(str), with_dates(frame).to_dict("records"),
        frame.assign(day=pd.to_datetime("2024-02-29")),
    ):  # fmt: skip
        assert have_times(rows)
    for rows in (
        frame, frame.to_numpy(), frame.to_numpy().tolist(), frame.astype(str), rising[:, None],
        frame.assign(k=rising // 30), frame.assign(k="x"), frame.set_index(rising[::-1]),
        frame.assign(k=pd.Categorical(["x", "2024-01-31"] * 150)), frame.assign(k=np.nan),
        frame.to_dict("records"), ["a text", "another"], pacboost, None,
    ):  # fmt: skip
        assert not have_times(rows)
