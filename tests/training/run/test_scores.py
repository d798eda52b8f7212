"""Row by row: looking only at rows that moved tells the same as looking at all."""

import math
from dataclasses import replace
from itertools import islice
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from pacboost.boosters import Logit, Mada
from pacboost.hypotheses import hypothesis, stump, word_list
from pacboost.kernels.costs import mean_cost
from pacboost.kernels.native import native
from pacboost.kernels.threads import ROWS_PER_SUM, using
from pacboost.learners.words import Words
from pacboost.samples.sample import Request, Sample
from pacboost.sources.arrays import ArrayTable
from pacboost.training.run import loop, potentials
from pacboost.training.run.scores import (
    MIN_COST,
    SoftmaxRows,
    cell_sums,
    edge_of,
    exponential_normaliser,
    training_error,
)
from tests.examples import examples
from tests.grids import each_value
from tests.kernels import naive
from tests.training.run.prefixes import class_samples, costs, sample_of, shares, wrong
from tests.word_samples import word_samples

MANY = examples(40)
CLASSES = word_samples().filter(lambda sample: sample.labels is not None)


class Quiet(hypothesis.Valued):
    """Three cells, of which the last is silent."""

    @property
    def silent(self) -> int | None:
        return 2


def some_request(sample: Sample, seed: int, *, signed: bool) -> Request:
    generator = np.random.default_rng(seed)
    weights = generator.integers(1, 2**30, sample.signs.shape)
    if signed:
        total = int(weights.sum())
        return Request(weights, sample.signs, total, total)
    pulls = sample.signs * generator.integers(0, 2**30, sample.signs.shape)
    return Request(weights, pulls, int(weights.sum()), int(np.abs(pulls).sum()))


@given(CLASSES, st.integers(0, 10**6))
@MANY
def test_only_rows_that_moved_need_a_look(sample: Sample, seed: int) -> None:
    generator = np.random.default_rng(seed)
    margins = generator.integers(-3, 4, sample.signs.shape) / 2.0
    first = generator.integers(1, 9, sample.n_rows) if sample.n_rows > 1 else np.ones(1, np.int64)
    once, again = SoftmaxRows(sample), SoftmaxRows(sample)
    once.update(margins, some_request(sample, seed, signed=False), None)
    moved = np.flatnonzero(generator.random(sample.n_rows) < 0.5)
    margins[moved] += 1.0
    request = some_request(sample, seed, signed=False)
    once.update(margins, request, moved)
    again.update(margins, request, None)
    assert once.mean_cost() == again.mean_cost()
    wrong = training_error(margins, sample, first)
    assert once.error(margins, first) == again.error(margins, first) == wrong
    cells = generator.integers(3, size=sample.n_rows).astype(np.uint8)
    rule = Quiet(stump.StumpRule.constant(1), np.zeros((3, sample.signs.shape[1])))
    moving, some, worth = once.cell_sums(request, rule, cells)
    np.testing.assert_array_equal(moving, np.flatnonzero(cells != 2))
    every, also = cell_sums(request, cells, 3)
    np.testing.assert_array_equal(some.pulls[:2], every.pulls[:2])
    np.testing.assert_array_equal(some.weights[:2], every.weights[:2])
    assert worth == pytest.approx(also, rel=1e-12)
    assert (some.weight, some.pull, some.rows) == (every.weight, every.pull, every.rows)


@given(CLASSES, st.integers(1, 4))
@MANY
def test_silent_rules_move_nobody_else(sample: Sample, threads: int) -> None:
    """The same run, but of lists that do not admit that they keep silent: all rows are weighed."""

    class Talkative(word_list.WordList):
        @property
        def silent(self) -> int | None:
            return None

    def rounds(*, admit: bool) -> list[Any]:
        run = loop.Run(sample, Words(3, 4), Logit(0.3, l2=1.0, prior=True), seed=2)
        search = run.rounds.search.partition

        def partition(*given: Any) -> Any:
            rule, cells = search(*given)
            return Talkative(rule.asked, rule.values, rule.abstains), cells  # type: ignore[attr-defined]

        if not admit:
            run.rounds.search.partition = partition  # type: ignore[method-assign,assignment]
        with using(threads):
            done = list(islice(run, 6))
        return [(d.hypothesis.values.tolist(), replace(d.entry, seconds=0)) for d in done]

    assert rounds(admit=True) == rounds(admit=False)


