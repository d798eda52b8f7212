"""What no attack broke has to stand: a quick form in every run of the tests, a large one by hand.

The large form (``make slow``) repeats the counts that docs/attacks.md states.
"""

from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from pacboost import BoostClassifier, StrongClassifier
from pacboost.boosters.registry import BOOSTERS
from pacboost.errors import NotCertified
from pacboost.theory import certify_by_training_rows
from tests.attacks import worlds as kinds
from tests.attacks.worlds import KINDS, World, coins, is_false, make, public_classifiers
from tests.bounds.coverage import check_coverage
from tests.grids import one_in
from tests.runs import RUNS, several_runs

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
DELTA = 0.2
FEW, MANY = 2, RUNS or 60
"""Runs of each kind of world: few are judged all together, many each kind by itself."""


def strong_is_false(world: World, seed: int) -> bool:
    X, y, more = world(seed, 240)
    model = StrongClassifier(delta=DELTA, n_estimators=8, random_state=seed, n_jobs=1)
    certificate = model.fit(X, y, **more).certificate_
    assert certificate.of_what != "training rows"
    return is_false(certificate.value, model, world, seed)


def test_strong_classifiers_cover() -> None:
    violated = sum(strong_is_false(world, seed) for world in KINDS for seed in range(FEW))
    check_coverage("what stood: strong", violated, FEW * len(KINDS), DELTA)


@pytest.mark.slow
@pytest.mark.world
@pytest.mark.parametrize("world", KINDS)
def test_strong_classifiers_cover_in_full(world: World) -> None:
    violated = sum(strong_is_false(world, seed) for seed in range(4, 4 + MANY))
    check_coverage(f"what stood: strong, {world.__name__}", violated, MANY, DELTA)


BOX = DecisionTreeClassifier(max_depth=2)
VARIANTS: list[tuple[str, World, dict[str, Any]]] = [
    ("AdaBoostClassifier", kinds.threshold, {}),
    ("AdaBoostClassifier", kinds.categories, {}),
    ("AdaBoostClassifier", kinds.many_classes, {"multiclass": "samme"}),
    ("AdaBoostClassifier", kinds.missing, {"holdout": 0.5}),
    ("AdaBoostClassifier", kinds.sorted_rows, {"early_stopping": True}),
    ("BoostClassifier", kinds.many_classes, {"learner": "tree"}),
    ("BoostClassifier", kinds.sparse_rows, {"booster": "logit"}),
    ("BoostClassifier", kinds.few_values, {"learner": BOX}),
    ("BoostByMajority", kinds.rare_class, {}),
    ("BaggedBoost", kinds.frame, {}),
    ("MajorityOfBoosters", kinds.threshold, {}),
    ("SubsampledBoost", kinds.coin_flips, {}),
    ("ThreeLearnerBoost", kinds.box, {}),
    ("RandomForestClassifier", kinds.wide, {}),
    ("ExtraTreesClassifier", kinds.words, {}),
    ("BaggingClassifier", kinds.few_rows, {}),
    ("TextBoostClassifier", kinds.words, {"text_columns": ["said"]}),
]
"""An estimator with certify="holdout", a world, and parameters."""


def test_every_hold_out_has_a_variant() -> None:
    assert {name for name, _, _ in VARIANTS} == set(public_classifiers("certify"))


def holdout_is_false(name: str, world: World, more: dict[str, Any], seed: int) -> bool:
    X, y, _ = world(seed, 240)
    model = make(name, certify="holdout", delta=DELTA, random_state=seed, **more).fit(X, y)
    return is_false(model.certificate_.value, model, world, seed)


def test_hold_outs_cover() -> None:
    violated = sum(holdout_is_false(*own, seed) for own in VARIANTS for seed in range(FEW))
    check_coverage("what stood: holdout", violated, FEW * len(VARIANTS), DELTA)


