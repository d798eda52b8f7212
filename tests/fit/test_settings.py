"""The automatic values move smoothly with the number of rows."""

from itertools import pairwise
from typing import Any

import pytest

from pacboost.fit.settings import Settings
from tests.grids import each_value


@each_value
@pytest.mark.parametrize("classes", [1, 5])
@pytest.mark.parametrize("logistic", [True, False])
def test_settings_move_smoothly_with_the_number_of_rows(classes: int, logistic: bool) -> None:
    sizes = (*range(30, 2_000), *range(2_000, 31_001, 100))
    for before, after in pairwise(
        Settings.for_classes(n, classes, logistic=logistic) for n in sizes
    ):
        assert abs(after.n_estimators - before.n_estimators) <= 3
        assert abs(after.min_rounds - before.min_rounds) <= 9
        assert abs(after.max_rounds - before.max_rounds) <= 43
        assert -0.0001 <= after.learning_rate - before.learning_rate <= 0.004
        assert abs(after.subsample - before.subsample) <= 0.006
        assert abs(after.max_features - before.max_features) <= 0.013
        assert 0 <= after.min_leaf_rows - before.min_leaf_rows <= 5
        assert abs(after.slope_trust - before.slope_trust) <= 0.028


SIZES = list(range(19_000, 31_001, 500))


@pytest.mark.parametrize(
    ("quality", "few", "many"),
    [("auto", (0.8, 0.5, 0.05), (0.8, 0.5, 0.1)), ("fast", (0.8, 0.5, 0.1), (1.0, 1.0, 0.2))],
)
def test_trees_of_classes_change_step_by_step(quality: str, few: Any, many: Any) -> None:
    made = [Settings.for_classes(rows, 2, quality=quality) for rows in SIZES]
    first, last = made[SIZES.index(20_000)], made[-1]
    assert (first.subsample, first.max_features, first.learning_rate) == few
    assert (last.subsample, last.max_features, last.learning_rate) == many
    for before, after in pairwise(made):
        assert 0 <= after.subsample - before.subsample <= 0.011
        assert 0 <= after.learning_rate - before.learning_rate <= 0.0061
        assert 0 <= after.min_leaf_rows - before.min_leaf_rows <= 1
