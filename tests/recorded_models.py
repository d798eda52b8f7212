"""A model of every kind, and the SHA-256 of its bytes (test_model_bytes.py compares them).

``model_bytes.json`` holds a SHA-256 for every kind, the same for every processor. Logarithms of
single numbers are those of the C library, so the hashes are of Linux. Where a change of the bytes
is intended, write the file again with ``python -m tests.recorded_models`` and name the kinds that
changed in the commit message. What models answer is in ``answer_bytes.json``.
"""

import hashlib
import json
import platform
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from sklearn.tree import DecisionTreeClassifier

import pacboost
from pacboost import AdaBoostClassifier, BoostClassifier, BoostRegressor
from pacboost.boosters.registry import BOOSTERS
from pacboost.errors import FileError, PacboostError
from pacboost.models.file import container
from tests.model_files import opened
from tests.models.kinds import KINDS, SAID, frame, numbers
from tests.public import estimators

HASHES = Path(__file__).parent / "model_bytes.json"
Fit = Callable[[], Any]

X, SCORE = numbers()
SEEDED: dict[str, Any] = {"random_state": 0}
ANSWERS: dict[str, Any] = {
    "two": SCORE > 0,
    "many": np.digitize(SCORE, [-1, 0, 1]),
    "several": np.stack([SCORE > 0, SCORE > 1, SCORE < -1], axis=1).astype(int),
}
WEIGHTS = np.random.default_rng(7).uniform(0.2, 3.0, SCORE.size)
TEXTS, TOPICS = SAID * 3, ["lost", "top-up", "lost", "rate"] * 30


def boosted(booster: Any, learner: str, labels: str = "two", **parameters: Any) -> Any:
    weights = parameters.pop("weights", None)
    model = BoostClassifier(booster, learner, n_estimators=5, **SEEDED | parameters)
    return model.fit(X, ANSWERS[labels], weights)


def adaboost(labels: str = "two", **parameters: Any) -> Any:
    weights = parameters.pop("weights", None)
    model = AdaBoostClassifier(n_estimators=6, **SEEDED | parameters)
    return model.fit(X, ANSWERS[labels], weights)


def regression(**parameters: Any) -> Any:
    weights = parameters.pop("weights", None)
    return BoostRegressor(n_estimators=5, **SEEDED | parameters).fit(X, SCORE, weights)


def text(**parameters: Any) -> Any:
    model = pacboost.TextBoostClassifier(n_estimators=4, **SEEDED | parameters)
    return model.fit(TEXTS, TOPICS)


def continued(model: Any, y: Any, rounds: str, count: int) -> Any:
    """A model that was fitted with fewer rounds first."""
    return model.fit(X, y).set_params(**{rounds: count, "warm_start": True}).fit(X, y)


def filtered(booster: str, learner: str = "tree", **parameters: Any) -> Any:
    model = pacboost.FilterBoostClassifier(booster, learner, n_estimators=4, **SEEDED | parameters)
    return model.fit(np.tile(X, (5, 1)), np.tile(SCORE > 0, 5), copies="draws")


def committee(name: str, *given: Any, rows: int = 300, **parameters: Any) -> Any:
    many, score = numbers(rows)
    return estimators()[name](*given, **SEEDED | parameters).fit(many, score > 0)


def members(name: str, target: Any, **parameters: Any) -> Any:
    return estimators()[name](n_estimators=4, **SEEDED | parameters).fit(X, target)


def rectangle() -> Any:
    inside = (np.abs(X) < 1).all(axis=1)
    return pacboost.theory.RectangleClassifier().fit(X, inside)


def by_boosters() -> dict[str, Fit]:
    return {
        f"{booster} {learner} {labels}": partial(boosted, booster, learner, labels)
        for booster in BOOSTERS
        for learner in ("stump", "tree")
        for labels in ANSWERS
    }


