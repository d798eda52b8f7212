"""Row by row: looking only at rows that moved tells the same as looking at all."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pacboost.boosters.logit import Logit
from pacboost.hypotheses.hypothesis import Valued
from pacboost.hypotheses.stump import StumpRule
from pacboost.hypotheses.word_list import WordList
from pacboost.kernels.runtime.threads import using
from pacboost.learners.words import Words
from pacboost.samples.sample import Request, Sample
from pacboost.training.run import scores
from pacboost.training.run.loop import Run
from pacboost.training.run.scores import SoftmaxRows
from tests.word_samples import word_samples

MANY = settings(max_examples=40, deadline=None)
CLASSES = word_samples().filter(lambda sample: sample.labels is not None)


class Quiet(Valued):
    """Three cells, of which the last is silent."""

    @property
    def silent(self) -> int | None:
        return 2


def request_for(sample: Sample, seed: int) -> Request:
    generator = np.random.default_rng(seed)
    weights = generator.integers(0, 2**30, sample.signs.shape)
    pulls = sample.signs * generator.integers(0, 2**30, sample.signs.shape)
    return Request(weights, pulls, int(weights.sum()), int(np.abs(pulls).sum()))


@given(CLASSES, st.integers(0, 10**6))
@MANY
def test_only_rows_that_moved_need_a_look(sample: Sample, seed: int) -> None:
    generator = np.random.default_rng(seed)
    margins = generator.integers(-3, 4, sample.signs.shape) / 2.0
    first = generator.integers(1, 9, sample.n_rows) if sample.n_rows > 1 else np.ones(1, np.int64)
    once, again = SoftmaxRows(sample), SoftmaxRows(sample)
    once.update(margins, request_for(sample, seed), None)
    moved = np.flatnonzero(generator.random(sample.n_rows) < 0.5)
    margins[moved] += 1.0
    request = request_for(sample, seed)
    once.update(margins, request, moved)
    again.update(margins, request, None)
    assert once.mean_cost() == again.mean_cost()
    wrong = scores.training_error(margins, sample, first)
    assert once.error(margins, first) == again.error(margins, first) == wrong
    cells = generator.integers(3, size=sample.n_rows).astype(np.uint8)
    rule = Quiet(StumpRule.constant(1), np.zeros((3, sample.signs.shape[1])))
    moving, some, worth = once.cell_sums(request, rule, cells)
    np.testing.assert_array_equal(moving, np.flatnonzero(cells != 2))
    every, also = scores.cell_sums(request, cells, 3)
    np.testing.assert_array_equal(some.pulls[:2], every.pulls[:2])
    np.testing.assert_array_equal(some.weights[:2], every.weights[:2])
    assert worth == pytest.approx(also, rel=1e-12)
    assert (some.weight, some.pull, some.rows) == (every.weight, every.pull, every.rows)


@given(CLASSES, st.integers(1, 4))
@MANY
def test_silent_rules_move_nobody_else(sample: Sample, threads: int) -> None:
    """The same run, but of lists that do not admit that they keep silent: all rows are weighed."""

    class Talkative(WordList):
        @property
        def silent(self) -> int | None:
            return None

    def rounds(*, admit: bool) -> list[Any]:
        run = Run(sample, Words(3, 4), Logit(0.3, l2=1.0, prior=True), seed=2)
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
    run = Run(sample, Words(3, 2), Logit(0.5, l2=0.1, prior=True), seed=seed)
    for _ in islice(run, 6):
        pass
    afresh = SoftmaxRows(sample)
    afresh.update(run.state.margins, run.booster.request(run.state), None)
    kept = run.rounds.scores
    assert isinstance(kept, SoftmaxRows)
    np.testing.assert_array_equal(kept._costs, afresh._costs)
    assert kept.mean_cost() == afresh.mean_cost()
