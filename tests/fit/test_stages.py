"""The stages of a trial: which candidates race, and which one wins."""

from dataclasses import astuple, replace
from typing import Any

import numpy as np
import pytest

from pacboost.boosters.losses.square import Square
from pacboost.fit import derive, stages
from pacboost.fit.recipe import Recipe
from pacboost.fit.rows import LabelledRows
from pacboost.fit.settings import COLUMNS_TO_DERIVE_FROM, MAX_DERIVED
from pacboost.fit.stages import STAGES
from pacboost.fit.trial import race, refit, start
from pacboost.learners.tree import Tree
from pacboost.sources.arrays import ArrayTable
from pacboost.training.run.stop_reason import Stop
from tests.fit.trials import (
    LARGE,
    SMALL,
    Noted,
    labelled,
    numbers,
    of_classes,
    of_numbers,
    trial_of,
)


def losses(watcher: Noted) -> list[float]:
    return [run.watch.loss for run, _ in watcher.runs if run.watch is not None]


@pytest.mark.parametrize("straight", [False, True])
def test_lines_race_against_none_and_the_least_loss_wins(straight: bool) -> None:
    recipe = of_numbers(SMALL, 60)
    trial, watcher = trial_of(numbers(400, straight=straight), recipe), Noted()
    outcome = race(trial, STAGES, watcher)
    assert [len(run.opening) for run, _ in watcher.runs] == [1, 4, 4]
    assert outcome.run.watch is not None
    assert outcome.run.watch.loss == min(losses(watcher))
    assert outcome.recipe.openings or not straight
    assert outcome.rounds == len(outcome.run.done)
    assert not any(last for _, last in watcher.runs)


def test_a_candidate_that_is_behind_after_a_heat_is_given_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Lines do not help to predict a bump; where they do, they are run to their end."""
    monkeypatch.setattr(stages, "ROUNDS_OF_A_HEAT", 10)
    first = of_numbers(SMALL, 40)
    for straight in (False, True):
        watcher = Noted()
        race(trial_of(numbers(300, straight=straight), first), STAGES, watcher)
        plain, *lines = [run for run, _ in watcher.runs]
        for run in lines:
            assert plain.watch is not None
            assert run.watch is not None
            heat = 10 + len(run.opening)
            is_behind = min(run.watch.curve[:heat]) >= min(plain.watch.curve[:heat])
            assert is_behind == (not straight)
            assert run.stopped is not None
            assert (run.stopped.kind is Stop.BEHIND) == is_behind
            assert len(run.watch.curve) == (heat if is_behind else 40)


def of_columns(rows: int, *, product: bool) -> LabelledRows:
    generator = np.random.default_rng(3)
    X = generator.normal(size=(rows, 3))
    score = X[:, 1] * X[:, 2] if product else np.sign(np.abs(X[:, 0]) - 0.7)
    y = score + 0.1 * generator.normal(size=rows)
    return LabelledRows(ArrayTable(X), np.ones((rows, 1), dtype=np.int8), targets=y)


@pytest.mark.parametrize("product", [False, True])
def test_derived_columns_race_against_none(product: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run is paused after a heat; the winner goes on as if nothing had happened."""
    monkeypatch.setattr(stages, "ROUNDS_OF_A_HEAT", 30)
    monkeypatch.setattr(derive, "ROUNDS_OF_A_HEAT", 30)
    recipe = of_numbers(Tree(max_leaves=8), 45)
    trial, watcher = trial_of(of_columns(600, product=product), recipe), Noted()
    trial = replace(trial, ask=replace(trial.ask, derive=True))
    outcome = race(trial, STAGES, watcher)
    plain, search, raced, *_ = watcher.advanced
    assert [run.sample.table.n_columns - 3 for run in (plain, search)] == [0, 12]
    assert len(search.done) == 20
    assert 0 < raced.sample.table.n_columns - 3 <= MAX_DERIVED
    winner = watcher.runs[0][0]
    assert winner is (raced if product else plain)
    assert len((plain if product else raced).done) == 30
    assert bool(outcome.recipe.derived) == product
    if product:
        assert ("*", 1, 2) in {astuple(column) for column in outcome.recipe.derived}
        assert watcher.leading[1][0].recipe.derived == outcome.recipe.derived
    alone = start(trial, outcome.candidate.having(openings=()))
    list(alone.up_to(45))
    assert alone.watch is not None
    assert winner.watch is not None
    assert winner.watch.curve == alone.watch.curve
    whole = refit(trial, outcome, watcher).run
    assert whole.sample.table.n_columns == 3 + len(outcome.recipe.derived)


