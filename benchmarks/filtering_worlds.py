"""Worlds for boosting by filtering: where more data help, where they do not, and a known edge.

A world is a function of a generator and a number of rows. Rows are made in chunks, each with its
own key, so that the first million rows are the same in a file of one million and of ten.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.theory.worlds import World

FEATURES = 30
CROWD = 60
CHUNK = 2**18
TRAIN, TEST = 0, 1
"""Seeds: rows to learn from, and rows that only measure."""

X32 = NDArray[np.float32]
Labels = NDArray[np.int8]
Chunk = tuple[X32, Labels]


def _waves(X: X32, features: int) -> X32:
    """A sum of sines, one a feature, of one to three periods."""
    total = np.zeros(len(X), dtype=np.float32)
    for j in range(features):
        total += np.sin(np.float32(2 * np.pi * (1 + j % 3)) * X[:, j] + np.float32(j))
    return total


def thin(generator: np.random.Generator, rows: int) -> Chunk:
    """A thin noiseless boundary: curved in eight features, bent by two pairs, eighteen for show.

    Data matter: no row lies about its class, so all that is left to learn is where exactly the
    boundary runs, and only rows next to it tell. A sample twenty times smaller has twenty times
    fewer of them.
    """
    X = generator.random((rows, FEATURES), dtype=np.float32)
    total = np.zeros(rows, dtype=np.float32)
    for j in range(8):
        wave = np.sin(np.float32(2 * np.pi * (1 + j % 3)) * X[:, j])
        total += wave if j % 2 else np.float32(0.7) * wave
    total += np.where(X[:, 8] > 0.5, 3 * (X[:, 9] - np.float32(0.5)), np.float32(0))
    total += 6 * (X[:, 10] - np.float32(0.5)) * (X[:, 11] - np.float32(0.5))
    return X, (total > 0.3).astype(np.int8)


def additive(generator: np.random.Generator, rows: int) -> Chunk:
    """Many weak features: thirty waves of equal height are summed, and the sum has no noise.

    Data matter: each feature alone tells next to nothing, and thirty curves have to be right at
    once before the last rows fall on their side. Votes of stumps can be as right as one likes.
    """
    X = generator.random((rows, FEATURES), dtype=np.float32)
    return X, (_waves(X, FEATURES) > 0.3).astype(np.int8)


def rare(generator: np.random.Generator, rows: int) -> Chunk:
    """A class of 0.5 %: where thirty waves and a product of two features are all high.

    Data matter: one row in two hundred is of the class, so a sample of 5 % of a million has 250.
    """
    X = generator.random((rows, FEATURES), dtype=np.float32)
    total = _waves(X, FEATURES)
    total += 4 * (X[:, 0] - np.float32(0.5)) * (X[:, 1] - np.float32(0.5))
    return X, (total > 9.95).astype(np.int8)


def crowd(generator: np.random.Generator, rows: int) -> Chunk:
    """A class of 0.5 %: where sixty waves are high together. No pair of features matters.

    Data matter to stumps too: sixty curves have to be right at once, and of 5 % of the rows too few
    are of the class to draw them.
    """
    X = generator.random((rows, CROWD), dtype=np.float32)
    return X, (_waves(X, CROWD) > 14.1).astype(np.int8)


def saturated(generator: np.random.Generator, rows: int) -> Chunk:
    """Ten features and noise that hides the rest: data do not matter.

    Labels are drawn with odds that are smooth in the features. What a model could still learn is
    soon smaller than the noise, and a small uniform sample tells as much as all rows.
    """
    X = generator.standard_normal((rows, FEATURES), dtype=np.float32)
    score = X[:, :10] @ np.linspace(1, 0.2, 10, dtype=np.float32) + np.abs(X[:, 0]) - 0.8
    return X, (generator.random(rows) < 1 / (1 + np.exp(-1.5 * score))).astype(np.int8)


WORLDS: dict[str, Callable[[np.random.Generator, int], Chunk]] = {
    "thin": thin,
    "additive": additive,
    "rare": rare,
    "crowd": crowd,
    "saturated": saturated,
}
SATURATED = ("saturated",)
"""Where a small sample is enough."""


def features(world: str) -> int:
    """Count the features of a world."""
    return CROWD if world == "crowd" else FEATURES


def chunks(world: str, rows: int, seed: int) -> Iterator[Chunk]:
    """Make the rows of a world, some hundred thousand at a time."""
    for number, first in enumerate(range(0, rows, CHUNK)):
        X, y = WORLDS[world](np.random.default_rng((seed, number)), CHUNK)
        yield X[: rows - first], y[: rows - first]


def make(world: str, rows: int, seed: int) -> Chunk:
    """Make rows in memory."""
    X, y = np.empty((rows, features(world)), dtype=np.float32), np.empty(rows, dtype=np.int8)
    first = 0
    for part, labels in chunks(world, rows, seed):
        X[first : first + len(part)], y[first : first + len(part)] = part, labels
        first += len(part)
    return X, y


def save(world: str, rows: int, folder: Path) -> None:
    """Write rows to learn from as arrays, unless the folder has as many already."""
    paths = folder / f"{world}-X.npy", folder / f"{world}-y.npy"
    if paths[1].exists() and np.load(paths[1], mmap_mode="r").size >= rows:
        return
    X, y = make(world, rows, TRAIN)
    np.save(paths[0], X)
    np.save(paths[1], y)


def read(world: str, rows: int, folder: Path) -> Chunk:
    """Read the first rows into memory."""
    X = np.load(folder / f"{world}-X.npy", mmap_mode="r")[:rows]
    return np.array(X), np.load(folder / f"{world}-y.npy")[:rows].copy()


def save_parquet(world: str, rows: int, folder: Path, file_rows: int, group_rows: int) -> None:
    """Write rows to learn from as Parquet files, not compressed."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    names = [f"x{j}" for j in range(features(world))]
    schema = pa.schema([*((name, pa.float32()) for name in names), ("y", pa.int8())])
    for number, first in enumerate(range(0, rows, file_rows)):
        path = folder / f"part-{number:04}.parquet"
        with pq.ParquetWriter(path, schema, compression="none", use_dictionary=False) as writer:
            for start in range(first, min(first + file_rows, rows), group_rows):
                # A row group has its own key, as a chunk has.
                count = min(group_rows, rows - start)
                X, y = WORLDS[world](np.random.default_rng((TRAIN, start)), count)
                columns = [*np.ascontiguousarray(X.T), y]
                table = pa.table(columns, schema=schema)
                writer.write_table(table, row_group_size=group_rows)


