"""Rounds that kernels do many at a time are those that the loop does one after the other."""

from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np
import pytest

from pacboost.boosters.logit import Logit
from pacboost.boosters.losses.square import Square
from pacboost.boosters.residual import ALL_MET
from pacboost.kernels.threads import ROWS_PER_SUM, using
from pacboost.learners import Tree, tree
from pacboost.ledgers.ledger import Round
from pacboost.samples.bins import Bins, fit_bins
from pacboost.samples.sample import Sample
from pacboost.sources.arrays import ArrayTable
from pacboost.sources.levels import Levels
from pacboost.training.metrics import metric, metric_of
from pacboost.training.run import early_stopping, loop, quick
from pacboost.training.run.quick import QuickRounds
from tests.grids import each_value

TREE = Tree(max_leaves=12, max_features=0.5, min_leaf_rows=3)


def drawn(rows: int, seed: int = 0, *, noise: float = 1.0) -> tuple[Any, Any]:
    """Numbers, a missing value in ten of one column, and columns that can share a lane."""
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(rows, 9))
    X[generator.random(rows) < 0.1, 1] = np.nan
    X[:, 5:] = np.eye(6)[generator.integers(0, 6, rows)][:, :4]
    score = X[:, 0] * X[:, 2] + X[:, 6] + noise * generator.normal(size=rows)
    return X, np.where(score > 0, np.int8(1), np.int8(-1))[:, None]


def table_of(X: Any, *, levels: bool) -> ArrayTable:
    """Numbers, or two columns of them as categories, of which one can share a lane."""
    if not levels:
        return ArrayTable(X)
    X = X.copy()
    X[:, 2] = np.rint(2 * X[:, 2]) + 8
    return ArrayTable(X, levels=Levels({2: tuple(range(17)), 6: ("a", "b")}))


def sample_of(rows: int, seed: int = 0, *, noise: float = 1.0, levels: bool = False) -> Sample:
    X, signs = drawn(rows, seed, noise=noise)
    table = table_of(X, levels=levels)
    return Sample(table, signs, bins=fit_bins(table))


def numbers_of(rows: int, seed: int = 0, *, bins: Bins | None = None) -> Sample:
    """Targets far from 0, of which a few are large."""
    X, _ = drawn(rows, seed)
    generator = np.random.default_rng(seed + 50)
    y = 40.0 + 3.0 * X[:, 0] * X[:, 2] + X[:, 6] + np.exp(generator.normal(size=rows))
    table = ArrayTable(X)
    signs = np.ones((rows, 1), dtype=np.int8)
    return Sample(table, signs, bins=bins or fit_bins(table), targets=y)


def watch_of(
    sample: Sample, patience: int | None, least: int = 0, *, levels: bool = False
) -> early_stopping.EarlyStopping:
    X, signs = drawn(150, seed=9)
    own = Sample(table_of(X, levels=levels), signs, bins=sample.bins)
    return early_stopping.EarlyStopping(own, metric("log_loss"), patience, least)


def known(run: loop.Run) -> list[Any]:
    """All that a run has found, without the time it took."""
    rules: list[Any] = [finished.hypothesis for finished in run.done]
    arrays = ["feature", "cut", "missing_left", "left", "right", "member", "members", "gain"]
    arrays += ["cover"]
    shapes = [[getattr(rule, name).tolist() for name in arrays] for rule in rules]
    values = [rule.values.tolist() for rule in rules]
    state = run.state.weight, run.state.pull, run.state.cast, run.margins.tolist()
    entries: list[Round] = [replace(finished.entry, seconds=0.0) for finished in run.done]
    return [entries, shapes, values, state, run.weights.tolist(), run.rounds.potential.now]


@each_value
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("subsample", [1.0, 0.6])
@pytest.mark.parametrize("patience", [None, 3, -1])
@pytest.mark.parametrize("levels", [False, True])
def test_many_rounds_at_a_time_are_single_rounds(
    threads: int, subsample: float, patience: int | None, levels: bool
) -> None:
    sample = sample_of(700, levels=levels)
    runs = []
    for _ in range(2):
        watch = None if patience == -1 else watch_of(sample, patience, 20, levels=levels)
        booster = Logit(learning_rate=0.3, l2=1.0, prior=True)
        runs.append(loop.Run(sample, TREE, booster, seed=4, subsample=subsample, watch=watch))
    single, many = runs
    with using(threads):
        list(islice(single, 90))
        handed_out = list(many.up_to(90))
        assert QuickRounds.of(many) is not None
    assert known(many) == known(single)
    assert [done.entry for done in handed_out] == [done.entry for done in many.done]
    assert many.stopped == single.stopped
    assert (len(many.done) < 90) == (patience == 3)


