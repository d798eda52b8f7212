"""Distribution shift: rows are selected at random by a ratio of densities, and these certify.

Let w be the ratio of the new density to that of the distribution that rows were drawn from, up to a
factor, and at most B, a number that was fixed before. A row is kept with probability w/B. Rows that
are kept are independent draws from the new distribution, however many they are, so all bounds for
independent rows apply to them (docs/proofs/shift.md). The ratio is known, or learned by boosted
rules that distinguish new rows from old ones, on rows set apart.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pacboost.bounds.exact_tests import sign_test_p
from pacboost.bounds.wording import HAVE_TIMES, UNMOVED_PAIRS
from pacboost.errors import DataError, NotCertified, ParameterError
from pacboost.kernels.native import native
from pacboost.numerics.same_bits import exp, total
from pacboost.questions.new_rows import NewRows
from pacboost.samples.plain_rows import Binning, plain_rows, read_rows
from pacboost.samples.row_hashes import Hashes, mixed, row_hashes
from pacboost.shift import Ratio, UnlabelledRows
from pacboost.sources.arrays import ArrayTable
from pacboost.sources.table import Table

Doubles = NDArray[np.float64]
# Weights that were learned from the rows which they select would know which of them are wrong.
SHARE_SET_APART = 1 / 3
"""The share of rows, old and new, that is set apart to learn weights; a half of it tests them."""
TEST_LEVEL = 0.05
"""Rules that tell nothing apart pass the test with this chance at most."""
MIN_PAIRS = 60
ROUNDS, SHRINKAGE = 20, 0.5


def filtered(
    rows: NewRows,
    X: object,
    y: ArrayLike,
    shift: Ratio | UnlabelledRows | LearnedRatio,
    *,
    each: bool,
) -> NewRows:
    """Return the rows that are kept at random by a ratio, known or learned."""
    if not each:
        raise ParameterError(
            "shift cannot be combined with groups or ordered: rows are filtered one by one, and no "
            "theorem here covers a selection of dependent rows",
            parameter="shift",
        )
    details = {name: value for name, value in rows.details.items() if name != HAVE_TIMES}
    rows = replace(rows, details=details)  # the claim is about the new world, which may be later
    if isinstance(shift, Ratio):
        weights = _known(shift.weights, X, rows.rows, shift.bound)
        return _tossed(rows, X, y, weights, shift.bound, shift.seed)
    if isinstance(shift, UnlabelledRows):
        (ratio, rows), seed = _learned(rows, X, y, shift), shift.seed
    else:
        ratio, seed = shift, 0
    if not ratio.found:
        details = {**rows.details, UNMOVED_PAIRS: ratio.pairs}
        return replace(rows, chosen=ratio.evidence, details=details)
    tossed = _tossed(rows, X, y, ratio(X), ratio.bound, seed)
    return replace(
        tossed, coins={**tossed.coins, "learned": 1}, chosen={**tossed.chosen, **ratio.evidence}
    )


def _learned(
    rows: NewRows, X: object, y: ArrayLike, shift: UnlabelledRows
) -> tuple[LearnedRatio, NewRows]:
    """Learn a ratio on rows set apart; return it with the other rows."""
    old, names = read_rows(X)
    new, others = read_rows(shift.rows)
    _same(names, others)
    keys = row_hashes(ArrayTable(old))[rows.kept]
    ties = _turns(keys, np.asarray(y)[rows.kept])
    salt = _salt(shift.seed, keys, ties)
    mine = coins(keys, salt, ties)
    theirs = coins(row_hashes(ArrayTable(new)), salt)
    apart = [
        values[order[: np.count_nonzero(shares < SHARE_SET_APART)]]
        for values, shares in ((old[rows.kept], mine), (new, theirs))
        for order in [np.argsort(shares, kind="stable")]
    ]
    ratio = LearnedRatio.of(apart[0], apart[1], names, shift.bound)
    return ratio, replace(rows, kept=rows.kept[mine >= SHARE_SET_APART])


def _tossed(
    rows: NewRows, X: object, y: ArrayLike, weights: Doubles, bound: float, seed: int
) -> NewRows:
    keys = row_hashes(X if isinstance(X, Table) else plain_rows(X))[rows.kept]
    kept_weights, place = weights[rows.kept], _turns(keys, np.asarray(y)[rows.kept])
    kept_rows = rows.kept[
        coins(keys, _salt(seed, keys, place, kept_weights), place, kept_weights) * bound
        < kept_weights
    ]
    offered = rows.kept.size
    if not kept_rows.size:
        raise NotCertified(
            f"none of {offered:,} rows was kept: a row is kept with probability "
            f"weight/{bound:g}, on average {total(kept_weights) / offered / bound:.2g} here. "
            "Collect more rows, or certify by other rows with a smaller bound on the weights"
        )
    details: Mapping[str, float | int] = {"ratio_bound": bound, "offered": offered, "seed": seed}
    return replace(rows, kept=kept_rows, coins=details, chosen={"kept": int(kept_rows.size)})


def _turns(keys: Hashes, labels: NDArray[Any]) -> NDArray[np.intp]:
    """Order rows with equal keys by their labels."""
    place = np.unique(keys, return_inverse=True)[1].astype(np.int64)
    lines = labels.reshape(keys.size, -1).astype(str)
    numbers = np.unique(lines, axis=0, return_inverse=True)[1].reshape(-1)
    both = place * (keys.size + 1) + numbers
    return np.asarray(np.unique(both, return_inverse=True)[1], dtype=np.intp)


def _known(ratio: Any, X: object, rows: int, bound: float) -> Doubles:
    weights = np.asarray(ratio(X) if callable(ratio) else ratio, dtype=np.float64)
    if weights.shape != (rows,):
        raise DataError(f"ratio has shape {weights.shape}; one number for each of {rows} rows")
    if not ((weights >= 0) & (weights < math.inf)).all():
        raise DataError("a ratio is missing, negative or infinite; each is a number from 0 on")
    if (largest := float(weights.max())) > bound:
        raise ParameterError(
            f"the ratio of a row is {largest:.6g}, above bound={bound:g}. The bound has to "
            "be fixed before the rows are seen, so it may not be raised now. Clip the ratio at "
            "the bound, so that the claim is about the examples that the clipped ratio "
            "describes, or certify by other rows with a larger bound",
            parameter="ratio_bound",
        )
    return weights


def coins(keys: Hashes, salt: Hashes, *ties: NDArray[Any]) -> Doubles:
    """Return a random number in [0, 1) for every row, computed from its key."""
    # a coin follows from the values of a row and its turn among equal ones: the same rows in
    # another order are kept
    order = np.lexsort((*ties, keys))
    _, first, number = np.unique(keys[order], return_index=True, return_inverse=True)
    turn = np.empty(keys.size, dtype=np.uint64)
    turn[order] = np.arange(keys.size) - first[number]
    drawn = mixed(mixed(keys + salt) + (turn + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15))
    return np.asarray((drawn >> np.uint64(11)) * 2.0**-53)


def _salt(seed: int, *parts: NDArray[Any]) -> Hashes:
    """Return a number that depends on the seed and all rows, but not on their order."""
    digest = hashlib.blake2b(str(seed).encode(), digest_size=8)
    for part in parts:
        digest.update(np.sort(part).tobytes())
    return np.frombuffer(digest.digest(), dtype="<u8").astype(np.uint64)


@dataclass(frozen=True, eq=False)
class LearnedRatio:
    """Weights of rows, by rules that distinguish new rows from old ones."""

    names: list[str]
    binning: Binning
    rules: NDArray[np.int64]
    values: Doubles
    bound: float
    found: bool
    """Whether the rules tell more rows apart than chance explains."""
    evidence: Mapping[str, Any]
    """How it was found, as facts for certificates (bounds/counted_rows.py)."""
    pairs: int = 0

    @classmethod
    def of(cls, old: Doubles, new: Doubles, names: list[str], clip: float) -> LearnedRatio:
        """Learn from rows in a random order; the first half of the pairs tests the rules."""
        pairs = min(len(old), len(new))
        if pairs < MIN_PAIRS:
            raise DataError(
                f"{len(old):,} old and {len(new):,} new rows were set apart to learn how the world "
                f"has moved, and {MIN_PAIRS} of each are needed; give about "
                f"{3 * MIN_PAIRS + 30} rows or more of each"
            )
        old, new, test = old[:pairs], new[:pairs], pairs // 2
        binning = Binning(np.concatenate([new[test:], old[test:]]))
        codes = [binning.codes(values) for values in (new, old)]
        rules, values = np.zeros((ROUNDS, 6), dtype=np.int64), np.zeros((ROUNDS, 4))
        learned = np.concatenate([part[test:] for part in codes])
        native.boost_rules(learned, pairs - test, SHRINKAGE, rules, values)
        payoffs, won = np.empty(test), np.zeros(len(names))
        native.pay(codes[0][:test], codes[1][:test], rules, values, payoffs, won)
        right, wrong = int((payoffs > 0).sum()), int((payoffs < 0).sum())
        # one side: rules that tell rows apart the wrong way round show nothing
        p = sign_test_p(right, wrong) / 2 if right > wrong else 1.0
        apart = 0.5 + (right - wrong) / (2 * test)
        evidence = {"tested": test, "pairs": pairs - test, "apart": apart, "p": p}
        # weights learned from chance would drop rows for nothing: all certify, and the claim says
        # that it assumes no shift
        if p > TEST_LEVEL:
            return cls(names, binning, rules, values, 1.0, False, evidence, test)
        bound = largest_weight(learned, rules, values, clip)
        moved = {**evidence, "moved": columns_that_moved(names, won)}
        return cls(names, binning, rules, values, bound, True, moved)

    def __call__(self, X: object) -> Doubles:
        """Return the weight of every row."""
        rows, names = read_rows(X)
        _same(names, self.names)
        codes = self.binning.codes(rows)
        return np.minimum(weights_by(codes, self.rules, self.values), self.bound)


def _same(names: list[str], others: list[str]) -> None:
    if names != others:
        raise DataError(
            f"new rows have the columns {', '.join(others[:8])}; the rows that certify have "
            f"{', '.join(names[:8])}"
        )


def weights_by(codes: NDArray[np.uint8], rules: NDArray[np.int64], values: Doubles) -> Doubles:
    """Return the odds of a new row by the rules: AdaBoost's score is half of their logarithm."""
    scores = np.zeros(len(codes))
    for (root, cut, left, low, right, high), leaves in zip(rules, values, strict=True):
        below = np.where(codes[:, left] <= low, leaves[0], leaves[1])
        above = np.where(codes[:, right] <= high, leaves[2], leaves[3])
        scores += np.where(codes[:, root] <= cut, below, above)
    return np.asarray(exp(2 * scores))


def largest_weight(
    codes: NDArray[np.uint8], rules: NDArray[np.int64], values: Doubles, clip: float
) -> float:
    """Return where weights are clipped: their largest on rows that do not certify, or ``clip``."""
    return min(clip, float(weights_by(codes, rules, values).max()))


def columns_that_moved(names: list[str], won: Doubles) -> list[list[Any]]:
    """Return the columns by which rules distinguish new rows from old ones, with their shares."""
    gains = np.maximum(won, 0)
    order = np.argsort(-gains, kind="stable")[:3]
    total_gain = max(total(gains), 1e-300)
    return [[str(names[j]), float(gains[j] / total_gain)] for j in order if gains[j] > 0]
