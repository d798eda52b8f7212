"""Drift of rows without labels: boosted rules bet on which row of a pair is the new one.

Every new row is paired with an unused reference row. Rules learned from earlier pairs bet on which
of the two is new; if both come from one distribution, no bet wins on average, and the capital ever
reaches 1/δ with probability at most δ. Rules are refitted on the last pairs after 64 pairs, then
whenever the number of pairs has grown by a quarter, and finally after every 1,024. At the k-th fit
a share 1/(k(k+1)) of the capital begins to bet, so that a late change is detected, too.
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
from pacboost.kernels.native import native
from pacboost.monitoring.mistakes import History, curve, numbers, texts, whole
from pacboost.numerics.percent import percent
from pacboost.numerics.same_bits import log_of, row_totals, total
from pacboost.questions.moved import LearnedRatio, columns_that_moved, largest_weight
from pacboost.samples.plain_rows import HASHED, MAX_COLUMNS, Binning, Codes, read_rows
from pacboost.samples.sketch import Sketch
from pacboost.shift import DEFAULT_BOUND
from pacboost.sources.arrays import ArrayTable


def fingerprint(values: NDArray[np.float64]) -> str:
    """Return a digest of rows."""
    text = f"{values.shape}".encode() + np.ascontiguousarray(values + 0.0).tobytes()
    return hashlib.sha256(text).hexdigest()


NO_REFERENCE = (
    "the reference rows are not in the file of a monitor; give them again: "
    "Monitor.load(path, model, reference=rows)"
)
MIN_PAIRS_TO_REFIT = 64
MAX_PAIRS_TO_REFIT = 1024
MAX_WINDOW_PAIRS = 2048
ROUNDS, SHRINK = 10, 0.7
# How well rows can be told apart is not known beforehand: five stakes share the capital, and the
# best soon has most of it.
BETS = np.array([0.05, 0.1, 0.2, 0.4, 0.8])
"""Shares of the capital that are staked."""
MIN_REFERENCE_ROWS = 200
# A row that set a cut is not exchangeable with a new one, so a bet on the two would not be fair.
MAX_ROWS_FOR_CUTS = 1000
"""Reference rows that set the cuts: at most this many, and a quarter of all; none is bet on."""


class RowStream:
    """The capital of bets that new rows differ from the reference."""

    def __init__(self, delta: float, reference: str, names: list[str]) -> None:
        self.delta, self.reference, self.names = delta, reference, names
        self.pairs = self.rows = self.refits = 0
        self.next_refit = MIN_PAIRS_TO_REFIT
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
    def of(cls, reference: object, delta: float) -> RowStream:
        """Start with these reference rows."""
        values, names = read_rows(reference)
        stream = cls(delta, fingerprint(values), names)
        stream._take_reference(values)
        return stream

    def give_reference(self, reference: object) -> None:
        """Set the reference rows again, after reading a file."""
        values, _ = read_rows(reference)
        if fingerprint(values) != self.reference:
            raise ParameterError(
                "the reference rows are not those that this monitor began with; give the same "
                "rows in the same order, or begin a new monitor",
                parameter="reference",
            )
        self._take_reference(values)

    def _take_reference(self, values: NDArray[np.float64]) -> None:
        if len(values) < MIN_REFERENCE_ROWS:
            raise DataError(
                f"there are {len(values)} reference rows; at least {MIN_REFERENCE_ROWS} are "
                "needed, and one more for each new row to compare"
            )
        mixed = values[np.random.default_rng(0).permutation(len(values))]
        first = min(MAX_ROWS_FOR_CUTS, len(values) // 4)
        self._binning = Binning(mixed[:first])
        self._old = self._binning.codes(mixed[first:])

    @property
    def left(self) -> int | None:
        """Number of unused reference rows; None if they have to be passed again."""
        return None if self._binning is None else len(self._old) - self.pairs

    def add(self, X: object) -> None:
        """Compare further rows."""
        if self._binning is None:
            raise ParameterError(NO_REFERENCE, parameter="reference")
        values, names = read_rows(X)
        if names != self.names:
            raise DataError(
                f"the rows have the columns {', '.join(names[:8])}; the reference rows have "
                f"{', '.join(self.names[:8])}"
            )
        new = self._binning.codes(values)
        self.rows += len(new)
        new = new[: len(self._old) - self.pairs]  # each needs an unused reference row
        place = 0
        while place < len(new):
            ahead = min(self.next_refit - self.pairs, self.history.until_due(self.pairs))
            some = new[place : place + ahead]
            self._bet(some, self._old[self.pairs : self.pairs + len(some)])
            self._window = np.concatenate([self._window, some])[-MAX_WINDOW_PAIRS:]
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
        native.pay(new, old, self.rules, self.values, payoffs, self.won)
        if self.drifted_at is not None:
            return
        factors = np.vstack([self.shares, 1 + payoffs[:, None] * BETS])
        shares = np.multiply.accumulate(factors, axis=0)[1:]
        capital = row_totals(shares) / BETS.size + 1 / (self.refits + 1)
        # A product of t factors has at most t rounding errors.
        rich = np.flatnonzero(capital >= (1 + 1e-9 + 1e-15 * self.pairs) / self.delta)
        last = int(rich[0]) if rich.size else len(new) - 1
        self.shares, self.capital = shares[last], float(capital[last])
        if rich.size:
            self.drifted_at = self.pairs + last + 1

    def _refit(self) -> None:
        size = len(self._window)
        old = self._old[self.pairs - size : self.pairs]
        self.rules, self.values = np.zeros((ROUNDS, 6), dtype=np.int64), np.zeros((ROUNDS, 4))
        native.boost_rules(
            np.concatenate([self._window, old]), size, SHRINK, self.rules, self.values
        )
        self.refits += 1
        self.shares = self.shares + 1 / (self.refits * (self.refits + 1))
        self.won *= 0.5  # recent wins count most
        self.next_refit = self.pairs + min(
            max(MIN_PAIRS_TO_REFIT, self.pairs // 4), MAX_PAIRS_TO_REFIT
        )
        self.words = self._in_words(old)

    def _in_words(self, old: Codes) -> list[str]:
        """Return the shares of new and old rows above the first cut of each rule, as text."""
        sentences: list[str] = []
        for column, cut in dict.fromkeys((int(rule[0]), int(rule[1])) for rule in self.rules):
            new_share = float((self._window[:, column] > cut).mean())
            old_share = float((old[:, column] > cut).mean())
            cuts = self._binning.cuts[column] if self._binning is not None else np.empty(0)
            if cut == 0:
                condition = f"{self.names[column]} is there"
            elif cut <= len(cuts) and cuts[cut - 1] >= HASHED:
                condition = f"{self.names[column]} is in a group of its categories"
            elif cut <= len(cuts):
                condition = f"{self.names[column]} > {cuts[cut - 1]:.6g}"
            else:
                continue
            sentences.append(
                f"{condition}: {percent(new_share, 1)} of new rows, {percent(old_share, 1)} of old"
            )
        return sentences[:5]

    def columns(self) -> dict[str, float]:
        """Return each column's share of recent gains, the largest first."""
        won = np.maximum(self.won, 0)
        won_in_all = total(won)
        order = np.argsort(-won, kind="stable")
        return {self.names[j]: float(won[j] / won_in_all) for j in order if won[j] > 0}

    def ratio(self, X: object) -> LearnedRatio:
        """Return the weights of rows by the last rules, none of which may be fitted on X."""
        if self._binning is None:
            raise ParameterError(NO_REFERENCE, parameter="reference")
        codes = self._binning.codes(read_rows(X)[0]).astype(np.float64)
        for learned in (self._old, self._window):
            if not len(learned):
                continue
            sketch = Sketch.from_table(ArrayTable(learned.astype(np.float64)))
            if sketch.overlap(ArrayTable(codes)).suspicious:
                raise NotCertified(
                    "these rows are among the reference rows, or among the rows compared with "
                    "them, and the weights were learned from those. Pass only some of the rows "
                    "from before as reference, and keep others, with labels, for this"
                )
        drifted = self.drifted_at is not None
        bound = 1.0
        if drifted:
            bound = largest_weight(self._window, self.rules, self.values, DEFAULT_BOUND)
        evidence: dict[str, Any] = {"pairs": self.pairs}
        evidence |= {"moved": columns_that_moved(self.names, self.won)} if drifted else {}
        return LearnedRatio(
            self.names, self._binning, self.rules, self.values, bound, drifted, evidence, self.pairs
        )

    def stored(self) -> dict[str, Any]:
        """Return the values that a file stores; it does not store the reference rows."""
        fields = {name: getattr(self, name) for name in STORED_FIELDS}
        arrays = {name: getattr(self, name).tolist() for name in STORED_ARRAYS}
        window = base64.b64encode(zlib.compress(self._window.tobytes(), 9)).decode()
        return {**fields, **arrays, "window": window, "history": self.history.stored()}

    @classmethod
    def restored(cls, content: dict[str, Any], delta: float) -> RowStream:
        """Read the result of ``stored``; call ``give_reference`` before rows are added."""
        names = texts(content, "names", MAX_COLUMNS)
        pair = {"texts": [content["reference"], content["window"]]}
        reference, window = texts(pair, "texts", 2)
        stream = cls(delta, reference, names)
        stream.rows = whole(content, "rows", 0)
        stream.pairs = pairs = whole(content, "pairs", 0, stream.rows)
        stream.refits = whole(content, "refits", 0, pairs)
        stream.next_refit = whole(content, "next_refit", pairs + 1, pairs + MAX_PAIRS_TO_REFIT)
        if content["drifted_at"] is not None:
            stream.drifted_at = whole(content, "drifted_at", 1, pairs)
        capital = numbers(content, "capital", float, low=1e-300, high=math.inf)
        stream.capital = float(capital)
        stream.words = texts(content, "words", 5)
        stream.shares[:] = numbers(content, "shares", float, BETS.size, high=1e300)
        stream.won[:] = numbers(content, "won", float, len(names), low=-1e300, high=1e300)
        rules = ROUNDS if stream.refits else 0
        stream.rules = numbers(content, "rules", int, rules, 6)
        if (stream.rules[:, ::2] >= len(names)).any():
            raise ValueError("a rule looks at a column that does not exist")
        stream.values = numbers(content, "values", float, rules, 4, low=-1e6, high=1e6)
        stream._window = _window(window, min(pairs, MAX_WINDOW_PAIRS), len(names))
        stream.history = curve(content["history"], 2, pairs)
        return stream


def _window(written: str, rows: int, columns: int) -> Codes:
    try:
        unpacked = zlib.decompressobj().decompress(base64.b64decode(written), rows * columns + 1)
    except zlib.error as problem:
        raise ValueError(f"window cannot be unpacked: {problem}") from problem
    if len(unpacked) != rows * columns:
        raise ValueError(f"window does not hold {rows} rows of {columns} columns")
    return np.frombuffer(unpacked, dtype=np.uint8).reshape(rows, columns)


STORED_FIELDS = (
    "reference", "names", "pairs", "rows", "refits", "next_refit", "drifted_at", "capital", "words",
)  # fmt: skip
STORED_ARRAYS = ("shares", "won", "rules", "values")
