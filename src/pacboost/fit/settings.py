"""The automatic values: every number that a fit chooses where its parameters are not set.

A parameter that is not set has the value of ``Settings``, whatever the others are. The numbers were
chosen by measurement: docs/decisions/0007, 0016, 0021, 0022, 0024, 0026, 0027, 0028 and 0035.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

# Small tables cannot spare rows to stop early on; large ones can, and bear larger steps. In between
# settings change linearly with the number of rows: when all changed at 25,000, 26,000 rows took
# half the time of 24,999.
FEW_ROWS, MANY_ROWS = 20_000, 30_000
# The shares of rows and columns that are sampled, and the trial, begin in between: with fewer rows,
# a row of weight 2 has to be the same as two rows, which scikit-learn checks.
NO_TRIAL_BELOW, FULL_TRIAL_FROM = 40, 80
# The share of the rows that a trial holds back to measure, and the maximum number of them.
TRIAL_SHARE, MAX_TRIAL_ROWS = 0.2, 10_000
# The minimum number of rounds that a trial may choose, and the maximum times the learning rate.
# Noisy labels need few rounds: with 20 in place of 150 the log loss is .980 of what it was (28
# tables better, 4 worse). Tables nearly without noise need many: .990 with 1,000 in place of 600.
MIN_TRIAL_ROUNDS, MAX_TRIAL_STEPS = 20, 100
# The slope of probabilities moves half of the way to what a trial finds on as many rows.
ROWS_HALF_TRUSTED = 500
# All rows are boosted on after a trial if it held back at least this share of them.
MIN_REFIT_SHARE = 0.05
# The rounds of a refit, as a multiple of those that were best on a part: more rows bear more.
MORE_ROUNDS = 1.1
# A candidate that is behind the best so far after this many rounds is given up: .79 of the time on
# tables of numbers, at the same error (docs/decisions/0035).
ROUNDS_OF_A_HEAT = 100
# Derived columns are raced against none over as many rounds, and have to win by this share of the
# loss; if they are behind after the first heat they are given up (docs/decisions/0036).
DERIVED_MARGIN, ROUNDS_OF_THE_FIRST_HEAT = 0.02, 15
# The search for the best of them takes few rounds of few rows.
ROUNDS_OF_A_SEARCH, ROWS_OF_A_SEARCH = 20, 2_000
# The columns that others are derived from, the number of derived ones that are kept, and the rows
# below which there are none, since too few of them would choose.
COLUMNS_TO_DERIVE_FROM, MAX_DERIVED, MIN_ROWS_TO_DERIVE = 6, 8, 300
# The number of trials of quality="best", each on other rows.
TRIALS_OF_BEST = 5
# The strengths of straight lines that a trial compares with none, by the name of the booster. For
# classes, half a line costs a third trial and gains .003 of the log loss, so only "best" has it.
LINE_STRENGTHS = {"square": (0.5, 1.0), "logit": (1.0,)}
# Minimum number of rounds per column to try lines: each line is a round, too.
MIN_ROUNDS_PER_LINE = 10
# The smallest leaf has one row for this many rows of the table, up to 5 or 20.
ROWS_PER_LEAF = 20
# With more classes than the first number one tree speaks for all of them: it has the second number
# of leaves, and a trial tries as many for each class, at most the third number.
FEW_CLASSES, SMALL_TREE_LEAVES, MAX_TREE_LEAVES = 3, 16, 127
# The rounds of quality="fast", which has no trial: .17 of the time, 1.115 of the log loss.
FAST_ROUNDS = 100
# Splits of trees for numbers look at this many columns at least: where five columns only matter
# together, half of them is too few.
MIN_FEATURES_PER_SPLIT = 5
# Learning rates for numbers grow with the rounds once those before add up to this: what took 2,000
# rounds takes half of the time, at the same error (docs/decisions/0035).
STEPS_BEFORE_GROWTH = 15.0
QUALITIES = ("fast", "auto", "best")
# With quality="best", rates are divided and rounds multiplied by this. Halves of the steps have
# .984 of the log loss in 2.8 times the time, quarters .983 in 4.2 times.
STEPS_OF_BEST = 3
# Rounds without progress after which a run stops. Of classes, 50 would gain .003 of the log loss
# for 30 more rounds of each trial.
PATIENCE_OF_CLASSES, PATIENCE_OF_NUMBERS, PATIENCE_OF_TEXTS = 20, 50, 50
PATIENCE_OF_SINGLE_COLUMNS = 50
# The rounds of texts, and those where the first one is linear.
TEXT_ROUNDS, TEXT_ROUNDS_AFTER_LINEAR = 1000, 8


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The automatic values for a number of rows, by the names of the parameters.

    >>> Settings.for_classes(1_000, 2)  # doctest: +NORMALIZE_WHITESPACE
    Settings(n_estimators=300, learning_rate=0.05, subsample=0.8, max_leaves=16, max_features=0.5,
             min_leaf_rows=5, l2=3.0, trial_share=0.2, slope_trust=0.6667, min_rounds=20,
             max_rounds=2000, larger_leaves=0, needs_slope=False, even_steps=inf)
    """

    n_estimators: int
    learning_rate: float
    subsample: float
    max_leaves: int
    max_features: float
    min_leaf_rows: int
    l2: float
    trial_share: float = 0.0
    """The share of the rows that a trial measures; 0 for no trial."""
    slope_trust: float = 0.0
    """How far the slope moves from what scores mean without calibration to what the trial finds."""
    min_rounds: int
    max_rounds: int
    """The minimum and the maximum number of rounds that a trial may choose."""
    larger_leaves: int = 0
    """The leaves of larger trees, which a trial may prefer."""
    needs_slope: bool = False
    """Whether the slope alone is worth a trial of any number of rows."""
    even_steps: float = math.inf
    """The sum of the learning rates after which they grow with the rounds."""

    @classmethod
    def for_classes(
        cls, rows: int, classes: int, *, logistic: bool = True, quality: str = "auto"
    ) -> Settings:
        """Return the values, which change in proportion to the rows between few and many.

        Boosters of another loss than the logistic have trees of all rows, and no trial.
        """
        large, many_classes = ramp(rows), classes > FEW_CLASSES
        few = max(1, rows // ROWS_PER_LEAF)
        most_leaves = min(MAX_TREE_LEAVES, SMALL_TREE_LEAVES * classes) if many_classes else 31
        few_rounds_rate = round(0.1 + 0.1 * large, 4)
        plain = large if quality == "fast" else 0.0  # few trees of many rows are best whole
        if not logistic:
            # chosen at fixed rounds: on small data the log loss settles before the error does
            rounds = round(100 + 80 * large) if many_classes else 180
            fixed = cls(
                n_estimators=rounds,
                learning_rate=few_rounds_rate,
                subsample=1.0,
                max_leaves=most_leaves,
                max_features=0.5 if many_classes else 1.0,
                min_leaf_rows=20,
                l2=1.0,
                min_rounds=rounds,
                max_rounds=rounds,
            )
            return fixed._fast(few_rounds_rate) if quality == "fast" else fixed
        # sampling half of the columns and .8 of the rows, with small leaves, has .936 of the error
        # of trees of all rows; for few classes l2=3 gives another .991 (docs/decisions/0016)
        enough = ramp(rows, NO_TRIAL_BELOW, FULL_TRIAL_FROM)
        if many_classes:
            rounds, rate, leaf, l2, features = 333, 0.06, 20, 1.0, 0.5
            leaves = round(SMALL_TREE_LEAVES + (most_leaves - SMALL_TREE_LEAVES) * large)
        else:
            rounds, rate, leaf, l2 = 300, 0.05, round(5 + 15 * plain), round(3 - 2 * plain, 4)
            leaves, features = leaves_for(rows), 0.5 + 0.5 * plain
        rate = round(rate + (0.1 - rate) * large, 4)
        ends = MIN_TRIAL_ROUNDS, MAX_TRIAL_STEPS / rate
        least, most = (round(rounds + (end - rounds) * enough) for end in ends)
        steps = STEPS_OF_BEST if quality == "best" else 1
        settings = cls(
            n_estimators=steps * rounds,
            learning_rate=rate / steps,
            subsample=round(1 - 0.2 * enough * (1 - plain), 4),
            max_leaves=leaves if quality != "fast" else most_leaves,
            max_features=round(1 - (1 - features) * enough, 4),
            min_leaf_rows=min(leaf, few),
            l2=l2,
            trial_share=trial_share(rows) if enough else 0.0,
            slope_trust=round(enough * rows / (rows + ROWS_HALF_TRUSTED), 4),
            min_rounds=steps * least,
            max_rounds=steps * most,
            larger_leaves=most_leaves if many_classes else 0,
        )
        return settings._fast(few_rounds_rate) if quality == "fast" else settings

    def _fast(self, rate: float = 0.1) -> Settings:
        """Return the values of quality="fast"."""
        return replace(
            self, n_estimators=FAST_ROUNDS, learning_rate=rate, trial_share=0.0, slope_trust=0.0,
            min_rounds=FAST_ROUNDS, max_rounds=FAST_ROUNDS, even_steps=math.inf,
        )  # fmt: skip

    def for_single_columns(self, pairs: int, quality: str, *, stops: bool = True) -> Settings:
        """Return the values of trees of single columns and chosen pairs: small ones, and many.

        If no rows say when to stop, the rounds stay as they are.
        """
        small = replace(
            self,
            max_leaves=6 if pairs else 4,
            max_features=0.25,
            larger_leaves=0,
            even_steps=math.inf,
        )
        if quality == "fast" or not stops:
            return small
        steps = STEPS_OF_BEST if quality == "best" else 1
        return replace(small, learning_rate=0.1 / steps, max_rounds=steps * 2000)

    @classmethod
    def for_words(cls, rows: int, rounds: int) -> Settings:
        """Return the values of lists of words, whose trial finds the slope alone."""
        # Texts have more words than rows, so that scores fitted to them are too sure. On four sets,
        # from sms to news, the slope gives .954 of the log loss and .71 of the calibration error.
        enough = ramp(rows, NO_TRIAL_BELOW, FULL_TRIAL_FROM)
        return cls(
            n_estimators=rounds, learning_rate=0.1, subsample=1.0, max_leaves=0, max_features=1.0,
            min_leaf_rows=1, l2=0.2, trial_share=trial_share(rows) if enough else 0.0,
            slope_trust=round(enough * rows / (rows + ROWS_HALF_TRUSTED), 4),
            min_rounds=rounds, max_rounds=rounds, needs_slope=True,
        )  # fmt: skip

    @classmethod
    def for_numbers(
        cls, rows: int, columns: int, *, trees: bool = True, leaf: int = 3, quality: str = "auto"
    ) -> Settings:
        """Return the values of trees that predict numbers; other learners have no trial.

        ``leaf`` is the least number of rows in a leaf of small tables.

        >>> Settings.for_numbers(1_000, 8)  # doctest: +NORMALIZE_WHITESPACE
        Settings(n_estimators=300, learning_rate=0.05, subsample=0.7, max_leaves=16,
                 max_features=0.625, min_leaf_rows=3, l2=3.0, trial_share=0.2, slope_trust=0.0,
                 min_rounds=1, max_rounds=2000, larger_leaves=0, needs_slope=False,
                 even_steps=15.0)
        """
        large = ramp(rows)
        if not trees:
            rounds = round(100 + 200 * large)
            fixed = cls(
                n_estimators=100, learning_rate=0.1, subsample=1.0, max_leaves=31, max_features=1.0,
                min_leaf_rows=20, l2=0.0, min_rounds=1, max_rounds=rounds,
            )  # fmt: skip
            return fixed._fast() if quality == "fast" else fixed
        few = ramp(rows, NO_TRIAL_BELOW, FULL_TRIAL_FROM) * (1 - large)
        features = max(0.5, min(1.0, MIN_FEATURES_PER_SPLIT / columns))
        steps = STEPS_OF_BEST if quality == "best" else 1
        settings = cls(
            n_estimators=steps * round(300 - 200 * large),
            learning_rate=round(0.05 + 0.05 * large, 4) / steps,
            subsample=round(1 - 0.3 * few, 4),
            max_leaves=leaves_for(rows),
            max_features=round(1 - (1 - features) * few, 4),
            min_leaf_rows=min(round(leaf + (20 - leaf) * large), max(1, rows // ROWS_PER_LEAF)),
            l2=round(3 * few, 4),
            trial_share=round(TRIAL_SHARE * few, 4),
            min_rounds=1,
            max_rounds=steps * 2000,
            even_steps=STEPS_BEFORE_GROWTH / (1 - large) if large < 1 else math.inf,
        )
        return settings._fast() if quality == "fast" else settings


def trial_share(rows: int) -> float:
    """Return the share of rows that a trial of classes measures.

    >>> trial_share(1_000), trial_share(100_000)
    (0.2, 0.1)
    """
    return min(TRIAL_SHARE, MAX_TRIAL_ROWS / rows)


def leaves_for(rows: int) -> int:
    """Return the number of leaves of a tree, which grows with the number of rows.

    >>> [leaves_for(rows) for rows in (100, 1_000, 5_000)]
    [8, 16, 31]
    """
    return round(min(31, max(8, math.sqrt(rows) / 2)))


def ramp(rows: int, first: int = FEW_ROWS, last: int = MANY_ROWS) -> float:
    """Return how far a number of rows has come on the way from the first to the last, 0 to 1.

    >>> [ramp(rows) for rows in (100, 20_000, 22_500, 25_000, 30_000, 10**6)]
    [0.0, 0.0, 0.25, 0.5, 1.0, 1.0]
    """
    return min(1.0, max(0.0, (rows - first) / (last - first)))