def test_columns_are_derived_from_the_most_useful_numbers() -> None:
    generator = np.random.default_rng(0)
    X = generator.normal(size=(500, 9))
    X[:, 8] = X[:, 8] > 0  # one bin more than none
    y = X[:, [0, 3, 4, 8]].sum(axis=1) + 0.01 * X[:, 5]
    rows = LabelledRows(ArrayTable(X), np.ones((500, 1), dtype=np.int8), targets=y)
    run = start(trial_of(rows, of_numbers(LARGE, 40)), of_numbers(LARGE, 40))
    list(run.up_to(40))
    every = derive.candidates(run)
    used = {column for made in every for column in (made.first, made.second)}
    assert {0, 3, 4} <= used <= set(range(8))
    assert len(used) <= COLUMNS_TO_DERIVE_FROM
    assert all(made.first < made.second for made in every)
    assert not derive.is_possible(Recipe(SMALL, Square(0.1), 20), run)
    monotone = Tree(max_leaves=3, monotone={0: 1})
    assert derive.is_possible(Recipe(SMALL, Square(0.1), 100), run)
    for recipe in (
        Recipe(monotone, Square(0.1), 100),
        Recipe(Tree(interactions="pairwise"), Square(0.1), 100),
        Recipe(SMALL, Square(0.1), 100, interactions=()),
    ):
        assert not derive.is_possible(recipe, run)


def test_a_search_leaves_out_rows_without_weight(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(derive, "ROWS_OF_A_SEARCH", 50)
    rows = labelled(600)
    weights = np.ones(600)
    weights[np.linspace(0, 599, 50).astype(int)] = 0
    searched = derive.searched(replace(rows, weights=weights))
    assert searched.weights is not None
    assert searched.weights.all()
    assert searched.n_rows == 50
    weights[40:] = 0
    assert derive.searched(replace(rows, weights=weights)).n_rows == np.count_nonzero(weights)


def test_no_race_follows_a_search_without_a_useful_column(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(derive, "most_used", lambda *_: ())
    recipe, watcher = of_numbers(SMALL, 150), Noted()
    trial = trial_of(of_columns(600, product=True), recipe)
    outcome = race(replace(trial, ask=replace(trial.ask, derive=True)), STAGES, watcher)
    assert not outcome.recipe.derived
    wide = {run for run in watcher.advanced if run.sample.table.n_columns > 3}
    assert len(wide) == 1  # the search


def test_the_candidates_of_a_stage_follow_from_the_best_before() -> None:
    recipe = of_classes(larger=LARGE)
    watcher = Noted()
    outcome = race(trial_of(labelled(600), recipe), STAGES, watcher)
    learners = [run.learner for run, _ in watcher.runs]
    assert learners == [SMALL, LARGE, LARGE]
    assert outcome.recipe.learner == LARGE
    assert [own.recipe.learner for own, _ in watcher.leading][:2] == [SMALL, LARGE]
    worse = replace(recipe, larger=Tree(max_leaves=2)).having(learner=LARGE)
    watcher = Noted()
    assert race(trial_of(labelled(600), worse), STAGES, watcher).recipe.learner == LARGE
    assert [run.learner for run, _ in watcher.runs][2] == LARGE


def test_the_best_quality_repeats_the_trial_on_other_rows() -> None:
    everyone = labelled(300)
    options: dict[str, Any] = {"quality": "best", "repeat_share": 0.2, "slope_trust": 1.0}
    watcher = Noted()
    outcome = race(trial_of(everyone, of_classes(), **options), STAGES, watcher)
    repeats = [run for run, _ in watcher.runs[-4:]]
    counts = [len(outcome.run.done), *(len(run.done) for run in repeats)]
    assert outcome.rounds == round(np.mean(counts))
    assert outcome.calibration is not None
    assert outcome.calibration.slope is not None
    rows = {tuple(run.sample.table.column(0)[:20]) for run in repeats}
    assert len(rows) == 4


def test_pairs_are_chosen_after_single_columns() -> None:
    everyone = labelled(500)
    single = replace(SMALL, interactions="no_interactions")
    recipe = of_classes(pairs=1).having(learner=single, interactions=())
    watcher = Noted()
    outcome = race(trial_of(everyone, recipe, refits=False), STAGES, watcher)
    assert outcome.recipe.settings()["interactions"] == [("x1", "x2")]
    assert [own.pairs for own, _ in watcher.leading] == [1, 0]
    asked = [rule.features() for rule in outcome.run.vote().hypotheses]
    assert {1, 2} in asked
    assert all(columns in ({0}, {1}, {2}, {1, 2}, set()) for columns in asked)
