"""A ballot's scores are those of ``Vote``, bit for bit, whatever the rules."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from pacboost.hypotheses.ballot import Ballot
from pacboost.hypotheses.hypothesis import Hypothesis
from pacboost.hypotheses.stump import StumpRule
from pacboost.hypotheses.tree import TreeRule
from pacboost.hypotheses.vote import Vote
from pacboost.kernels.threads import using
from pacboost.numerics.exact import VOTE_UNIT
from pacboost.samples.bins import Bins
from pacboost.samples.coded_table import CodedTable
from tests.examples import examples
from tests.grids import each_value
from tests.hypotheses.trees import random_rule


def units(numbers: NDArray[np.int64]) -> NDArray[np.float64]:
    """Multiples of the unit of votes, so that sums are exact."""
    return np.asarray(numbers * VOTE_UNIT, dtype=np.float64)


def make_bins(generator: np.random.Generator, features: int, most: int, categories: int) -> Bins:
    """Some features with cuts, of which the first few are categorical."""
    thresholds, levels = [], []
    for j in range(features):
        count = most if j == features - 1 else int(generator.integers(0, most, endpoint=True))
        count = min(count, 40) if j < categories else count
        part = np.arange(0.5, count, dtype=np.float32)
        levels.append(count + 1 if j < categories else 0)
        thresholds.append(part if j < categories else np.sort(generator.normal(size=count)))
    options_of_fit = tuple(np.asarray(t, dtype=np.float32) for t in thresholds)
    return Bins(options_of_fit, np.zeros(features, dtype=np.int64), np.array(levels))


def stump(generator: np.random.Generator, bins: Bins) -> StumpRule:
    """A stump that a learner could have found; now and then one without a threshold."""
    feature = int(generator.integers(len(bins.thresholds)))
    part = bins.thresholds[feature]
    above, missing = (int(sign) for sign in generator.choice([-1, 1], 2))
    if part.size == 0 or generator.random() < 0.2:
        return StumpRule(feature, np.inf, bins.missing - 1, above, missing)
    cut = int(generator.integers(part.size))
    return StumpRule(feature, float(part[cut]), cut, above, missing)


def table_of(generator: np.random.Generator, bins: Bins, rows: int) -> CodedTable:
    """Rows with every code there is, missing values among them."""
    codes = np.empty((len(bins.thresholds), rows), dtype=bins.dtype)
    for j, part in enumerate(bins.thresholds):
        codes[j] = generator.integers(0, part.size, rows, endpoint=True)
        codes[j, generator.random(rows) < 0.15] = bins.missing
    return CodedTable(codes, bins)


def check_same(bins: Bins, rules: list[Hypothesis], votes: list[float], table: CodedTable) -> None:
    """Compare after every rule."""
    outputs = rules[0].values.shape[1]
    part = Ballot(bins, outputs)
    for t, (rule, vote) in enumerate(zip(rules, votes, strict=True), start=1):
        assert part.add(rule, vote)
        expected = Vote(rules[:t], np.array(votes[:t]), outputs).scores(table)
        result = part.scores(table.codes)
        assert result.shape == (table.n_rows, outputs)
        np.testing.assert_array_equal(result, expected.reshape(result.shape))


@examples(60)
@given(
    leaves=st.lists(st.sampled_from([1, 2, 3, 31, 32, 33, 40]), min_size=1, max_size=5),
    most=st.sampled_from([1, 5, 254, 300]),
    outputs=st.sampled_from([1, 3]),
    categories=st.integers(0, 2),
    seed=st.integers(0, 2**32),
)
def test_trees_of_any_size(
    leaves: list[int], most: int, outputs: int, categories: int, seed: int
) -> None:
    generator = np.random.default_rng(seed)
    bins = make_bins(generator, 4, most, categories if most < 255 else 0)
    rules: list[Hypothesis] = [
        TreeRule.constant(bins, units(generator.integers(-9, 9, outputs)))
        if count == 1
        else random_rule(generator, bins, count - 1, outputs=outputs)
        for count in leaves
    ]
    check_same(bins, rules, [1.0] * len(rules), table_of(generator, bins, 90))


@examples(40)
@given(most=st.sampled_from([1, 20, 254, 300]), trees=st.booleans(), seed=st.integers(0, 2**32))
def test_stumps_alone_and_among_trees(most: int, trees: bool, seed: int) -> None:
    generator = np.random.default_rng(seed)
    bins = make_bins(generator, 3, most, 0)
    rules: list[Hypothesis] = [stump(generator, bins) for _ in range(8)]
    rules[3] = StumpRule.constant(-1)
    if trees:
        rules[1:1] = [random_rule(generator, bins, count - 1) for count in (2, 7, 40)]
    drawn = units(generator.integers(-(2**33), 2**33, len(rules))).tolist()
    votes = [
        vote if isinstance(rule, StumpRule) else 1.0  # leaves hold what is added
        for rule, vote in zip(rules, drawn, strict=True)
    ]
    check_same(bins, rules, votes, table_of(generator, bins, 200))


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_threads_change_nothing(threads: int) -> None:
    generator = np.random.default_rng(1)
    bins = make_bins(generator, 3, 60, 1)
    part = Ballot(bins, 1)
    for count in (2, 31, 40):
        part.add(random_rule(generator, bins, count - 1), 0.5)
    part.add(stump(generator, bins), 0.25)
    table = table_of(generator, bins, 100_001)
    with using(1):
        expected = part.scores(table.codes)
    with using(threads):
        np.testing.assert_array_equal(part.scores(table.codes), expected)


@each_value
@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize("leaves", [(2, 31, 32), (5, 33, 60), (70, 80), (250, 256, 257)])
def test_many_rows_are_scored_like_few(leaves: tuple[int, ...], outputs: int) -> None:
    generator = np.random.default_rng(len(leaves))
    bins = make_bins(generator, 9, 200, 2)
    trees = [random_rule(generator, bins, size - 1, outputs=outputs) for size in leaves]
    table = table_of(generator, bins, 1200)
    vote = Vote(trees, units(generator.integers(1, 2**20, size=len(trees))), outputs)
    parts = np.split(np.arange(table.n_rows), 120)  # of few rows, which walk down
    some = np.concatenate([vote.scores(table.take(rows)) for rows in parts])
    np.testing.assert_array_equal(vote.scores(table), some)
