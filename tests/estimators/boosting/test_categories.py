"""Columns given as categories are learned from no worse than as codes or as target means."""

import warnings
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from sklearn.model_selection import GridSearchCV, StratifiedKFold, train_test_split

from pacboost import BoostClassifier
from tests.data import HOME

FOLDS = 5
AT_THE_MEAN = 10
"""Rows at the mean that are added to a level, before its mean is taken."""

Rows = NDArray[np.intp]


class World(NamedTuple):
    """Rows with categories, and their classes as numbers."""

    X: Any
    y: NDArray[np.int64]

    def codes(self) -> Any:
        kinds = self.X.select_dtypes("category")
        return self.X.assign(**{name: kinds[name].cat.codes for name in kinds})

    def means(self, learn: Rows) -> Any:
        """The same rows with levels as means of the classes.

        Those of a row to learn from come from other folds, those of new rows from all of these.
        """
        kinds = self.X.select_dtypes("category")
        found: dict[str, NDArray[np.float64]] = {}
        parts = StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(learn, self.y[learn])
        new = np.setdiff1d(np.arange(len(self.y)), learn)
        folds = [(learn, new), *((learn[some], learn[rest]) for some, rest in parts)]
        for name in kinds:
            codes = kinds[name].cat.codes.to_numpy().astype(np.int64) + 1
            for k in range(1 if self.y.max() == 1 else 0, self.y.max() + 1):
                column = np.zeros(len(self.y))
                for some, rest in folds:
                    column[rest] = smoothed(codes[some], self.y[some] == k, codes.max())[
                        codes[rest]
                    ]
                found[f"{name} {k}"] = column
        numbers = self.X.drop(columns=list(kinds))
        return pd.concat([numbers, pd.DataFrame(found, numbers.index)], axis=1)


def smoothed(codes: Rows, hits: NDArray[np.bool_], largest: int) -> NDArray[np.float64]:
    """Return the mean of each level, with some rows at the mean of all of them added."""
    rows = np.bincount(codes, minlength=largest + 1)
    sums = np.bincount(codes, hits, minlength=largest + 1)
    means: NDArray[np.float64] = (sums + AT_THE_MEAN * hits.mean()) / (rows + AT_THE_MEAN)
    return means


class Errors(NamedTuple):
    """What went wrong on new rows, by form of the categories."""

    wrong: dict[str, NDArray[np.bool_]]
    log_losses: dict[str, float]


def errors(world: World, rows: int, seed: int) -> Errors:
    every = np.arange(len(world.y))
    learn, new = train_test_split(every, train_size=rows, random_state=seed, stratify=world.y)
    forms = {"categories": world.X, "codes": world.codes(), "means": world.means(learn)}
    found = Errors({}, {})
    for name, X in forms.items():
        model = BoostClassifier(random_state=seed).fit(X.iloc[learn], world.y[learn])
        shares = model.predict_proba(X.iloc[new])
        found.wrong[name] = model.predict(X.iloc[new]) != world.y[new]
        true = np.clip(shares[np.arange(new.size), world.y[new]], 1e-6, 1)
        found.log_losses[name] = float(-np.log(true).mean())
    return found


def cells_and_hours(rows: int) -> World:
    """A category of many cells that differ much, one of hours, and one that says nothing."""
    generator = np.random.default_rng(0)
    cell, hour = generator.integers(90, size=rows), generator.integers(24, size=rows)
    age, idle = generator.normal(size=rows), generator.integers(40, size=rows)
    score = 2 * generator.normal(size=90)[cell] + 2 * np.sin(hour / 4) + age * (hour > 12)
    y = generator.random(rows) < 1 / (1 + np.exp(-score))
    names = {"cell": cell, "hour": hour, "idle": idle}
    X = pd.DataFrame(
        {name: pd.Categorical([f"{v:02}" for v in own]) for name, own in names.items()}
    )
    return World(X.assign(age=age), y.astype(np.int64))


def test_categories_are_no_worse_than_codes_or_target_means() -> None:
    found = [errors(cells_and_hours(6_000), 600, seed).log_losses for seed in (0, 1)]
    loss = {name: np.mean([own[name] for own in found]) for name in found[0]}
    assert loss["categories"] < 1.01 * min(loss["codes"], loss["means"])


SETS = {
    "adult": "income",
    "bank_additional": "y",
    "credit_approval": "class",
    "german_credit": "class",
    "house_votes_84": "Class",
    "nursery": "class",
    "splice": "class",
    "tic_tac_toe": "Class",
}


def real_world(name: str) -> World:
    """Read a set with its columns of text as categories, or skip the test and say why."""
    paths = sorted((HOME / name).glob("*.csv.gz"), reverse=True)
    if not paths:
        pytest.skip(f"needs the data set {name}; set PACBOOST_DATA to the folder that has it")
    X = pd.concat([pd.read_csv(path) for path in paths], ignore_index=True)
    y = X.pop(SETS[name])
    for column in X.columns[[not pd.api.types.is_numeric_dtype(kind) for kind in X.dtypes]]:
        X[column] = X[column].astype("category")
    common = y.map(y.value_counts()) >= 10
    return World(X[common], np.unique(y[common], return_inverse=True)[1].astype(np.int64))


@pytest.mark.slow
@pytest.mark.parametrize("name", SETS)
def test_on_real_data_they_are_no_worse_within_noise(name: str) -> None:
    world = real_world(name)
    found = [errors(world, min(3_000, int(0.75 * len(world.y))), seed).wrong for seed in range(3)]
    wrong = {form: np.concatenate([own[form] for own in found]) for form in found[0]}
    for other in ("codes", "means"):
        worse = int((wrong["categories"] & ~wrong[other]).sum())
        better = int((wrong[other] & ~wrong["categories"]).sum())
        # rows that both or neither get right say nothing; of the rest half would fall on each side,
        # and rows of three splits are not independent
        assert worse - better <= 3 * max(1.0, np.sqrt(worse + better)), (other, worse, better)


def test_a_search_says_once_how_columns_are_read() -> None:
    days = pd.date_range("2031-01-01", periods=120).astype(str)
    table = pd.DataFrame({"a day": days, "number": np.arange(120) % 7})
    fast = BoostClassifier(quality="fast", n_estimators=2, random_state=0)
    search = GridSearchCV(fast, {"max_leaves": [4, 8]}, cv=3)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        search.fit(table, table["number"] > 3)
    assert len([entry for entry in caught if "'a day' as dates" in str(entry.message)]) == 1
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(2):
            fast.fit(table, table["number"] > 3)
    assert len([entry for entry in caught if "'a day' as dates" in str(entry.message)]) == 2