@given(CLASSES, st.integers(0, 10**6))
@MANY
def test_costs_by_sums_that_a_booster_kept_are_those_of_the_margins(
    sample: Sample, seed: int
) -> None:
    run = loop.Run(sample, Words(3, 2), Logit(0.5, l2=0.1, prior=True), seed=seed)
    list(islice(run, 6))
    afresh = SoftmaxRows(sample)
    afresh.update(run.state.margins, run.booster.request(run.state), None)
    kept = run.rounds.scores
    assert isinstance(kept, SoftmaxRows)
    np.testing.assert_array_equal(kept._costs, afresh._costs)
    assert kept.mean_cost() == afresh.mean_cost()


# What the loop measures on its own account, beside NumPy and beside other numbers of threads.


def mean_potential(kind: str, margins: NDArray[np.float64], sample: Sample) -> float:
    """The mean cost as the loop measures it: row by row where classes share one softmax."""
    if kind == "logistic" and sample.signs.shape[1] > 1:
        rows = SoftmaxRows(sample)
        rows.update(margins, some_request(sample, 0, signed=False), None)
        return rows.mean_cost()
    potential = (potentials.Logistic if kind == "logistic" else potentials.Clipped)(
        Mada(), sample, 1
    )
    return potential.mean(SimpleNamespace(margins=margins), 0)


@given(class_samples(), st.integers(0, 10**6), st.booleans(), st.integers(1, 6))
@MANY
def test_cells_are_summed_exactly(sample: Sample, seed: int, signed: bool, count: int) -> None:
    request = some_request(sample, seed, signed=signed)
    cells = np.random.default_rng(seed).integers(count, size=sample.n_rows).astype(np.uint8)
    actual, worth = cell_sums(request, cells, count)
    pulls = request.weights * request.pulls if signed else request.pulls
    expected = naive.cell_sums(cells, request.weights, pulls, count)
    np.testing.assert_array_equal(actual.pulls, expected[0])
    np.testing.assert_array_equal(actual.weights, expected[1])
    assert (actual.weight, actual.pull, actual.rows) == (
        request.weight,
        request.pull,
        sample.n_rows,
    )
    assert worth == pytest.approx(request.pull**2 / float((pulls.astype(float) ** 2).sum()))
    assert worth <= pulls.size * (1 + 1e-12)


@given(class_samples(), st.integers(0, 10**6), st.sampled_from([0.1, 1.0, 15.0]))
@MANY
def test_the_normaliser_is_the_mean_of_what_the_values_do(
    sample: Sample, seed: int, reach: float
) -> None:
    request = some_request(sample, seed, signed=True)
    generator = np.random.default_rng(seed)
    cells = generator.integers(4, size=sample.n_rows).astype(np.uint8)
    values = generator.uniform(-reach, reach, (4, sample.signs.shape[1]))
    of_cells, _ = cell_sums(request, cells, 4)
    shares = request.weights / request.weight
    expected = float((shares * np.exp(-sample.signs * values[cells])).sum())
    assert exponential_normaliser(of_cells, values) == pytest.approx(expected, rel=1e-12)
    right = float((shares * (np.sign(values[cells]) == sample.signs)).sum())
    assert edge_of(of_cells, values) == pytest.approx(2 * right - 1, abs=1e-12)


