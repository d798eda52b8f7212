"""Rows that were learned from come back among new ones: refused, left out exactly, or said.

Labels are coins, so that a bound below one half is false, whatever was learned.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer
from sklearn.tree import DecisionTreeClassifier

from pacboost import (
    AdaBoostClassifier,
    FilterBoostClassifier,
    certify,
    certify_all,
    choose_threshold,
    compare,
    compare_models,
    sets,
)  # fmt: skip
from pacboost.bounds.certificate import Certificate
from pacboost.bounds.wording import SHARE_LEARNED
from pacboost.errors import InputWarning, NotCertified
from pacboost.questions.answering import certify_answers
from pacboost.samples import row_hashes
from tests.attacks.worlds import coins
from tests.bounds.coverage import check_coverage, check_rejected
from tests.grids import each_value
from tests.runs import several_runs

Rows = tuple[NDArray[Any], NDArray[Any]]
DOORS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "certify": certify,
    "recall": lambda model, X, y: certify_all(model, X, y, of="recall"),
    "answers": lambda model, X, y: certify_answers(model, X, y, abstain_below=0.5),
    "threshold": lambda model, X, y: choose_threshold(model, X, y, recall=0.5),
    "sets": lambda model, X, y: sets(model, X, y, coverage=0.5),
    "compare": lambda model, X, y: compare_models(
        model, AdaBoostClassifier(n_estimators=1).fit(*coins(99, 50)), X, y
    ),
}


def memorising(X: NDArray[Any], y: NDArray[Any]) -> AdaBoostClassifier:
    return AdaBoostClassifier(DecisionTreeClassifier(random_state=0), n_estimators=1).fit(X, y)


def part_of_a_table(seed: int) -> tuple[Rows, Rows]:
    """The model learns from 500 rows of a table of 10,000, and the whole table is to certify."""
    X, y = coins(seed, 10_000)
    return (X[:500], y[:500]), (X, y)


def every_row_twice(seed: int) -> tuple[Rows, Rows]:
    """The training table has every row twice, and each comes back once."""
    X, y = coins(seed, 400)
    return (np.repeat(X, 2, axis=0), np.repeat(y, 2)), (X, y)


def every_row_twice_on_both_sides(seed: int) -> tuple[Rows, Rows]:
    learned, _ = every_row_twice(seed)
    return learned, learned


@each_value
@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("world", [part_of_a_table, every_row_twice, every_row_twice_on_both_sides])
def test_old_rows_are_refused(world: Callable[[int], tuple[Rows, Rows]], door: str) -> None:
    for seed in range(3):
        learned, back = world(seed)
        model = memorising(*learned)
        with pytest.raises(NotCertified, match="trained on"):
            DOORS[door](model, *back)


@pytest.mark.filterwarnings("ignore::pacboost.errors.InputWarning")
def test_honest_tables_of_thirty_values_are_never_refused() -> None:
    for seed in range(60):
        generator = np.random.default_rng(seed)
        X, y = generator.integers(30, size=(400, 1)), generator.integers(2, size=400)
        model = AdaBoostClassifier(n_estimators=1).fit(X[:100], y[:100])
        certify(model, X[100:], y[100:])
        AdaBoostClassifier(n_estimators=1, certify="holdout", random_state=seed).fit(
            X[:200], y[:200], X_val=X[200:], y_val=y[200:]
        )


@pytest.mark.parametrize(("again", "of"), [(1, 2000), (5, 2000), (15, 2000), (4, 10_000)])
def test_rows_that_are_counted_although_they_are_known_are_said(again: int, of: int) -> None:
    X, y = coins(0, 2000 + of)
    model = memorising(X[:2000], y[:2000])
    X, y = np.append(X[:again], X[2000 + again :], axis=0), np.append(y[:again], y[2000 + again :])
    with pytest.warns(InputWarning, match="equal rows it learned from"):
        certificate = certify(model, X, y)
    assert certificate.details[SHARE_LEARNED] == again / of
    assert "equal rows it learned from" in certificate.claim


def stamps(seed: int, rows: int) -> Rows:
    """Times in milliseconds, all different: half of the rows come in twenty bursts.

    Labels equal the second column, but in bursts they are coins. As 32-bit floats, the times of a
    burst are one or two values.
    """
    generator = np.random.default_rng(seed)
    burst = generator.random(rows) < 0.5
    start = 1_700_000_000_000 + 1_000_000_000 * generator.integers(20, size=rows)
    late = generator.integers(20_000_000_000, size=rows)
    time = np.where(burst, start + 60_000 * generator.random(rows), start + late)
    known = generator.integers(2, size=rows)
    y = np.where(burst, generator.integers(2, size=rows), known)
    return np.column_stack([time, known]).astype(np.float64), y


def of_second_column(X: NDArray[Any], y: NDArray[Any]) -> AdaBoostClassifier:
    return AdaBoostClassifier("stump", n_estimators=1).fit(X, y)


def compared(learned: Rows, new: Rows) -> float:
    """Return the bound on the error of a stump, from the comparison of boosters."""
    found = compare(*learned, ["adaboost"], "stump", n_estimators=1, test=new, copies="distinct")
    return found.entries[0].upper or 0.0


def validated(learned: Rows, new: Rows) -> float:
    model = AdaBoostClassifier("stump", n_estimators=1, certify="holdout", random_state=0)
    return model.fit(*learned, X_val=new[0], y_val=new[1], copies="distinct").certificate_.value


def streamed(learned: Rows, new: Rows) -> float:
    X, y = (np.concatenate(pair) for pair in zip(learned, new, strict=True))
    model = FilterBoostClassifier(
        learner="stump", n_estimators=3, n_certify=400, random_state=0, n_jobs=1
    )
    for part in np.array_split(np.arange(len(y)), 4):
        model.partial_fit(X[part], y[part], classes=[0, 1], copies="distinct")
    assert model.certificate_.size > 300
    return model.certificate_.value


EXACT: dict[str, Callable[[Rows, Rows], float]] = {
    "certify": lambda learned, new: (
        certify(of_second_column(*learned), *new, copies="distinct").value
    ),
    "compare": compared,
    "validation": validated,
    "stream": streamed,
}


@pytest.mark.filterwarnings("ignore::pacboost.errors.InputWarning")
@several_runs(6, 100)
@pytest.mark.parametrize("door", EXACT)
def test_rows_that_differ_are_not_left_out(door: str, runs: int) -> None:
    violated = 0
    for seed in range(runs):
        learned, new = stamps(2 * seed, 2000), stamps(2 * seed + 1, 2000)
        violated += EXACT[door](learned, new) < 0.25
    check_coverage(f"milliseconds as distinct rows, {door}", violated, runs, 0.05)


@pytest.mark.filterwarnings("ignore::pacboost.errors.InputWarning")
def test_rounded_rows_that_are_left_out_make_false_claims(monkeypatch: pytest.MonkeyPatch) -> None:
    """The broken twin leaves out what is equal as 32-bit floats."""
    monkeypatch.setattr(row_hashes, "_exact_cells", row_hashes._cells)
    wrong = 0
    for seed in range(6):
        learned, new = stamps(2 * seed, 2000), stamps(2 * seed + 1, 2000)
        wrong += EXACT["certify"](learned, new) < 0.25
    check_rejected("twin: rounded rows left out", wrong, 6, 0.05)


def test_a_sample_of_training_rows_cannot_be_left_out() -> None:
    """Of 20,000 training rows a model remembers a fifth; the others would be counted."""
    X, y = coins(0, 40_000)
    model = memorising(X[:20_000], y[:20_000])
    X, y = X[19_200:], y[19_200:]
    for copies in ("draws", "distinct"):
        with pytest.raises(NotCertified, match="trained on"):
            certify(model, X, y, copies=copies)


def test_training_rows_in_single_precision_are_not_new() -> None:
    """None of them is equal to a training row, so that none could be left out."""
    X, y = coins(0, 400)
    model = memorising(X, y)
    for copies in ("draws", "distinct"):
        with pytest.raises(NotCertified, match="trained on"):
            certify(model, X.astype(np.float32), y, copies=copies)


def in_bins(X: NDArray[Any], y: NDArray[Any], bins: int) -> Any:
    steps = KBinsDiscretizer(bins, encode="ordinal", strategy="uniform")
    tree = AdaBoostClassifier(DecisionTreeClassifier(random_state=0), n_estimators=1)
    return make_pipeline(steps, tree).fit(X, y)


def claim_of_sets(model: Any, X: Any, y: Any) -> str:
    certificate = sets(model, X, y, coverage=0.5).certificate_
    assert isinstance(certificate, Certificate)
    return str(certificate.claim)


CLAIMS: dict[str, Callable[[Any, Any, Any], str]] = {
    "certify": lambda model, X, y: certify(model, X, y).claim,
    "recall": lambda model, X, y: str(certify(model, X, y, of="recall").claim),
    "answers": lambda model, X, y: (
        certify_answers(model, X, y, abstain_below=0.5).certificate.claim
    ),
    "threshold": lambda model, X, y: str(
        choose_threshold(model, X, y, recall=0.5).certificate_.claim
    ),
    "sets": claim_of_sets,
}


@pytest.mark.parametrize("door", CLAIMS)
def test_what_could_not_be_noticed_is_said(door: str) -> None:
    """After a discretiser, 400 coins have 64 different rows, and memory is no skill."""
    for seed in range(3):
        X, y = coins(seed, 400)
        model = in_bins(X, y, 4)
        assert CLAIMS[door](model, X, y).startswith("If these rows are new: ")
        assert CLAIMS[door](model, *coins(seed + 100, 400)).startswith("If these rows are new: ")


def test_a_discretiser_may_leave_enough_to_compare() -> None:
    X, y = coins(0, 400)
    model = in_bins(X, y, 100)
    assert certify(model, *coins(1, 400)).rows_checked
    with pytest.raises(NotCertified, match="trained on"):
        certify(model, X, y)


def test_a_few_rows_are_not_enough_to_compare() -> None:
    X, y = coins(0, 400)
    model = memorising(X, y)
    assert not certify(model, *coins(1, 2)).rows_checked
    assert certify(model, *coins(1, 20)).rows_checked