def read_parquet(path: Path) -> Chunk:
    """Read a complete file."""
    import pyarrow.parquet as pq

    table: Any = pq.read_table(path)
    X = np.empty((table.num_rows, table.num_columns - 1), dtype=np.float32)
    for j in range(X.shape[1]):
        X[:, j] = table.column(j).to_numpy()
    return X, table.column(X.shape[1]).to_numpy()


@dataclass(frozen=True)
class WeakFeatures(World):
    """The majority of many ±1 features; each agrees with it with probability (1 + edge)/2.

    Given the class, features are independent. So whatever weights depend on the rules so far, every
    feature not used yet has a correlation of ``edge`` with the class, up to the rare rows whose
    majority goes astray: stumps have this edge, and no more. A vote of T of them errs with a
    chance of about exp(-T·edge²/2): ln(1/ε) rounds are needed, not only enough.
    """

    features: int = 101
    chance: int = 180
    """Of 256; the edge is 13/32."""

    @property
    def edge(self) -> float:
        """The correlation of a feature with the class."""
        return 2 * self.chance / 256 - 1

    def draw(self, n: int, seed: int | np.random.Generator) -> tuple[Any, Any]:
        """Draw classes, then features that agree with them; the majority is the label."""
        generator = np.random.default_rng(seed)
        signs = generator.integers(2, size=(n, 1), dtype=np.int8) * np.int8(2) - np.int8(1)
        dice = generator.integers(256, size=(n, self.features), dtype=np.uint8)
        X = np.where(dice < self.chance, signs, -signs).astype(np.float32)
        return X, self.truth(X)

    def truth(self, X: Any) -> Any:
        """Return the majority; their number is odd."""
        return np.where(X.sum(axis=1) > 0, np.int8(1), np.int8(-1))

    def points(self, uniforms: Any) -> Any:
        """Not a function of uniform numbers one by one."""
        raise NotImplementedError