@pytest.mark.slow
@pytest.mark.world
@pytest.mark.parametrize(("name", "world", "more"), VARIANTS)
def test_hold_outs_cover_in_full(name: str, world: World, more: dict[str, Any]) -> None:
    seeds = range(4, 4 + MANY)
    violated = sum(holdout_is_false(name, world, more, seed) for seed in seeds)
    check_coverage(f"what stood: holdout, {name}, {world.__name__}", violated, MANY, DELTA)


@several_runs(20, 660)
@pytest.mark.parametrize("delta", [0.9, 0.99])
def test_certificates_from_training_rows_cover_coins(delta: float, runs: int) -> None:
    """Nearly every certificate might be false at such a delta; hardly any is."""
    violated = 0
    for seed in range(runs):
        rounds, rows = (1, 3, 10)[seed % 3], (60, 200, 500)[seed // 3 % 3]
        sample = coins(seed, rows, features=1 + seed % 4)
        with suppress(NotCertified):  # no stump has an edge
            violated += certify_by_training_rows(
                *sample, rounds, max_bins=(2, 16)[seed % 2], delta=delta, random_state=seed
            )[0].bound < 0.5  # fmt: skip
    check_coverage(f"what stood: training rows on coins, delta {delta:g}", violated, runs, delta)
    assert violated <= runs / 4


@pytest.mark.parametrize(
    "seeds", [pytest.param(1, id="quick"), pytest.param(20, id="large", marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("booster", sorted(BOOSTERS))
def test_training_errors_are_never_above_their_certificate(booster: str, seeds: int) -> None:
    """These certificates hold without any assumption, so not one of them may be false."""
    for seed in range(seeds):
        for world in (kinds.coin_flips, kinds.threshold, kinds.many_classes, kinds.missing):
            if (booster, world) == ("graph_separation", kinds.many_classes):
                continue  # it takes two classes
            for learner in ("stump", "tree"):
                X, y, _ = world(seed, 120)
                model = BoostClassifier(booster, learner, n_estimators=1 + 7 * (seed % 3), n_jobs=1)
                certificate = model.fit(X, y).certificate_
                assert certificate.of_what == "training rows"
                assert np.mean(model.mistakes(X, y)) <= certificate.value


HONEST: dict[str, dict[str, Any]] = {
    "ConfidenceBoost": {"gap": 0.2},
    "FilterBoostClassifier": {"n_estimators": 30},
    "ThreeWayBoost": {"edge": 0.2, "epsilon": 0.3, "delta": 0.1},
    "VersionSpaceClassifier": {"grid": [k / 10 for k in range(11)]},
}
"""What classifiers need beside many distinct rows of numbers to certify something of use."""
MODES = [
    *((name, None) for name in public_classifiers() if "Regressor" not in name),
    *((name, "holdout") for name in public_classifiers("certify")),
    ("RandomForestClassifier", "oob"),
    ("BaggingClassifier", "oob"),
]


@one_in(2)
@pytest.mark.parametrize(
    ("name", "certify"),
    [case for case in MODES if case[1] or case[0] not in public_classifiers("certify")],
)
def test_honest_uses_are_certified(name: str, certify: str | None) -> None:
    """Whoever does everything as the documentation says is not refused, and gets a useful bound."""
    rows = np.random.default_rng(0).random((20_000 if name == "ThreeWayBoost" else 3000, 2))
    X = rows.round(9)
    y = (X[:, 0] > 0.4).astype(int)
    more = {"n_estimators": 30} | HONEST.get(name, {})
    mode = {} if certify is None else {"certify": certify}
    shown: Any = [f"{'up' if a > 0.4 else 'down'} {b:.9f}" for a, b in X.tolist()]
    model = make(name, random_state=0, **{"delta": 0.05, **more}, **mode)
    model.fit(shown if name == "TextBoostClassifier" else X, y)
    assert model.certificate_.of_what == "new examples"
    assert model.certificate_.value < 0.35
