"""Fitted models of every kind that can be exported, and 10,000 rows that are hard to route."""

import ctypes
import shutil
import subprocess
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import pacboost as pb
from pacboost.errors import InputWarning, NoEdgeWarning, OneClassWarning
from pacboost.hypotheses.stump import StumpRule
from pacboost.models import calibration
from pacboost.models.export.program import program_of
from pacboost.models.export.python import to_python
from pacboost.samples.bins import upper_cuts

ROWS = 10_000
COLOURS = [f"colour {k}" for k in range(60)]
MANY_COLOURS = [f"colour {k}" for k in range(700)]
"""More than trees can tell apart, so that rarer ones have means."""
NAMES = ["a", "b", 'c "quoted" ?? */', "colour"]
Floats = NDArray[np.float64]
COMPILER = shutil.which("cc")
FLAGS = ["-std=c99", "-O1", "-Wall", "-Wextra", "-Wmissing-prototypes", "-pedantic", "-Werror"]


@dataclass(frozen=True, eq=False)
class Case:
    """A fitted estimator, and rows to ask it about: as a frame, and with levels by number."""

    estimator: Any
    frame: pd.DataFrame
    numbers: Floats

    @cached_property
    def cells(self) -> list[list[Any]]:
        """The rows as lists of Python's own objects, None where a category is missing."""
        return [
            [None if isinstance(cell, float) and np.isnan(cell) else cell for cell in row]
            for row in self.frame.to_numpy(dtype=object).tolist()
        ]


def _frame(rows: int, seed: int, names: list[str]) -> pd.DataFrame:
    generator = np.random.default_rng(seed)
    a, b = generator.normal(size=(2, rows))
    whole = generator.integers(12, size=rows).astype(np.float64)
    a[generator.random(rows) < 0.1] = np.nan
    whole[generator.random(rows) < 0.1] = np.nan
    colours: NDArray[Any] = generator.choice(np.array([*names, None], dtype=object), size=rows)
    return pd.DataFrame(dict(zip(NAMES, [a, b, whole, colours], strict=True)))


def _score(frame: pd.DataFrame) -> Floats:
    a, b, whole, colour = (frame[name] for name in NAMES)
    odd = colour.map(lambda name: int(name[7:]) % 3 - 1 if isinstance(name, str) else 0)
    score = np.nan_to_num(a) * b + odd + (whole.fillna(3) > 5) - 0.5
    return np.asarray(score, dtype=np.float64)


def _labels(score: Floats, frame: pd.DataFrame) -> dict[str, Any]:
    return {
        "two": np.where(score > 0, "yes", "no"),
        "truth": score > 0,
        "many": np.array(["low", "mid\\dle", "högh"])[np.digitize(score, [-0.7, 0.7])],
        "whole": np.digitize(score, [-1, 0, 1]) * 10,
        "several": np.stack([score > 0, score > 1, score < -0.5], axis=1).astype(np.int64),
        "one": np.full(score.size, "only"),
        "number": score,
        "ratio": score + 5 * np.nan_to_num(frame["b"] / frame["a"]).clip(-3, 3),
        "positive": np.exp(score),
    }


def agree(name: str, found: Any, expected: Any) -> bool:
    """Compare answers: bit for bit, or where exp was taken, up to its rounding."""
    if name == "logarithm":
        return np.allclose(found, expected, rtol=1e-14, atol=0.0)
    return np.array_equal(found, expected)


FITS: dict[str, tuple[Callable[[], Any], str, bool]] = {
    # name: (estimator, labels, whether the category is left out)
    "stumps": (lambda: pb.AdaBoostClassifier(n_estimators=60, random_state=0), "two", True),
    "stumps, many": (lambda: _boost("adaboost", "stump", 40), "many", False),
    "trees": (lambda: _boost("logit", "tree", 10), "truth", False),
    "trees, many": (lambda: _boost("logit", "tree", 6), "whole", False),
    "several": (lambda: _boost("adaboost", "tree", 6), "several", False),
    "constant": (lambda: _boost("logit", "tree", 3, min_leaf_rows=10**6), "two", False),
    "constant, many": (lambda: _boost("logit", "tree", 3, min_leaf_rows=10**6), "many", False),
    "one": (lambda: _boost("adaboost", "tree", 10), "one", False),
    "sigmoid": (lambda: _boost("gentle", "tree", 4, calibrate="sigmoid"), "two", False),
    "sigmoid, many": (lambda: _boost("gentle", "tree", 4, calibrate="sigmoid"), "many", False),
    "isotonic": (lambda: _boost("logit", "tree", 4, calibrate="isotonic"), "two", False),
    "isotonic, many": (lambda: _boost("logit", "tree", 4, calibrate="isotonic"), "many", False),
    "temperature": (lambda: _boost("logit", "tree", 4, calibrate="temperature"), "two", False),
    "temperature, many": (
        lambda: _boost("logit", "tree", 4, calibrate="temperature"), "many", False
    ),
    "number": (lambda: pb.BoostRegressor(n_estimators=10, random_state=0), "number", False),
    "derived": (lambda: pb.BoostRegressor(random_state=0), "ratio", False),
    "means": (lambda: pb.BoostRegressor(n_estimators=120, random_state=0), "number", False),
    "logarithm": (
        lambda: pb.BoostRegressor("gamma", n_estimators=10, random_state=0), "positive", False
    ),
    "forest": (lambda: pb.RandomForestClassifier(8, random_state=0), "two", False),
    "forest, many": (lambda: pb.ExtraTreesClassifier(8, random_state=0), "many", False),
    "forest, hard": (
        lambda: pb.RandomForestClassifier(8, certify="oob", random_state=0), "many", True
    ),
    "forest, number": (lambda: pb.RandomForestRegressor(8, random_state=0), "number", False),
}  # fmt: skip


