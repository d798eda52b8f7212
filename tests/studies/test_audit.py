"""Slices in worlds whose errors are known: a planted slice, noise, and the twin that tests them on
the rows that named them."""

import itertools

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeClassifier

from pacboost import BoostClassifier, answers, audit
from pacboost.bounds.holdout import clopper_pearson_lower
from pacboost.errors import DataError, NotCertified, ParameterError
from pacboost.studies.audit import conditions_of, searched
from tests.bounds.coverage import check_coverage, check_rejected

DELTA = 0.1


def world(
    rows: int, seed: int, planted: float
) -> tuple[pd.DataFrame, NDArray[np.int64], pd.Series]:
    """Return columns, the truth, and answers that err on 10 %, and more on a planted slice."""
    generator = np.random.default_rng(seed)
    frame = pd.DataFrame({
        "age": generator.integers(20, 80, rows), "income": generator.normal(size=rows),
        "region": generator.choice(["north", "south", "west"], rows),
        "plan": generator.choice(["a", "b"], rows),
    })  # fmt: skip
    hard = (frame["age"] > 60) & (frame["region"] == "north")
    truth = generator.integers(0, 2, rows)
    wrong = generator.random(rows) < np.where(hard, 0.1 + planted, 0.1)
    return frame, truth, pd.Series(np.where(wrong, 1 - truth, truth))


def test_a_planted_slice_is_found_and_its_bound_holds() -> None:
    frame, truth, said = world(6_000, 0, 0.35)
    found = audit(answers(said), frame, truth)
    assert {condition.column for condition in found.findings[0].conditions} == {"age", "region"}
    assert 0.2 < found.findings[0].at_least < 0.45
    assert found.at_most > 0.45
    assert len(found.findings) == found.named == 1


def test_findings_and_all_clear_hold_on_noise() -> None:
    """Every slice errs on exactly 10 %."""
    runs, missed = 60, 0
    for run in range(runs):
        frame, truth, said = world(1_200, run, 0.0)
        found = audit(answers(said), frame, truth, delta=DELTA, seed=run)
        missed += found.at_most < 0.1 or any(one.at_least > 0.1 for one in found.findings)
    check_coverage("audit, noise", missed, runs, DELTA)


def test_slices_that_are_tested_on_the_rows_that_named_them_are_rejected() -> None:
    runs, missed = 40, 0
    for run in range(runs):
        generator = np.random.default_rng(run)
        wrong = generator.random(1_200) < 0.1
        cells = {str(column): generator.normal(size=1_200) for column in range(8)}
        conditions = conditions_of(cells)
        holds = np.stack([one.holds(cells[one.column]) for one in conditions])
        named = searched(holds, wrong, 2, 0.05)
        for places in named:
            inside = holds[list(places)].all(axis=0)
            k, n = int(wrong[inside].sum()), int(inside.sum())
            if clopper_pearson_lower(k, n, DELTA / 2, len(named)) > 0.1:
                missed += 1
                break
    check_rejected("audit, by the rows that searched", missed, runs, DELTA)


def test_the_all_clear_is_the_largest_of_all_slices() -> None:
    """A plain loop over all slices gives the same number."""
    from pacboost.bounds.holdout import clopper_pearson
    from pacboost.studies.audit import all_clear

    generator = np.random.default_rng(2)
    holds, wrong = generator.random((7, 300)) < 0.4, generator.random(300) < 0.2
    largest = clopper_pearson(int(wrong.sum()), 300, 0.05, 63)
    for length in (1, 2, 3):
        for places in itertools.combinations(range(7), length):
            inside = holds[list(places)].all(axis=0)
            if inside.sum() >= 0.05 * 300:
                k, n = int(wrong[inside].sum()), int(inside.sum())
                largest = max(largest, clopper_pearson(k, n, 0.05, 63))
    assert all_clear(holds, wrong, 3, 0.05, 0.05, 63)[0] == largest


def test_models_labels_by_name_and_groups() -> None:
    frame = world(3_000, 1, 0.0)[0]
    frame["late"] = (frame["income"] > 0.3) ^ (frame["region"] == "west")
    model = DecisionTreeClassifier(max_depth=2, random_state=0).fit(
        frame[["age", "income"]][:1_000], frame["late"][:1_000]
    )
    new = frame[1_000:]
    found = audit(model, new[["age", "income"]], new["late"], columns=new[["region", "plan"]])
    assert [str(one) for one in found.findings[0].conditions] == ["region is west"]
    groups = np.arange(2_000) // 50
    halves = audit(
        model, new[["age", "income"]], new["late"], columns=new[["region"]], groups=groups
    )
    assert halves.rows == 1_000


def test_rows_that_a_model_was_trained_on_are_refused() -> None:
    frame, truth, _ = world(400, 2, 0.0)
    model = BoostClassifier(n_estimators=5).fit(frame[["age", "income"]], truth)
    with pytest.raises(NotCertified):
        audit(model, frame[["age", "income"]], truth)


def test_what_cannot_be_audited_is_refused() -> None:
    frame, truth, said = world(200, 0, 0.0)
    with pytest.raises(ParameterError, match="1 to 3"):
        audit(answers(said), frame, truth, depth=4)
    with pytest.raises(DataError, match="needs 100"):
        audit(answers(said[:50]), frame[:50], truth[:50])
    with pytest.raises(DataError, match="nothing to search"):
        audit(answers(said), frame.assign(plan="a")[["plan"]], truth)