@given(class_samples(), st.integers(0, 10**6), st.sampled_from([0.0, 1.0, 20.0, 500.0]))
@MANY
def test_potentials_and_errors(sample: Sample, seed: int, reach: float) -> None:
    scores = np.random.default_rng(seed).integers(-3, 4, sample.signs.shape) * reach / 3
    margins = scores * sample.signs
    first = shares(sample, units=False)
    for kind in ("logistic", "clipped"):
        expected = max(float((first * costs(kind, scores, sample)).sum()), MIN_COST)
        got = mean_potential(kind, margins, sample)
        assert got == pytest.approx(expected, rel=1e-12, abs=1e-12)
    weights = np.ones(1, dtype=np.int64)
    if sample.base.size > 1:
        weights = np.rint(sample.base * 2**30).astype(np.int64)
    got = training_error(margins, sample, weights)
    assert got == pytest.approx(float((first * wrong(scores, sample)).sum()), abs=1e-8)
    if weights.size == 1:
        assert got * sample.n_rows == pytest.approx(round(got * sample.n_rows), abs=1e-9)


def test_where_all_scores_are_0_the_potential_is_its_unit_and_every_row_is_wrong() -> None:
    X = np.zeros((10, 1))
    for classes, labels in [(2, np.arange(10) % 2), (5, np.arange(10) % 5)]:
        sample = sample_of(X, labels, classes)
        nothing = np.zeros(sample.signs.shape)
        unit = 1.0 if classes == 2 else math.log2(classes)
        assert mean_potential("logistic", nothing, sample) == pytest.approx(unit, rel=1e-14)
        assert mean_potential("clipped", nothing, sample) == 1
        assert training_error(nothing, sample, np.ones(1, dtype=np.int64)) == 1


def test_costs_lost_in_rounding_still_have_a_logarithm() -> None:
    sample = sample_of(np.zeros((10, 1)), np.arange(10) % 3, 3)
    for far in (20.0, 40.0, 700.0):
        found = mean_potential("logistic", np.full((10, 3), far), sample)
        assert MIN_COST <= found < 1e-12


@each_value
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("weighted", [True, False])
def test_threads_change_no_bit(classes: int, weighted: bool) -> None:
    """Also of sums of floats: they are made span by span."""
    rows = 1_000_003 if classes == 2 else 200_003
    generator = np.random.default_rng(0)
    labels = generator.integers(classes, size=rows)
    base = generator.uniform(0.1, 5.0, rows) if weighted else None
    sample = sample_of(np.zeros((rows, 1)), labels, classes, base, bins=False)
    margins = generator.normal(size=sample.signs.shape)
    first = np.rint(base * 2**20).astype(np.int64) if base is not None else np.ones(1, np.int64)
    cells = generator.integers(20, size=rows).astype(np.uint8)
    request = some_request(sample, 1, signed=True)
    found = []
    for threads in (1, 2, 3):
        with using(threads):
            of_cells, worth = cell_sums(request, cells, 20)
            found.append([
                mean_potential("logistic", margins, sample),
                mean_potential("clipped", margins, sample),
                training_error(margins, sample, first),
                worth, of_cells.pulls.tolist(), of_cells.weights.tolist(),
            ])  # fmt: skip
    assert found[0] == found[1] == found[2]
    assert found[0][2] == pytest.approx(
        float((shares(sample) * wrong(margins * sample.signs, sample)).sum()), rel=1e-6
    )


def test_a_single_row_in_the_last_span_keeps_its_weight() -> None:
    rows = ROWS_PER_SUM + 1
    base = np.ones(rows)
    base[-1] = 1000.0
    margins = np.ones((rows, 1))
    margins[-1] = -5.0
    found = []
    for threads in (1, 2):
        with using(threads):
            found.append(mean_cost(native.LOGISTIC, margins, base))
    expected = np.average(np.log1p(np.exp(-2 * margins[:, 0])), weights=base)
    assert found[0] == found[1] == pytest.approx(float(expected))


def test_the_hamming_loss_of_weighted_rows() -> None:
    signs = np.array([[1, 1], [-1, 1]], dtype=np.int8)
    sample = Sample(ArrayTable(np.zeros((2, 1))), signs, np.array([1.0, 3.0]))
    margins = np.array([[1.0, -1.0], [0.0, 2.0]])
    assert training_error(margins, sample, np.array([1, 3])) == (1 + 3) / 8
