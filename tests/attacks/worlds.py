"""Worlds in which a false certificate shows, and the estimators that are tried in them."""

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from tests.public import estimators

SMALL = {
    "n_estimators": 5, "n_bags": 3, "max_members": 3, "min_count": 1, "n_jobs": 1,
}  # fmt: skip
"""Parameters that keep a fit short, for estimators that have them."""


def coins(seed: int, rows: int, features: int = 3) -> tuple[NDArray[Any], NDArray[Any]]:
    """Labels are coin flips: whatever is learned, its risk is 1/2."""
    generator = np.random.default_rng(seed)
    return generator.random((rows, features)), generator.integers(0, 2, rows)


def public_classifiers(*parameters: str) -> list[str]:
    """Name all public classifiers that have some parameters: a new one is attacked by default."""
    found = []
    for name, kind in estimators().items():
        own = inspect.signature(kind).parameters
        if hasattr(kind, "predict") and all(parameter in own for parameter in parameters):
            found.append(name)
    return found


def make(name: str, **parameters: Any) -> Any:
    """Make a small estimator; parameters that it does not have are left out."""
    kind = estimators()[name]
    known = set(inspect.signature(kind).parameters)
    return kind(**{key: own for key, own in (SMALL | parameters).items() if key in known})


# Kinds of worlds that can be drawn from without end, so that the risk of a classifier is known.
#
# A world gives rows, labels and what else ``fit`` takes. Where labels are coins, the risk of every
# classifier is 1/2; elsewhere it is counted on many new rows.

Draw = tuple[Any, NDArray[Any], dict[str, Any]]
World = Callable[[int, int], Draw]
FRESH = 4000
"""So many new rows tell the risk, up to less than one percentage point."""


def flipped(y: NDArray[Any], chance: float, seed: int) -> NDArray[Any]:
    noise = np.random.default_rng(seed + 10**6).random(len(y)) < chance
    return np.where(noise, 1 - y, y)


def uniform(seed: int, rows: int, features: int = 3) -> NDArray[np.float64]:
    return np.random.default_rng(seed).random((rows, features))


def coin_flips(seed: int, rows: int) -> Draw:
    return *coins(seed, rows), {}


def threshold(seed: int, rows: int) -> Draw:
    X = uniform(seed, rows)
    return X, flipped((X[:, 0] > 0.4).astype(int), 0.2, seed), {}


def box(seed: int, rows: int) -> Draw:
    X = uniform(seed, rows, 2)
    return X, ((X > 0.2) & (X < 0.8)).all(axis=1).astype(int), {}


def rare_class(seed: int, rows: int) -> Draw:
    X = uniform(seed, rows)
    return X, flipped((X[:, 0] > 0.95).astype(int), 0.05, seed), {}


def few_values(seed: int, rows: int) -> Draw:
    """Rows repeat by chance: there are 64 different ones."""
    X = np.floor(4 * uniform(seed, rows))
    return X, flipped((X[:, 0] > X[:, 1]).astype(int), 0.15, seed), {}


def some_repeats(seed: int, rows: int) -> Draw:
    """One row in five is the same point; all other rows differ."""
    X = uniform(seed, rows)
    X[np.random.default_rng(seed + 7).random(rows) < 0.2] = 0.5
    return X, flipped((X[:, 0] > 0.4).astype(int), 0.2, seed), {}


def categories(seed: int, rows: int) -> Draw:
    X = uniform(seed, rows)
    codes = (X[:, 0] * 12).astype(int)
    frame = pd.DataFrame({"kind": pd.Categorical.from_codes(codes, list("abcdefghijkl"))})
    return frame.assign(size=X[:, 1]), flipped(codes % 2, 0.1, seed), {}


def words(seed: int, rows: int) -> Draw:
    """Texts of some known and many unknown words, in a frame of one column."""
    X = uniform(seed, rows)
    said = [f"{'good' if a > 0.5 else 'poor'} item{int(1e5 * b)} made" for a, b, _ in X.tolist()]
    return pd.DataFrame({"said": said}), flipped((X[:, 0] > 0.5).astype(int), 0.15, seed), {}


def many_classes(seed: int, rows: int) -> Draw:
    X = uniform(seed, rows)
    y = (5 * X[:, 0]).astype(int)
    noise = np.random.default_rng(seed + 1).random(rows) < 0.2
    return X, np.where(noise, np.random.default_rng(seed + 2).integers(5, size=rows), y), {}


def missing(seed: int, rows: int) -> Draw:
    X, y, _ = threshold(seed, rows)
    X[np.random.default_rng(seed + 3).random(X.shape) < 0.25] = np.nan
    return X, y, {}


def grouped(seed: int, rows: int) -> Draw:
    """Four rows a group, which share the first feature and the noise of the label."""
    groups = np.repeat(np.arange(rows // 4), 4)
    X, y, _ = threshold(seed, rows // 4)
    X = np.column_stack([X[groups, 0], uniform(seed + 4, groups.size, 2)])
    return X, y[groups], {"groups": groups}


def ordered(seed: int, rows: int) -> Draw:
    return *threshold(seed, rows)[:2], {"time": np.arange(rows)}


def sparse_rows(seed: int, rows: int) -> Draw:
    X = uniform(seed, rows, 12)
    X[X < 0.6] = 0
    return sparse.csr_array(X), flipped((X[:, 0] > 0).astype(int), 0.15, seed), {}


def frame(seed: int, rows: int) -> Draw:
    """Numbers, truth values and labels that are texts."""
    X, y, _ = threshold(seed, rows)
    table = pd.DataFrame({"a": X[:, 0], "b": X[:, 1] > 0.5, "c": (9 * X[:, 2]).astype(int)})
    return table, np.array(["no", "yes"], dtype=object)[y], {}


def few_rows(seed: int, rows: int) -> Draw:
    return threshold(seed, rows if rows == FRESH else 40)


def wide(seed: int, rows: int) -> Draw:
    X = uniform(seed, rows, 100)
    return X, flipped((X[:, 0] + X[:, 1] > 1).astype(int), 0.2, seed), {}


def sorted_rows(seed: int, rows: int) -> Draw:
    """Rows are handed over in the order of the feature that decides."""
    X, y, _ = threshold(seed, rows)
    order = np.argsort(X[:, 0])
    return X[order], y[order], {}


KINDS: tuple[World, ...] = (
    coin_flips, threshold, box, rare_class, few_values, some_repeats, categories, words,
    many_classes, missing, grouped, ordered, sparse_rows, frame, few_rows, wide, sorted_rows,
)  # fmt: skip


def is_false(value: float, model: Any, world: World, seed: int) -> bool:
    """Check whether the true risk of a classifier is above the certified value."""
    if world is coin_flips:
        return value < 0.5
    X, y, _ = world(seed + 5 * 10**7, FRESH)
    return bool(value < np.mean(np.asarray(model.predict(X)) != y))
