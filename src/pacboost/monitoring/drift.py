"""Do new rows look like old ones? Rules that are boosted to tell them apart bet on the next pair.

Every new row is paired with a reference row that was not used before. Rules made from earlier pairs
bet that they can tell which is which; if both come from one distribution, no bet wins on average,
and the capital ever reaches 1/δ with probability at most δ. Rules are made anew from the last pairs
after 64 pairs, then whenever a quarter more have come, and at last after every 1,024. The k-th time
a share 1/(k(k+1)) of the capital begins to bet, so that a change which comes late is seen, too.
"""

from __future__ import annotations

import base64
import hashlib
import math
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import DataError, NotCertified, ParameterError
from pacboost.kernels.monitoring import boost_rules, pay
from pacboost.monitoring import mistakes as checked
from pacboost.monitoring.mistakes import History
from pacboost.numerics.percent import percent
from pacboost.numerics.same_bits import log_of, row_totals, total
from pacboost.questions.moved import CLIP, LearnedRatio, columns_that_moved, largest_weight
from pacboost.samples.plain_rows import HASHED, MAX_COLUMNS, Binning, Codes, read_rows
from pacboost.samples.sketch import Sketch
from pacboost.sources.arrays import ArrayTable


def fingerprint(values: NDArray[np.float64]) -> str:
    """Return a digest of rows, to know them again."""
    text = f"{values.shape}".encode() + np.ascontiguousarray(values + 0.0).tobytes()
    return hashlib.sha256(text).hexdigest()


NO_REFERENCE = (
    "the reference rows are not in the file of a monitor; give them again: "
    "Monitor.load(path, model, reference=rows)"
)
FIRST_REFIT = 64
REFIT = 1024
WINDOW = 2048
"""Rules are made from at most so many pairs, the last ones."""
ROUNDS, SHRINK = 10, 0.7
BETS = np.array([0.05, 0.1, 0.2, 0.4, 0.8])
"""Shares of the capital that are staked."""
FEWEST_REFERENCE = 200
FOR_CUTS = 1000
"""At most so many reference rows, and a quarter of them, set the cuts; they are not bet on."""