def by_settings() -> dict[str, Fit]:
    early: dict[str, Any] = {"early_stopping": 2, "validation_fraction": 0.3}
    stumps = {
        "plain": {},
        "weights": {"weights": WEIGHTS},
        "resample": {"resample": True},
        "early stopping": early,
        "confidence rated": {"confidence_rated": True},
        "a scikit-learn tree": {"estimator": DecisionTreeClassifier(max_depth=2, random_state=0)},
        "certify holdout": {"certify": "holdout"},
        "m1": {"labels": "many", "multiclass": "m1"},
        "samme": {"labels": "many", "multiclass": "samme"},
        "samme weights": {"labels": "many", "multiclass": "samme", "weights": WEIGHTS},
        "samme resample": {"labels": "many", "multiclass": "samme", "resample": 80},
        "mh resample": {"labels": "many", "resample": True},
        "several weights": {"labels": "several", "weights": WEIGHTS},
        "no mistakes": {"estimator": DecisionTreeClassifier(random_state=0)},
    }
    trees = {
        "weights": {"weights": WEIGHTS},
        "subsample": {"subsample": 0.5},
        "interactions": {"interactions": 2},
        "early stopping": early,
        "softmax weights": {"labels": "many", "weights": WEIGHTS},
        "softmax early stopping": {"labels": "many", **early},
        "softmax subsample": {"labels": "many", "subsample": 0.5},
        "sigmoid": {"calibrate": "sigmoid"},
        "temperature": {"labels": "many", "calibrate": "temperature"},
        "depth": {"max_depth": 2, "max_features": 0.7},
        "monotone": {"monotone_constraints": [1, 0, 0]},
    }
    return {
        **{f"AdaBoostClassifier {name}": partial(adaboost, **p) for name, p in stumps.items()},
        **{f"trees {name}": partial(boosted, "logit", "tree", **p) for name, p in trees.items()},
        **{
            f"{booster} early stopping": partial(boosted, booster, "stump", **early)
            for booster in ("lp", "soft", "graph_separation", "brown", "majority")
        },
        **{
            f"{booster} weights": partial(boosted, booster, "stump", weights=WEIGHTS)
            for booster in ("projection", "majority", "brown", "soft", "measure")
        },
    }


def by_inputs() -> dict[str, Fit]:
    sparse = scipy.sparse.csr_array(np.where(np.abs(X) > 0.5, X, 0.0))
    logit = partial(BoostClassifier, n_estimators=4, **SEEDED)
    return {
        "sparse": lambda: logit().fit(sparse, ANSWERS["two"]),
        "sparse many": lambda: logit().fit(sparse, ANSWERS["many"]),
        "frame": lambda: logit().fit(frame(), ANSWERS["two"]),
        "text": text,
        "text early stopping": partial(text, early_stopping=True, validation_fraction=0.3),
        "text adaboost": partial(text, booster="adaboost"),
        "text certify": partial(text, certify="holdout"),
        "square": regression,
        "absolute": partial(regression, loss="absolute"),
        "square weights": partial(regression, weights=WEIGHTS),
        "absolute early stopping": partial(
            regression, loss="absolute", early_stopping=True, validation_fraction=0.3
        ),
    }


def by_continuing() -> dict[str, Fit]:
    def boost(booster: str, learner: str, labels: str) -> Fit:
        first = partial(BoostClassifier, booster, learner, n_estimators=3, **SEEDED)
        return lambda: continued(first(), ANSWERS[labels], "n_estimators", 6)

    kinds = [
        ("adaboost", "stump", "two"), ("adaboost", "tree", "many"), ("logit", "tree", "two"),
        ("logit", "tree", "many"), ("gentle", "tree", "several"), ("mada", "stump", "two"),
        ("lp", "stump", "two"), ("soft", "stump", "two"), ("majority", "stump", "two"),
        ("projection", "stump", "two"), ("brown", "stump", "two"), ("smooth", "tree", "two"),
        ("graph_separation", "stump", "two"), ("arc_gv", "stump", "two"),
    ]  # fmt: skip
    samme = partial(AdaBoostClassifier, n_estimators=3, multiclass="samme", **SEEDED)
    square = partial(BoostRegressor, n_estimators=3, **SEEDED)
    absolute = partial(BoostRegressor, "absolute", n_estimators=3, **SEEDED)
    return {
        **{f"continued {' '.join(kind)}": boost(*kind) for kind in kinds},
        "continued samme": lambda: continued(samme(), ANSWERS["many"], "n_estimators", 6),
        "continued square": lambda: continued(square(), SCORE, "n_estimators", 6),
        "continued absolute": lambda: continued(absolute(), SCORE, "n_estimators", 6),
    }


