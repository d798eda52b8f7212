"""What a model of every kind answers, to the last bit: alone, in batches, and on other machines.

``answer_bytes.json`` holds a SHA-256 of every answer. Where a change is intended, write the file
again with ``python -m tests.test_answer_bytes`` and name the kinds that changed in the commit
message. Processes in which NumPy, BLAS, the kernels and the C library may use nothing but what
every processor has give the same bytes.
"""

import hashlib
import json
import os
import platform
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterable
from dataclasses import fields, is_dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse

import pacboost
from pacboost import BoostClassifier, BoostRegressor, theory
from pacboost.errors import PacboostError
from pacboost.questions.answering import certify_answers
from tests.levels import levels_here
from tests.models.kinds import KINDS, frame, numbers
from tests.public import estimators
from tests.recorded_models import (
    ANSWERS,
    MODELS,
    SCORE,
    SEEDED,
    TEXTS,
    X,
    committee,
    features,
    on_linux,
)  # fmt: skip
from tests.recorded_models import digest as of_model

HASHES = Path(__file__).with_name("answer_bytes.json")
ROOT = Path(__file__).parents[1]
MANY = numbers(4_600)[0][2_300:]
"""Enough rows for compiled loops; none of them is a training row."""
MANY_SCORE = MANY[:, 0] + MANY[:, 1] * MANY[:, 2]
FEW = 9

BY_ROW = (
    "predict", "decision_function", "predict_proba", "predict_log_proba", "votes", "spread",
    "apply", "predict_set", "predict_interval", "shap_values", "staged_predict",
    "staged_decision_function", "staged_predict_proba",
)  # fmt: skip
"""Methods that answer row by row."""
COVERING = ("predict_set", "predict_interval")
"""Asked of what ``sets`` or ``intervals`` has made of a model."""
OF_MODELS = (
    "feature_importances_", "oob_prediction_", "oob_decision_function_", "estimator_weights_",
    "votes_", "shapes", "partial_dependence", "rules",
)  # fmt: skip
OF_LABELS = (
    "mistakes", "margins", "staged_margins", "staged_score", "ranking", "permutation_importances",
    "weights", "proof", "answers", "monitored", "score",
)  # fmt: skip


def boosted(labels: str = "two", **given: Any) -> Any:
    chosen: dict[str, Any] = {"n_estimators": 12, **SEEDED, **given}
    return BoostClassifier(**chosen).fit(X, ANSWERS[labels])


def link(loss: str) -> Any:
    return BoostRegressor(loss, n_estimators=8, **SEEDED).fit(X, np.abs(SCORE) + 0.5)


def several_forest() -> Any:
    return pacboost.RandomForestClassifier(20, **SEEDED).fit(X, ANSWERS["several"])


def sparse() -> Any:
    few = scipy.sparse.csr_array(np.where(np.abs(X) > 0.5, X, 0.0))
    return BoostClassifier(n_estimators=6, **SEEDED).fit(few, ANSWERS["two"])


def of_all(name: str, target: Any) -> Any:
    return estimators()[name](n_estimators=20, **SEEDED).fit(X, target)


MADE: dict[str, Callable[[], Any]] = {
    "logit two": boosted,
    "logit many": partial(boosted, "many"),
    "logit several": partial(boosted, "several"),
    "logit sigmoid": partial(boosted, calibrate="sigmoid"),
    "logit isotonic": KINDS["many_classes"],
    "logit temperature": partial(boosted, "many", calibrate="temperature"),
    "logit stumps": partial(boosted, learner="stump"),
    "adaboost many": partial(boosted, "many", booster="adaboost"),
    "stumps held out": KINDS["stumps"],
    "frame": KINDS["trees"],
    "words": MODELS["text"],
    "sparse": sparse,
    "poisson": partial(link, "poisson"),
    "gamma": partial(link, "gamma"),
    "square": partial(link, "square"),
    "several forest": several_forest,
    "BaggingClassifier": partial(of_all, "BaggingClassifier", ANSWERS["many"]),
    "BaggingRegressor": partial(of_all, "BaggingRegressor", SCORE),
    "BaggingRegressor of trees": lambda: pacboost.BaggingRegressor(
        "tree", n_estimators=20, **SEEDED
    ).fit(X, SCORE),
    "RandomForestClassifier": partial(of_all, "RandomForestClassifier", ANSWERS["many"]),
    "RandomForestRegressor": partial(of_all, "RandomForestRegressor", SCORE),
    "ExtraTreesClassifier": partial(of_all, "ExtraTreesClassifier", ANSWERS["two"]),
    "ExtraTreesRegressor": partial(of_all, "ExtraTreesRegressor", SCORE),
    "BaggedBoost": partial(committee, "BaggedBoost", n_bags=9, n_estimators=3),
    **{
        name: MODELS[name]
        for name in (
            "BoostByMajority", "MajorityOfBoosters", "SubsampledBoost", "ThreeLearnerBoost",
            "ThreeWayBoost", "ConfidenceBoost", "StrongClassifier", "FilterBoostClassifier",
            "RectangleClassifier", "VersionSpaceClassifier", "AdaBoostClassifier plain",
        )
    },
}  # fmt: skip


