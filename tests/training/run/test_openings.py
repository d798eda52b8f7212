"""Openings: their rules are measured and stepped through as any other round is."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np
import pytest

from pacboost.boosters.adaboost import AdaBoost
from pacboost.boosters.logit import Logit
from pacboost.boosters.losses.square import Square
from pacboost.errors import ParameterError
from pacboost.hypotheses.hypothesis import Hypothesis
from pacboost.learners.stump import Stump
from pacboost.learners.tree import Tree
from pacboost.samples.bins import fit_bins
from pacboost.samples.sample import Sample
from pacboost.sources.arrays import ArrayTable
from pacboost.training.run.loop import Run
from pacboost.training.run.openings import EarlierRules, Opening
from pacboost.training.run.straight_lines import StraightLines


def classes(positive: float, rows: int = 300) -> Sample:
    generator = np.random.default_rng(0)
    X = generator.normal(size=(rows, 3))
    score = X @ np.array([2.0, -1.0, 0.0]) + 0.3 * generator.normal(size=rows)
    above = score > np.quantile(score, 1 - positive)
    signs = np.where(above, 1, -1).astype(np.int8)[:, None]
    table = ArrayTable(X)
    return Sample(table, signs, bins=fit_bins(table))


def numbers(rows: int = 300, largest: float = 0.0) -> Sample:
    generator = np.random.default_rng(0)
    X = generator.normal(size=(400, 2))[:rows]
    targets = X[:, 0] + np.abs(X[:, 1])
    targets[-1] = largest or targets[-1]
    table, signs = ArrayTable(X), np.ones((rows, 1), dtype=np.int8)
    return Sample(table, signs, bins=fit_bins(table), targets=targets)


@pytest.mark.parametrize("watched", [False, True])
def test_lines_follow_the_constant_and_trees_follow_the_lines(watched: bool) -> None:
    sample = classes(0.3)
    run = Run(sample, Tree(), Logit(0.1, prior=True), openings=[StraightLines()])
    done = list(islice(run, 6) if watched else run.up_to(6))
    sizes = [len(finished.hypothesis.values) for finished in done]
    assert len(run.opening) == 4
    assert sizes[0] == 1
    assert min(sizes[1:4]) > 31
    assert max(sizes[4:]) <= 31
    assert np.array_equal(run.scores()[:, 0], run.vote().scores(sample.table))
    losses = [finished.entry.normaliser for finished in done]
    assert np.prod(losses[:4]) < 0.5
    assert all(finished.hypothesis.gain[0] > 0 for finished in done[1:4])  # type: ignore[attr-defined]


def test_without_a_constant_lines_come_first() -> None:
    """Balanced classes ask for none."""
    run = Run(classes(0.5), Tree(), Logit(0.1, prior=True), openings=[StraightLines(0.5)])
    assert len(run.opening) == 3
    first = next(iter(run))
    assert len(first.hypothesis.values) > 31


def test_rules_that_were_found_before_lead_to_the_same_scores() -> None:
    sample = numbers()
    whole = Run(sample, Tree(max_leaves=4), Square(0.3), seed=1)
    list(whole.up_to(8))
    again = Run(sample, Tree(max_leaves=4), Square(0.3), seed=1, openings=[whole.first_rules(5)])
    list(again.up_to(8))
    assert len(again.opening) == 5
    kept, entries = (
        [replace(entry, seconds=0.0) for entry in run.ledger().rounds] for run in (whole, again)
    )
    assert kept == entries
    assert np.array_equal(whole.margins, again.margins)


def test_rules_of_some_rows_are_measured_on_all_and_values_follow_the_unit() -> None:
    some = Run(numbers(200), Tree(max_leaves=4), Square(0.3))
    list(some.up_to(6))
    sample = numbers(400, largest=1e6)
    run = Run(sample, Tree(max_leaves=4), Square(0.3), openings=[some.first_rules(6)])
    list(run.up_to(8))
    unit = run.booster.unit(run.state)
    assert unit > some.booster.unit(some.state)
    for rule in run.vote().hypotheses:
        assert np.array_equal(np.rint(rule.values / unit), rule.values / unit)
    assert sample.targets is not None
    mean = np.mean((sample.targets - run.vote().scores(sample.table)) ** 2)
    assert run.ledger().rounds[-1].training_error == pytest.approx(mean, rel=1e-9)


def test_an_opening_may_have_no_rules() -> None:
    class Nothing(Opening):
        def rules(self, sample: Sample, start: Any, unit: float) -> Sequence[Hypothesis]:
            return []

    runs = [Run(classes(0.3), Tree(), Logit(0.1), openings=own) for own in ((), (Nothing(),))]
    one, two = (list(run.up_to(3)) for run in runs)
    assert [own.entry.edge for own in one] == [own.entry.edge for own in two]


def test_votes_for_rules_have_no_openings() -> None:
    with pytest.raises(ParameterError, match="adaboost"):
        Run(classes(0.3), Stump(), AdaBoost(), openings=[EarlierRules(())])
