"""Rows asked at random: which rows of a pool are to be labelled, drawn before any label is known.

n of N rows are drawn without replacement, by a recorded seed. Their labels certify two claims,
which are never mixed: about the rows of this pool (hypergeometric; bounds/pool.py), and about new
rows, if those of the pool are independent draws (binomial). Rows that somebody volunteered certify
nothing, so ``Draw.order`` refuses rows that were not drawn.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b, sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import DataError, FileError, ParameterError
from pacboost.numerics.checks import plain, whole
from pacboost.sources.optional import atomic_write
from pacboost.sources.rows import Rows
from pacboost.studies.texts import column, columns_of

VERSION = 1
BYTES_OF_A_ROW = 12
"""Of the hash of a row; two of 10^9 different rows share one with a chance below 10^-10."""
MAX_ROWS_NAMED = 5


@dataclass(frozen=True)
class Draw:
    """The rows of a pool that were drawn, in the order of the draw.

    The order is random, so the first rows of it are a random sample, too: labelling may end
    anywhere, as long as the labels have no say in where.

    >>> pool = [{"text": text} for text in "abcdefgh"]
    >>> drawn = draw(pool, 3, seed=1)
    >>> [row["text"] for row in drawn.take(pool)], drawn.pool_rows
    (['b', 'h', 'a'], 8)
    """

    rows: tuple[int, ...]
    """Their places in the pool, from 0."""
    row_hashes: tuple[str, ...]
    columns: tuple[str, ...]
    pool_rows: int
    pool_digest: str
    seed: int

    @property
    def probability(self) -> float:
        """The chance of each row of the pool to be drawn."""
        return len(self.rows) / self.pool_rows

    def take(self, pool: Any) -> Any:
        """Return the drawn rows of the pool, in the order of the draw."""
        rows = Rows.of(pool)
        if rows.count != self.pool_rows or _digest(*_hashed(columns_of(pool))) != self.pool_digest:
            raise DataError(
                f"this is not the pool of {self.pool_rows:,} rows that was drawn from; pass the "
                "rows of that day, or draw again"
            )
        return rows.take(np.array(self.rows, dtype=np.intp)).given

    def order(self, labelled: Any) -> NDArray[np.intp]:
        """Return which labelled row stands where in the order of the draw.

        Rows that were not drawn are refused, and so are labels with gaps: if hard rows are left
        out, the others are no random sample.
        """
        columns = columns_of(labelled)
        kept = {name: column(columns, name, "a column of the draw") for name in self.columns}
        _, hashes = _hashed(kept)
        places = defaultdict(list)
        for place, row in reversed([*enumerate(self.row_hashes)]):
            places[row].append(place)
        found = [places[row].pop() if places[row] else -1 for row in hashes]
        if strangers := [number + 1 for number, place in enumerate(found) if place < 0]:
            raise DataError(
                f"{len(strangers):,} of {len(found):,} rows were not drawn, or were changed: "
                f"{_named(strangers)}. Leave them out, and add nothing but labels to the others"
            )
        if len(found) <= max(found, default=-1):
            gaps = sorted({*range(max(found))} - {*found})
            raise DataError(
                f"{len(gaps):,} rows of the draw have no label and later ones do: "
                f"{_named([place + 1 for place in gaps])} in the order of the draw. Label them, or "
                "leave out all rows after the first of them"
            )
        return np.argsort(np.array(found, dtype=np.intp))

    def to_dict(self) -> dict[str, Any]:
        """Return the record as plain values for JSON."""
        rows = [list(pair) for pair in zip(self.rows, self.row_hashes, strict=True)]
        return {
            "version": VERSION, "seed": self.seed, "pool_rows": self.pool_rows,
            "pool_digest": self.pool_digest, "probability": self.probability,
            "columns": list(self.columns), "rows": rows,
        }  # fmt: skip

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Draw:
        """Read the result of ``to_dict``."""
        if not isinstance(content, Mapping) or "version" not in content:
            raise ValueError("no record")
        if content["version"] != VERSION:
            raise DataError(
                f"the record of the draw has version {content.get('version')!r:.20}; version "
                f"{VERSION} can be read"
            )
        rows, hashes = zip(*content["rows"], strict=True)
        names, pool_rows = tuple(map(str, content["columns"])), whole("rows", content["pool_rows"])
        seed, digest = whole("seed", content["seed"]), str(content["pool_digest"])
        if [*rows] != _drawn(digest, pool_rows, len(rows), seed):
            raise DataError(
                "the record of the draw contradicts itself: its seed does not draw these rows"
            )
        return cls(tuple(map(int, rows)), tuple(hashes), names, pool_rows, digest, seed)

    def save(self, path: str | Path) -> None:
        """Write the record as JSON."""
        with atomic_write(Path(path)) as part:
            part.write_text(json.dumps(self.to_dict()), encoding="utf-8")

    @classmethod
    def load(cls, path: str | Path) -> Draw:
        """Read the record of a draw."""
        try:
            return cls.from_dict(json.loads(Path(path).read_text(encoding="utf-8")))
        except (KeyError, TypeError, ValueError) as problem:
            words = str(problem) if isinstance(problem, DataError) else "not the record of a draw"
            raise FileError(f"{path}: {words}") from problem


def draw(pool: Any, rows: int, *, seed: int = 0) -> Draw:
    """Draw rows of a pool to be labelled, without replacement.

    Parameters
    ----------
    pool : data frame, or list of mappings from column names to values
        What is known of each row, without labels.
    rows : int
        How many rows to draw.
    seed : int, default=0
        The same pool and seed always draw the same rows.
    """
    names, hashes = _hashed(columns_of(pool))
    digest = _digest(names, hashes)
    count = whole("rows", plain(rows), 1)
    if count > len(hashes):
        raise ParameterError(
            f"rows is {count:,}, and the pool has {len(hashes):,}; draw at most these",
            parameter="rows",
        )
    chosen = _drawn(digest, len(hashes), count, whole("seed", plain(seed)))
    return Draw(
        tuple(chosen), tuple(hashes[row] for row in chosen), names, len(hashes), digest, seed
    )


def _drawn(digest: str, pool_rows: int, count: int, seed: int) -> list[int]:
    """Return the rows with the smallest keys; a key is a hash of pool, seed and row."""
    start = blake2b(f"{digest} {seed} ".encode(), digest_size=8)
    keys = np.empty(pool_rows, dtype=np.uint64)
    for row in range(pool_rows):
        one = start.copy()
        one.update(b"%d" % row)
        keys[row] = int.from_bytes(one.digest(), "big")
    chosen: list[int] = np.argsort(keys, kind="stable")[:count].tolist()
    return chosen


def _hashed(columns: Mapping[str, Sequence[str]]) -> tuple[tuple[str, ...], list[str]]:
    """Return the names of columns, and a hash of each row."""
    rows = zip(*columns.values(), strict=True)
    texts = ("\x1f".join(row).encode("utf-8", "surrogatepass") for row in rows)
    return tuple(columns), [blake2b(t, digest_size=BYTES_OF_A_ROW).hexdigest() for t in texts]


def _digest(names: Sequence[str], hashes: Sequence[str]) -> str:
    return sha256("\n".join([*names, "", *hashes]).encode("utf-8", "surrogatepass")).hexdigest()


def _named(numbers: Sequence[int]) -> str:
    more = ", …" if len(numbers) > MAX_ROWS_NAMED else ""
    return f"row {', '.join(f'{number:,}' for number in numbers[:MAX_ROWS_NAMED])}{more}"