@cache
def model_of(kind: str) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return MADE[kind]()


@cache
def covering_of(kind: str) -> Any:
    """The sets or intervals of a model, None if it refuses."""
    model = model_of(kind)
    y = labels_of(model)
    make = pacboost.sets if hasattr(model, "classes_") else pacboost.intervals
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return None if y is None else make(model, MANY[:800], y[:800], coverage=0.8)
    except PacboostError:
        return None


def asked(kind: str) -> Any:
    """Rows that a model of a kind can read."""
    if kind == "words":
        return TEXTS[:60]
    if kind in ("frame", "logit isotonic"):
        return frame()
    return (
        scipy.sparse.csr_array(np.where(np.abs(MANY) > 0.5, MANY, 0)) if kind == "sparse" else MANY
    )


def labels_of(model: Any) -> Any:
    """True answers to the many rows, of the kind that a model gives."""
    classes = getattr(model, "classes_", None)
    if classes is None or len(classes) == 0:
        return MANY_SCORE if model.n_features_in_ == MANY.shape[1] else None
    if getattr(model, "several_labels_", False):
        return np.stack([MANY_SCORE > 0, MANY_SCORE > 1, MANY_SCORE < -1], axis=1).astype(int)
    if getattr(model, "n_features_in_", 0) != MANY.shape[1] or not isinstance(classes, np.ndarray):
        return None
    return classes[np.digitize(MANY_SCORE, [-1, 0, 1][: len(classes) - 1])]


def monitored(model: Any, given: Any, y: Any) -> Any:
    """Return what a monitor has seen after some rows."""
    monitor = pacboost.Monitor(model, error=0.2, reference=MANY)
    monitor.update(given + 0.3, y)
    return monitor.status()


OF_VOTES: dict[str, Callable[..., Any]] = {
    "staged_margins": theory.staged_margins,
    "ranking": theory.ranking,
    "weights": lambda model, *_: theory.weights(model, 2, X, ANSWERS["two"]),
    "proof": lambda model, *_: theory.proof(model, X, ANSWERS["two"]),
    "answers": certify_answers,
}
"""Functions of a vote, with rows and labels."""


def said(kind: str, name: str, *given: Any) -> Any:
    """What a method or a function says of a model, None if it refuses."""
    model = covering_of(kind) if name in COVERING else model_of(kind)
    options = SEEDED if name == "permutation_importances" else {}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if name in OF_VOTES or name == "monitored":
                ask: Callable[..., Any] = OF_VOTES.get(name, monitored)
                return ask(model, *given)
            found = getattr(model, name)
            return found(*given, **options) if callable(found) else found
    except (PacboostError, AttributeError):
        return None


def names_of(kind: str, names: Iterable[str]) -> list[str]:
    """Which of the names a model of this kind has."""
    model = model_of(kind)
    return [
        name
        for name in names
        if hasattr(model, name)
        or name in COVERING
        or (name in OF_VOTES and hasattr(model, "margins"))
        or (name, kind) == ("monitored", "logit two")
    ]


def arrays(found: Any) -> Iterable[bytes]:
    """The bytes of everything that a method gave."""
    if hasattr(found, "tocsr"):
        found = found.toarray()
    if isinstance(found, np.ndarray) and found.dtype != object:
        yield np.ascontiguousarray(found).tobytes()
    elif isinstance(found, np.ndarray | list | tuple) or hasattr(found, "__next__"):
        for part in found:
            yield from arrays(part)
    elif isinstance(found, dict):
        yield from arrays(list(found.items()))
    elif is_dataclass(found):
        yield from arrays([getattr(found, part.name) for part in fields(found)])
    elif hasattr(found, "values") and isinstance(found.values, np.ndarray):
        yield from arrays(found.values)
    elif isinstance(found, float | np.floating):
        yield float(found).hex().encode()
    else:
        yield repr(found).encode()


