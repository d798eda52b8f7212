"""A cascade on pools whose every answer of the teacher is known, and the twins it must not be."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from sklearn.neighbors import KNeighborsClassifier

from pacboost import draw
from pacboost.bounds import pool as pool_bound
from pacboost.errors import DataError
from pacboost.studies.cascade import Cutoff, cascade, cutoffs, last_passed
from tests.bounds.coverage import check_coverage, check_rejected

DELTA, TARGET = 0.1, 0.05


class Student:
    """Says whether x is positive; it is the surer the further x is from 0."""

    classes_ = np.array([0, 1])

    def predict(self, X: Any) -> NDArray[np.int64]:
        return (np.asarray(X["x"]) > 0).astype(np.int64)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        high = 1 / (1 + np.exp(-np.asarray(X["x"])))
        return np.column_stack([1 - high, high])


def world(seed: int, rows: int = 2_000) -> tuple[pd.DataFrame, NDArray[np.int64]]:
    """Return a pool and the teacher's answers, which depend on x more than the student knows."""
    generator = np.random.default_rng(seed)
    x = generator.normal(size=rows).round(6)
    return pd.DataFrame({"x": x}), (x + generator.normal(0, 0.5, rows) > 0).astype(np.int64)


def test_the_promise_about_the_pool_holds() -> None:
    runs, missed, answered = 60, 0, 0.0
    for run in range(runs):
        rows, truth = world(run)
        drawn = draw(rows, 400, seed=run)
        labelled = drawn.take(rows).assign(teacher=truth[list(drawn.rows)])
        found = cascade(
            rows, labelled, "teacher", draw=drawn, target_error=TARGET, student=Student(),
            delta=DELTA,
        )  # fmt: skip
        answers = found.who == "student"
        answered += answers.mean() / runs
        assert (found.answers[found.who == "asked"] == truth[found.who == "asked"]).all()
        assert all(value is None for value in found.answers[found.who == "teacher"])
        if found.of_pool is not None:
            sure = Student().predict_proba(rows).max(axis=1) >= found.of_pool.score
            assert sure.sum() == found.of_pool.pool_rows
            missed += (Student().predict(rows) != truth)[sure].mean() > TARGET
    check_coverage("cascade, this pool", missed, runs, DELTA)
    assert answered > 0.3


def passes(point: Cutoff) -> bool:
    bound = pool_bound.mistaken_share(point.differ, point.rows, point.pool_rows, DELTA)
    return bound <= TARGET


def test_the_first_wrong_cutoff_passes_rarely_though_many_are_tested() -> None:
    """The student's scores say nothing, and it errs a little more often than allowed."""
    runs, missed = 150, 0
    for run in range(runs):
        generator = np.random.default_rng(run)
        sure, wrong = generator.random(3_000), generator.random(3_000) < 0.055
        certifying = generator.choice(3_000, 600, replace=False)
        apart = np.ones(3_000, np.bool_)
        points = cutoffs(sure, apart, certifying, wrong[certifying], TARGET, DELTA)
        assert len(points) > 10
        last = last_passed(points, passes)
        missed += last is not None and wrong[sure >= last.score].mean() > TARGET
    check_coverage("cascade, a sequence of cutoffs", missed, runs, DELTA)


def test_certifying_by_rows_that_taught_is_rejected() -> None:
    """A student that remembers its rows differs on none of them."""
    runs, missed = 20, 0
    for run in range(runs):
        rows, truth = world(run, 600)
        taught = np.random.default_rng(run).choice(600, 150, replace=False)
        guess = KNeighborsClassifier(1).fit(rows.iloc[taught], truth[taught]).predict(rows)
        differs = guess[taught] != truth[taught]
        everybody = np.ones(600, np.bool_)
        last = last_passed(cutoffs(np.ones(600), everybody, taught, differs, TARGET, DELTA), passes)
        missed += last is not None and (guess != truth).mean() > TARGET
    check_rejected("cascade, by the rows that taught", missed, runs, DELTA)


def test_a_student_is_fitted_by_half_of_the_rows() -> None:
    rows, truth = world(3)
    drawn = draw(rows, 800)
    labelled = drawn.take(rows).assign(teacher=np.array(["no", "yes"])[truth[list(drawn.rows)]])
    found = cascade(rows, labelled[::-1], "teacher", draw=drawn, target_error=0.1)
    assert found.of_pool is not None
    assert found.of_new is not None
    assert found.of_new.score >= found.of_pool.score
    assert found.of_pool.rows <= 400
    answers = found.who == "student"
    assert (found.answers[answers] != np.array(["no", "yes"])[truth[answers]]).mean() < 0.12
    assert 0.6 < found.share < 1
    assert found.to_dict()["share"] == found.share


def test_what_is_no_sample_is_refused() -> None:
    rows, truth = world(4, 300)
    drawn = draw(rows, 100)
    labelled = drawn.take(rows).assign(teacher=truth[list(drawn.rows)])
    with pytest.raises(DataError, match="were not drawn"):
        cascade(rows, rows.assign(teacher=truth), "teacher", draw=drawn, target_error=0.1)
    with pytest.raises(DataError, match="not the pool"):
        cascade(rows + 1, labelled, "teacher", draw=drawn, target_error=0.1)
    with pytest.raises(DataError, match="empty cells"):
        cascade(rows, labelled.assign(teacher=None), "teacher", draw=drawn, target_error=0.1)
    nothing = cascade(rows, labelled, "teacher", draw=drawn, target_error=0.001, student=Student())
    assert nothing.of_pool is None
    assert set(nothing.who) == {"asked", "teacher"}