class RowStream:
    """The capital of bets that new rows differ from the reference."""

    def __init__(self, delta: float, reference: str, names: list[str]) -> None:
        self.delta, self.reference, self.names = delta, reference, names
        self.pairs = self.rows = self.refits = 0
        self.next_refit = FIRST_REFIT
        self.shares = np.zeros(BETS.size)
        self.won = np.zeros(len(names))
        self.drifted_at: int | None = None
        self.capital = 1.0
        self.rules = np.zeros((0, 6), dtype=np.int64)
        self.values = np.zeros((0, 4))
        self.words: list[str] = []
        self.history = History()
        self._window: Codes = np.zeros((0, len(names)), dtype=np.uint8)
        self._binning: Binning | None = None
        self._old: Codes = self._window

    @classmethod
    def of(cls, reference: Any, delta: float) -> RowStream:
        """Start with these reference rows."""
        values, names = read_rows(reference)
        made = cls(delta, fingerprint(values), names)
        made._take_reference(values)
        return made

    def give_reference(self, reference: Any) -> None:
        """Set the reference rows again, after a file was read."""
        values, _ = read_rows(reference)
        if fingerprint(values) != self.reference:
            raise ParameterError(
                "the reference rows are not those that this monitor began with; give the same "
                "rows in the same order, or begin a new monitor"
            )
        self._take_reference(values)

    def _take_reference(self, values: NDArray[np.float64]) -> None:
        if len(values) < FEWEST_REFERENCE:
            raise DataError(
                f"there are {len(values)} reference rows; at least {FEWEST_REFERENCE} are needed, "
                "and one more for each new row that is to be compared"
            )
        mixed = values[np.random.default_rng(0).permutation(len(values))]
        first = min(FOR_CUTS, len(values) // 4)
        self._binning = Binning(mixed[:first])
        self._old = self._binning.codes(mixed[first:])

    @property
    def left(self) -> int | None:
        """How many reference rows are left; None if they have to be given again."""
        return None if self._binning is None else len(self._old) - self.pairs

    def add(self, X: Any) -> None:
        """Compare further rows."""
        if self._binning is None:
            raise ParameterError(NO_REFERENCE)
        values, names = read_rows(X)
        if names != self.names:
            raise DataError(
                f"the rows have the columns {', '.join(names[:8])}; the reference rows have "
                f"{', '.join(self.names[:8])}"
            )
        new = self._binning.codes(values)
        self.rows += len(new)
        new = new[: len(self._old) - self.pairs]  # there are no more to compare with
        place = 0
        while place < len(new):
            ahead = min(self.next_refit - self.pairs, self.history.until_due(self.pairs))
            some = new[place : place + ahead]
            self._bet(some, self._old[self.pairs : self.pairs + len(some)])
            self._window = np.concatenate([self._window, some])[-WINDOW:]
            self.pairs += len(some)
            place += len(some)
            if self.pairs == self.next_refit:
                self._refit()
            if self.history.due(self.pairs):
                self.history.note(self.pairs, log_of(self.capital))

    def _bet(self, new: Codes, old: Codes) -> None:
        if not self.refits:
            return
        payoffs = np.empty(len(new))
        pay(new, old, self.rules, self.values, payoffs, self.won)
        if self.drifted_at is not None:
            return
        factors = np.vstack([self.shares, 1 + payoffs[:, None] * BETS])
        shares = np.multiply.accumulate(factors, axis=0)[1:]
        capital = row_totals(shares) / BETS.size + 1 / (self.refits + 1)
        # Products of t factors are off by t roundings at most.
        rich = np.flatnonzero(capital >= (1 + 1e-9 + 1e-15 * self.pairs) / self.delta)
        last = int(rich[0]) if rich.size else len(new) - 1
        self.shares, self.capital = shares[last], float(capital[last])
        if rich.size:
            self.drifted_at = self.pairs + last + 1

    def _refit(self) -> None:
        """Make rules from the last pairs, and let the next share of the capital bet."""
        size = len(self._window)
        old = self._old[self.pairs - size : self.pairs]
        self.rules, self.values = np.zeros((ROUNDS, 6), dtype=np.int64), np.zeros((ROUNDS, 4))
        boost_rules(np.concatenate([self._window, old]), size, SHRINK, self.rules, self.values)
        self.refits += 1
        self.shares = self.shares + 1 / (self.refits * (self.refits + 1))
        self.won *= 0.5  # what was won lately counts most
        self.next_refit = self.pairs + min(max(FIRST_REFIT, self.pairs // 4), REFIT)
        self.words = self._in_words(old)

    def _in_words(self, old: Codes) -> list[str]:
        """Return of the first cut of each rule how many rows are on its side, new and old."""
        found: list[str] = []
        for column, cut in dict.fromkeys((int(rule[0]), int(rule[1])) for rule in self.rules):
            new_share = float((self._window[:, column] > cut).mean())
            old_share = float((old[:, column] > cut).mean())
            cuts = self._binning.cuts[column] if self._binning is not None else np.empty(0)
            if cut == 0:
                said = f"{self.names[column]} is there"
            elif cut <= len(cuts) and cuts[cut - 1] >= HASHED:
                said = f"{self.names[column]} is in a group of its categories"
            elif cut <= len(cuts):
                said = f"{self.names[column]} > {cuts[cut - 1]:.6g}"
            else:
                continue
            found.append(
                f"{said}: {percent(new_share, 1)} of new rows, {percent(old_share, 1)} of old"
            )
        return found[:5]

    def columns(self) -> dict[str, float]:
        """Return the share of what each column has won lately, the largest first."""
        won = np.maximum(self.won, 0)
        whole = total(won)
        order = np.argsort(-won, kind="stable")
        return {self.names[j]: float(won[j] / whole) for j in order if won[j] > 0}

    def ratio(self, X: Any) -> LearnedRatio:
        """Return the weights of rows by the last rules; X are rows that no rule was made from."""
        if self._binning is None:
            raise ParameterError(NO_REFERENCE)
        codes = self._binning.codes(read_rows(X)[0]).astype(np.float64)
        for learned in (self._old, self._window):
            known = len(learned) > 0 and Sketch.from_table(ArrayTable(learned.astype(np.float64)))
            if known and known.overlap(ArrayTable(codes)).suspicious:
                raise NotCertified(
                    "these rows are among the reference rows, or among the rows compared with "
                    "them, by which the weights were learned. Of the rows from the time when all "
                    "was well give some as reference, and keep others, with labels, for this"
                )
        found = self.drifted_at is not None
        bound = largest_weight(self._window, self.rules, self.values, CLIP) if found else 1.0
        told = f"drift was found among {self.pairs:,} pairs of a new and an old row"
        moved = f"; weights: {told}, by {columns_that_moved(self.names, self.won)}"
        words = moved if found else f"; no {told}"
        return LearnedRatio(self.names, self._binning, self.rules, self.values, bound, found, words)

    def stored(self) -> dict[str, Any]:
        """Return what a file keeps; the reference rows are not in it."""
        plain = {name: getattr(self, name) for name in PLAIN}
        arrays = {name: getattr(self, name).tolist() for name in ARRAYS}
        window = base64.b64encode(zlib.compress(self._window.tobytes(), 9)).decode()
        return {**plain, **arrays, "window": window, "history": self.history.stored()}

    @classmethod
    def restored(cls, content: dict[str, Any], delta: float) -> RowStream:
        """Read what ``stored`` gave; ``give_reference`` has to follow before rows are added."""
        names = checked.texts(content, "names", MAX_COLUMNS)
        texts = {"texts": [content["reference"], content["window"]]}
        reference, window = checked.texts(texts, "texts", 2)
        made = cls(delta, reference, names)
        made.rows = checked.whole(content, "rows", 0)
        made.pairs = pairs = checked.whole(content, "pairs", 0, made.rows)
        made.refits = checked.whole(content, "refits", 0, pairs)
        made.next_refit = checked.whole(content, "next_refit", pairs + 1, pairs + REFIT)
        if content["drifted_at"] is not None:
            made.drifted_at = checked.whole(content, "drifted_at", 1, pairs)
        capital = checked.numbers(content, "capital", float, low=1e-300, high=math.inf)
        made.capital = float(capital)
        made.words = checked.texts(content, "words", 5)
        made.shares[:] = checked.numbers(content, "shares", float, BETS.size, high=1e300)
        made.won[:] = checked.numbers(content, "won", float, len(names), low=-1e300, high=1e300)
        rules = ROUNDS if made.refits else 0
        made.rules = checked.numbers(content, "rules", int, rules, 6)
        if (made.rules[:, ::2] >= len(names)).any():
            raise ValueError("a rule looks at a column that does not exist")
        made.values = checked.numbers(content, "values", float, rules, 4, low=-1e6, high=1e6)
        made._window = _window(window, min(pairs, WINDOW), len(names))
        made.history = checked.curve(content["history"], 2, pairs)
        return made


def _window(written: str, rows: int, columns: int) -> Codes:
    """Unpack the codes of the last rows, which have to be as many as they say."""
    try:
        unpacked = zlib.decompressobj().decompress(base64.b64decode(written), rows * columns + 1)
    except zlib.error as problem:
        raise ValueError(f"window cannot be unpacked: {problem}") from problem
    if len(unpacked) != rows * columns:
        raise ValueError(f"window does not hold {rows} rows of {columns} columns")
    return np.frombuffer(unpacked, dtype=np.uint8).reshape(rows, columns)


PLAIN = (
    "reference", "names", "pairs", "rows", "refits", "next_refit", "drifted_at", "capital", "words",
)  # fmt: skip
ARRAYS = ("shares", "won", "rules", "values")