def _boost(booster: str, learner: str, rounds: int, **options: Any) -> Any:
    return pb.BoostClassifier(booster, learner, n_estimators=rounds, random_state=0, **options)


@cache
def case(name: str) -> Case:
    """Fit a model, and make rows that lie on and around its thresholds."""
    make, labels, plain = FITS[name]
    colours = MANY_COLOURS if name == "means" else COLOURS
    train = _frame(10 * len(colours), seed=1, names=colours)
    wanted = _labels(_score(train), train)[labels]
    columns = NAMES[:3] if plain else NAMES
    with warnings.catch_warnings(), patch.object(calibration, "ROWS_FOR_ISOTONIC", 0):
        warnings.simplefilter("ignore", OneClassWarning)
        warnings.simplefilter("ignore", NoEdgeWarning)
        warnings.simplefilter("ignore", InputWarning)
        estimator = make().fit(train[columns], wanted)
    frame = _hard(estimator, _frame(ROWS, seed=2, names=colours)[columns])
    numbers = frame.copy()
    if not plain:
        known = {name: float(k) for k, name in enumerate(program_of(estimator).levels.columns[3])}
        numbers["colour"] = [known.get(cell, np.nan) for cell in frame["colour"]]
    return Case(estimator, frame, np.ascontiguousarray(numbers.to_numpy(dtype=np.float64)))


def _hard(estimator: Any, frame: pd.DataFrame) -> pd.DataFrame:
    """Put half of all numbers on thresholds, or as near as numbers can be."""
    generator = np.random.default_rng(3)
    frame = frame.copy()
    for column, name in enumerate(NAMES[:3]):
        special = _around(_thresholds(estimator.model_, column))
        hit = generator.random(ROWS) < 0.5
        values = frame[name].to_numpy(dtype=np.float64, copy=True)
        values[hit] = generator.choice(special, size=int(hit.sum()))
        frame[name] = values
    if "colour" in frame:
        frame.loc[generator.random(ROWS) < 0.05, "colour"] = "never seen"
    return frame


def _thresholds(model: Any, column: int) -> NDArray[np.float32]:
    bins = model.bins if hasattr(model, "bins") else model.vote.bins
    own = [] if bins is None else bins.thresholds[column].tolist()
    for rule in getattr(model.vote, "hypotheses", ()):
        if isinstance(rule, StumpRule) and rule.feature == column and np.isfinite(rule.threshold):
            own.append(rule.threshold)
    return np.array([0.0, *own], dtype=np.float32)


def _around(thresholds: NDArray[np.float32]) -> Floats:
    """Return numbers that round to a threshold as 32-bit floats, and those that just do not."""
    up, down = (np.nextafter(thresholds, np.float32(end)) for end in (np.inf, -np.inf))
    plain, last = thresholds.astype(np.float64), upper_cuts(thresholds)
    first = -upper_cuts(-thresholds)
    near = [np.nextafter(own, end) for own in (plain, last, first) for end in (-np.inf, np.inf)]
    beyond = np.array([1e39, -1e39, -0.0, 5e-324, np.nan])
    return np.concatenate([plain, up.astype(np.float64), down, last, first, *near, beyond])


def compiled(source: Path) -> Any:
    """Compile a file and load it."""
    out = source.with_suffix(".so")
    assert COMPILER is not None
    subprocess.run(
        [COMPILER, *FLAGS, "-shared", "-fPIC", str(source), "-o", str(out), "-lm"], check=True
    )
    return ctypes.CDLL(str(out))


def each(function: Any, numbers: NDArray[np.float64], out: NDArray[Any] | None = None) -> list[Any]:
    """Call a function of C on every row, and perhaps on what is to be written for it."""
    arrays = [numbers] if out is None else [numbers, out]
    function.argtypes = [ctypes.c_void_p] * len(arrays)
    starts = [own.ctypes.data + own.strides[0] * np.arange(len(own)) for own in arrays]
    return list(map(function, *(own.tolist() for own in starts)))


def run(text: str) -> Any:
    """Run the text of a module."""
    module = ModuleType("exported")
    exec(compile(text, "exported.py", "exec", dont_inherit=True), module.__dict__)
    return module


def exported(model: Any) -> Any:
    return run(to_python(program_of(model)))