@each_value
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("subsample", [1.0, 0.6])
@pytest.mark.parametrize("patience", [None, 3, -1])
@pytest.mark.parametrize("rows", [700, 2 * ROWS_PER_SUM + 500])
def test_many_rounds_for_squared_errors_are_single_rounds(
    threads: int, subsample: float, patience: int | None, rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tree, "MIN_CELLS_PER_THREAD", 300)
    sample, runs, rounds = numbers_of(rows), [], 60 if rows < 1_000 else 6
    for _ in range(2):
        booster = Square(learning_rate=0.3, l2=1.0, grows_after=10)
        watch = None
        if patience != -1:
            own = numbers_of(150, seed=9, bins=sample.bins)
            watch = early_stopping.EarlyStopping(own, metric_of("loss", booster), patience, 5)
        runs.append(loop.Run(sample, TREE, booster, seed=4, subsample=subsample, watch=watch))
    single, many = runs
    with using(threads):
        list(islice(single, rounds))
        assert QuickRounds.of(many) is not None
        list(many.up_to(rounds))
    assert known(many) == known(single)
    assert (many.state.scale, many.state.largest) == (single.state.scale, single.state.largest)
    assert many.stopped == single.stopped


def test_numbers_on_other_rows_of_unequal_weight_are_single_rounds() -> None:
    sample, base = numbers_of(700), np.random.default_rng(1).uniform(0.1, 5.0, 700)
    weighted = replace(sample, base=base)
    runs = [loop.Run(weighted, TREE, Square(learning_rate=0.3), seed=5) for _ in range(2)]
    for run in runs:
        run.rounds.continue_on_other_rows()
    list(islice(runs[0], 20))
    list(runs[1].up_to(20))
    assert QuickRounds.of(runs[1]) is not None
    assert known(runs[1]) == known(runs[0])


def test_rounds_end_when_every_number_is_met() -> None:
    X = np.repeat(np.arange(8.0), 20)[:, None]
    table = ArrayTable(X)
    targets = np.array([3.0, -1.0, 4.0, 1.0, -5.0, 9.0, 2.0, 6.0])[X[:, 0].astype(int)]
    signs = np.ones((len(X), 1), dtype=np.int8)
    sample = Sample(table, signs, bins=fit_bins(table), targets=targets)
    runs = [loop.Run(sample, Tree(max_leaves=8), Square(learning_rate=0.9)) for _ in range(2)]
    list(islice(runs[0], 200))
    assert QuickRounds.of(runs[1]) is not None
    list(runs[1].up_to(200))
    assert runs[1].stopped == runs[0].stopped
    assert runs[1].stopped is not None
    assert ALL_MET in str(runs[1].stopped)
    assert 1 < len(runs[1].done) < 200
    assert known(runs[1]) == known(runs[0])


def test_a_team_does_the_same_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree, "MIN_CELLS_PER_THREAD", 300)
    sample, runs = sample_of(700), []
    for threads in (1, 2):
        watch = watch_of(sample, None)
        runs.append(loop.Run(sample, TREE, Logit(prior=True), seed=2, subsample=0.7, watch=watch))
        with using(threads):
            list(runs[-1].up_to(12))
    assert known(runs[0]) == known(runs[1])


def test_costs_of_many_rows_are_added_up_span_by_span() -> None:
    sample = sample_of(2 * ROWS_PER_SUM + 77)
    runs = [loop.Run(sample, TREE, Logit(), seed=3, subsample=0.5) for _ in range(2)]
    with using(2):
        list(islice(runs[0], 5))
        list(runs[1].up_to(5))
        assert QuickRounds.of(runs[1]) is not None
    assert known(runs[1]) == known(runs[0])


@pytest.mark.parametrize("room", [1, 2, 3, 50])
def test_rounds_on_other_rows_of_unequal_weight_are_single_rounds(
    room: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(quick, "MAX_ROWS_PER_CALL", 700 * room)
    X, signs = drawn(700)
    table = ArrayTable(X)
    base = np.random.default_rng(1).uniform(0.1, 5.0, len(X))
    sample, runs = Sample(table, signs, base, fit_bins(table)), []
    for _ in range(2):
        runs.append(loop.Run(sample, TREE, Logit(l2=1.0), seed=5))
        runs[-1].continue_on_other_rows(np.full(signs.shape, 0.2), [1.0, 1.0])
    list(islice(runs[0], 20))
    stood_after = []
    for done in runs[1].up_to(20, at_once=3):
        if done.entry.number % 3 == 0:
            stood_after.append((done.entry.number, len(runs[1].done)))
    assert QuickRounds.of(runs[1]) is not None
    assert stood_after == [(number, number) for number in range(3, 20, 3)]
    assert known(runs[1]) == known(runs[0])


def test_a_round_without_an_edge_is_left_to_the_loop() -> None:
    sample = sample_of(60, noise=0.0)
    runs = [loop.Run(sample, TREE, Logit(prior=True), seed=1, subsample=0.2) for _ in range(2)]
    list(islice(runs[0], 300))
    list(runs[1].up_to(300))
    assert known(runs[1]) == known(runs[0])
    assert runs[1].stopped == runs[0].stopped