def digest(found: Any) -> str:
    return hashlib.sha256(b"|".join(arrays(found))).hexdigest()[:16]


@cache
def digests(kind: str) -> dict[str, str]:
    model, given = model_of(kind), asked(kind)
    y = labels_of(model) if given is MANY else None
    own = {name: said(kind, name, given) for name in names_of(kind, BY_ROW)}
    own |= {name: said(kind, name) for name in names_of(kind, OF_MODELS)}
    if y is not None:
        wanted = names_of(kind, OF_LABELS)
        own |= {name: said(kind, name, given[:600], y[:600]) for name in wanted}
    return {name: digest(found) for name, found in own.items() if found is not None}


CERTIFIED = ("answers",)
"""Certificates are compared between machines, not recorded: their words and fields may change."""


def to_record(kind: str) -> dict[str, str]:
    return {name: found for name, found in digests(kind).items() if name not in CERTIFIED}


def recorded() -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = json.loads(HASHES.read_text(encoding="utf-8"))
    return found


def test_every_public_estimator_is_asked() -> None:
    public = {name for name, kind in estimators().items() if hasattr(kind, "predict")}
    public -= {"AdaBoostRegressor"}  # its numbers are those of scikit-learn's trees
    assert public == {type(model_of(kind)).__name__ for kind in MADE} & public


@on_linux
@pytest.mark.parametrize("kind", MADE)
def test_answers_are_as_recorded(kind: str) -> None:
    assert to_record(kind) == recorded()[kind]


@pytest.mark.parametrize("kind", [kind for kind in MADE if kind not in ("words", "sparse")])
def test_a_row_has_the_same_answer_in_any_company(kind: str) -> None:
    given = asked(kind)
    table = given if isinstance(given, np.ndarray) else None
    for name in names_of(kind, BY_ROW):
        whole = by_row(said(kind, name, given))
        if whole is None:  # it refused
            continue
        few = given[:FEW]
        for size in (1, 4, FEW):
            parts = [by_row(said(kind, name, few[k : k + size])) for k in range(0, FEW, size)]
            assert np.concatenate(parts).tobytes() == whole[:FEW].tobytes(), (name, size)
        if table is not None:
            for other in (np.asfortranarray(table), table.astype(np.float32), table[::-1][::-1]):
                assert by_row(said(kind, name, other)).tobytes() == whole.tobytes(), name
            assert by_row(said(kind, name, table[5::3])).tobytes() == whole[5::3].tobytes(), name


def by_row(found: Any) -> Any:
    """Answers with rows first, without what is the same for all rows."""
    if found is None:
        return None
    if hasattr(found, "__next__"):
        return np.stack(list(found), axis=1)
    return np.ascontiguousarray(getattr(found, "values", found))


SCRIPT = """
import json
from tests.test_answer_bytes import here
print(json.dumps(here()))
"""
SOLVED = ("erlp stump two", "total stump two", "soft stump two")
"""Models whose fits solve equations."""


@cache
def here() -> dict[str, Any]:
    """Return the bytes of all answers, and of models that BLAS has a part in."""
    return {kind: digests(kind) for kind in MADE} | {
        kind: of_model(MODELS[kind]) for kind in SOLVED
    }


def elsewhere(**variables: str) -> dict[str, Any]:
    """Ask in a process with other environment variables."""
    path = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    known = {**os.environ, **variables, "PYTHONPATH": path}
    command = [sys.executable, "-W", "ignore", "-c", SCRIPT]
    done = subprocess.run(command, env=known, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stderr[-3_000:]
    found: dict[str, Any] = json.loads(done.stdout)
    return found


PLAIN = {
    "NPY_DISABLE_CPU_FEATURES": features(),
    "OPENBLAS_NUM_THREADS": "1",
    "OPENBLAS_CORETYPE": "ARMV8" if platform.machine() == "aarch64" else "Prescott",
    "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-FMA,-FMA4,-AVX2,-AVX,-AVX512F",
}


def test_a_plain_processor_gives_the_same_answers() -> None:
    assert elsewhere(**PLAIN) == here()


@pytest.mark.parametrize("level", levels_here())
def test_kernels_of_every_level_give_the_same_answers(level: str) -> None:
    assert elsewhere(**PLAIN, PACBOOST_LEVEL=level) == here()


if __name__ == "__main__":
    found = {kind: to_record(kind) for kind in MADE}
    HASHES.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
