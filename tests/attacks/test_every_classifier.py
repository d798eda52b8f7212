"""Every public classifier in every certify mode: does its claim cover, or does it refuse?

Labels are coin flips, so whatever is learned, its risk on new rows is 1/2. Classifiers are found in
``pacboost.__all__``. ``EXPECTED`` lists what each has to do in each world, so that neither a false
claim nor a refusal that nobody expects goes unnoticed; a classifier that is not listed fails.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

from pacboost.bounds.wording import NEW_EXAMPLES
from tests.attacks.worlds import coins, make, public_classifiers
from tests.bounds.coverage import allowed_violations
from tests.grids import one_in
from tests.runs import several_runs

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
DELTA = 0.05
FEW = 6
Rows = tuple[Any, NDArray[Any]]
MEMORISING = {"max_leaves": 60, "min_leaf_rows": 1, "learning_rate": 1.0, "n_estimators": 8}
"""Rules that learn rows by heart: rows that occur on both sides of a division show most there."""


def plain(seed: int) -> Rows:
    return coins(seed, 150)


def copies(seed: int) -> Rows:
    X, y = coins(seed, 90)
    return np.repeat(X, 8, axis=0), np.repeat(y, 8)


def some_copies(seed: int) -> Rows:
    """A fifth of the rows comes twice."""
    X, y = coins(seed, 500)
    return np.concatenate([X, X[:100]]), np.concatenate([y, y[:100]])


def oversampled(seed: int) -> Rows:
    """Rows of a rare class are drawn again and again until the classes are even.

    New rows are like those before that, so whatever is learned errs on the rare class at least.
    """
    X, y = coins(seed, 600)
    rare = np.flatnonzero(y)[:60]
    more = np.random.default_rng(seed).choice(rare, 240)
    rows = np.concatenate([np.flatnonzero(y == 0), rare, more])
    return X[rows], y[rows]


def categories(seed: int) -> Rows:
    X, y = coins(seed, 150)
    codes = (X[:, 0] * 60).astype(int)
    return pd.DataFrame({"kind": pd.Categorical.from_codes(codes, list(range(60)))}), y


def texts(seed: int) -> Rows:
    X, y = coins(seed, 150)
    said = [f"word{int(1e6 * value)} item{int(1e3 * value)}" for value in X[:, 0]]
    return pd.DataFrame({"said": said}), y


WORLDS: dict[str, Callable[[int], Rows]] = {
    world.__name__: world for world in (plain, copies, some_copies, categories, texts, oversampled)
}
COPIED = ("copies", "some_copies", "oversampled")
"""Worlds whose equal rows are copies, which a user has to say."""
RISK = {"oversampled": 1 / 6}
"""The least risk in a world, if it is not 1/2."""
NEW, OTHER, REFUSES, OPEN = "NOR-"
"""What is expected: a claim about new examples that covers, a claim about something else, a
refusal, or nothing, since rows that were drawn again from a few look like draws from a discrete
domain and only a hold-out guards against them."""

BOOSTING = {None: "OOOOO-", "holdout": "NNNNNN", "oob": "RRRRR-"}
COMMITTEE = {**BOOSTING, None: "RRRRR-"}
FOREST = {**COMMITTEE, "oob": "NNNNN-"}
EXPECTED: dict[str, dict[str | None, str]] = {
    "AdaBoostClassifier": BOOSTING,
    "BaggedBoost": COMMITTEE,
    "BaggingClassifier": {**COMMITTEE, "holdout": "NNNRRN", "oob": "NNNRR-"},
    "BoostByMajority": BOOSTING,
    "BoostClassifier": BOOSTING,
    "ConfidenceBoost": {None: "RRRRR-"},  # there are too few rows for its theorem
    "ExtraTreesClassifier": COMMITTEE,  # without bootstrap no row is out of bag
    "FilterBoostClassifier": {None: "NNNNNN"},
    "MajorityOfBoosters": COMMITTEE,
    "RandomForestClassifier": FOREST,
    "RectangleClassifier": {None: "RRRRR-"},  # coins are no box
    "StrongClassifier": {None: "NNNNN-"},
    "SubsampledBoost": COMMITTEE,
    "TextBoostClassifier": BOOSTING,
    "ThreeLearnerBoost": COMMITTEE,
    "ThreeWayBoost": {None: "RRRRR-"},  # nothing learns coins
    "VersionSpaceClassifier": {None: "NNNRR-"},
}
"""For each classifier and value of ``certify``, a letter for each world."""


def claim(name: str, certify: str | None, world: str, seed: int) -> float | None:
    """Return what a fit certifies about new examples; None if it certifies something else."""
    X, y = WORLDS[world](seed)
    more = {} if certify is None else {"certify": certify}
    model = make(name, random_state=seed, delta=DELTA, **MEMORISING, **more)
    if name == "TextBoostClassifier":
        table = X if isinstance(X, pd.DataFrame) else pd.DataFrame(X)
        X = [" ".join(map(str, row)) for row in table.to_numpy().tolist()]
    certificate = model.fit(X, y, copies="distinct" if world in COPIED else "draws").certificate_
    return float(certificate.value) if certificate.of_what == NEW_EXAMPLES else None


def cases() -> list[tuple[str, str | None, str, str]]:
    return [
        (name, certify, world, letter)
        for name, modes in EXPECTED.items()
        for certify, letters in modes.items()
        for world, letter in zip(WORLDS, letters, strict=True)
        if letter != OPEN
    ]


def test_every_classifier_is_listed_in_every_mode() -> None:
    modes = {None, "holdout", "oob"}
    certifying = public_classifiers("certify")
    found = {
        name: modes if name in certifying else {None}
        for name in public_classifiers()
        if "Regressor" not in name
    }
    assert {name: set(listed) for name, listed in EXPECTED.items()} == found


@one_in(7)
@several_runs(FEW, 10)
@pytest.mark.parametrize(("name", "certify", "world", "expected"), cases())
def test_coins_are_never_certified(
    name: str, certify: str | None, world: str, expected: str, runs: int
) -> None:
    violated, seen, refusals = 0, set(), []
    enough = 2 if runs == FEW else 10  # a refusal does not depend on luck
    for seed in range(runs if expected == NEW else enough):
        try:
            value = claim(name, certify, world, seed)
        except ValueError as refusal:  # of pacboost, or of scikit-learn where it checks the input
            seen.add(REFUSES)
            refusals.append(str(refusal))
        else:
            seen.add(OTHER if value is None else NEW)
            violated += value is not None and value < RISK.get(world, 0.5)
    assert seen == {expected}
    assert violated <= allowed_violations(runs, DELTA)
    assert all(refusals)