def by_estimators() -> dict[str, Fit]:
    two, many = ANSWERS["two"], ANSWERS["many"]
    three: dict[str, Any] = {"edge": 0.1, "epsilon": 0.3, "max_draws": 60_000}
    return {
        "BoostByMajority": partial(committee, "BoostByMajority", edge=0.2, epsilon=0.2),
        "MajorityOfBoosters": partial(committee, "MajorityOfBoosters", n_estimators=3),
        "BaggedBoost": partial(committee, "BaggedBoost", n_bags=3, n_estimators=3),
        "SubsampledBoost": partial(committee, "SubsampledBoost", max_members=3, n_estimators=3),
        "ThreeLearnerBoost": partial(committee, "ThreeLearnerBoost", "stump", certify="holdout"),
        "ThreeWayBoost": partial(committee, "ThreeWayBoost", rows=2000, **three),
        "ConfidenceBoost": partial(committee, "ConfidenceBoost", epsilon=0.3, rows=600),
        "StrongClassifier": partial(committee, "StrongClassifier", n_estimators=5),
        "BaggingClassifier": partial(members, "BaggingClassifier", many),
        "BaggingClassifier pasting": partial(
            members, "BaggingClassifier", two, bootstrap=False, max_samples=0.5, certify="holdout"
        ),
        "BaggingRegressor": partial(members, "BaggingRegressor", SCORE),
        "RandomForestClassifier": partial(members, "RandomForestClassifier", many),
        "RandomForestRegressor": partial(members, "RandomForestRegressor", SCORE, oob_score=True),
        "ExtraTreesClassifier": partial(members, "ExtraTreesClassifier", two),
        "ExtraTreesRegressor": partial(members, "ExtraTreesRegressor", SCORE),
        "FilterBoostClassifier": partial(filtered, "logit", sample_rows=60),
        "FilterBoostClassifier mada": partial(filtered, "mada", "stump", sample_rows=60),
        "FilterBoostClassifier majority": partial(
            filtered, "majority", "stump", edge=0.2, epsilon=0.3
        ),
        "FilterBoostClassifier projection": partial(
            filtered, "projection", "stump", edge=0.2, epsilon=0.3
        ),
        "FilterBoostClassifier with an edge": partial(
            filtered, "smooth", "stump", edge=0.1, epsilon=0.4
        ),
        "RectangleClassifier": rectangle,
        "VersionSpaceClassifier": lambda: pacboost.theory.VersionSpaceClassifier(feature=0).fit(
            X, X[:, 0] > 0.3
        ),
    }


MODELS: dict[str, Fit] = {
    **{f"file {kind}": fit for kind, fit in KINDS.items()},
    **by_boosters(),
    **by_settings(),
    **by_inputs(),
    **by_continuing(),
    **by_estimators(),
}


def digest(fit: Fit) -> str:
    """The SHA-256 of what a fit made, or the class of the error by which it was refused."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return hashlib.sha256(content(fit())).hexdigest()
    except PacboostError as problem:
        return f"refused: {type(problem).__name__}"


def content(model: Any) -> bytes:
    """The part of a model's file that equal fits share; without a file, predictions and ledger."""
    try:
        if "Bagging" in type(model).__name__:  # recorded before bags had files
            raise FileError("predictions are compared")
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.pacb"
            model.save(path)
            core = opened(path, container.kind_of(path))["model"]
            return b"".join(container.packed({"model": core}))
    except (AttributeError, FileError):
        ledger = getattr(model, "ledger_", None)
        rounds = [] if ledger is None else [replace(entry, seconds=0.0) for entry in ledger.rounds]
        predict = getattr(model, "decision_function", model.predict)
        return np.asarray(predict(X)).tobytes() + repr(rounds).encode()


def features() -> str:
    """Name what this processor can do and NumPy may do without."""
    from numpy._core._multiarray_umath import __cpu_baseline__, __cpu_dispatch__, __cpu_features__  # type: ignore[import-not-found,attr-defined,unused-ignore]

    have = [name for name in __cpu_dispatch__ if __cpu_features__.get(name)]
    return " ".join(name for name in have if name not in __cpu_baseline__)


def recorded() -> dict[str, str]:
    found: dict[str, str] = json.loads(HASHES.read_text(encoding="utf-8"))
    return found


def write() -> None:
    """Record the bytes of this version's models."""
    known = {name: digest(fit) for name, fit in MODELS.items()}
    HASHES.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")


on_linux = pytest.mark.skipif(
    platform.system() != "Linux", reason="logarithms differ between C libraries"
)


if __name__ == "__main__":
    write()
