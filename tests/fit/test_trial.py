"""The trial: its rows, which candidates race, which one wins, and what is repeated on all rows."""

from dataclasses import astuple, fields, replace
from typing import Any

import numpy as np
import pytest

from pacboost.boosters.logit import Logit
from pacboost.boosters.losses.square import Square
from pacboost.fit import derive
from pacboost.fit import trial as trial_module
from pacboost.fit.ask import AUTO, REFIT, Ask, Chooser, FitRows, Stopping
from pacboost.fit.recipe import Recipe
from pacboost.fit.roles import split_by_class
from pacboost.fit.rows import LabelledRows
from pacboost.fit.settings import COLUMNS_TO_DERIVE_FROM, MAX_DERIVED, Settings
from pacboost.fit.trial import Outcome, Trial, Watcher, hold_back, plan, race, refit, start
from pacboost.learners.tree import Tree
from pacboost.models.schema import ColumnOptions, Schema
from pacboost.samples.sample import signs_of
from pacboost.sources.arrays import ArrayTable
from pacboost.training.run.loop import Run
from pacboost.training.run.stop_reason import Stop

NUMBERS = np.zeros(0)
SMALL, LARGE = Tree(max_leaves=3), Tree(max_leaves=12)


class Noted(Watcher):
    def __init__(self) -> None:
        self.leading: list[tuple[Recipe, bool]] = []
        self.runs: list[tuple[Run, bool]] = []
        self.advanced: list[Run] = []

    def begins(self, rows: FitRows) -> None:
        raise AssertionError("a race has its rows")

    def leads(self, recipe: Recipe, run: Run, *, last: bool) -> None:
        self.leading.append((recipe, last))

    def advance(self, run: Run, rounds: int, *, last: bool) -> None:
        list(run.up_to(rounds))
        self.advanced.append(run)

    def complete(self, run: Run, rounds: int, *, last: bool) -> None:
        self.advance(run, rounds, last=last)
        run.keep_best()
        self.runs.append((run, last))


def labelled(rows: int, seed: int = 0) -> LabelledRows:
    """Two classes by a product, and by noise."""
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(rows, 3))
    score = X[:, 0] + 2 * X[:, 1] * X[:, 2] + 0.5 * generator.normal(size=rows)
    signs, labels = signs_of((score > 0.4).astype(int), 2)
    return LabelledRows(ArrayTable(X), signs, None, labels)


def numbers(rows: int, *, straight: bool) -> LabelledRows:
    generator = np.random.default_rng(1)
    X = generator.normal(size=(rows, 3))
    score = X @ np.array([3.0, -2.0, 1.0]) if straight else np.sign(np.abs(X[:, 0]) - 0.7)
    y = score + 0.1 * generator.normal(size=rows)
    return LabelledRows(ArrayTable(X), np.ones((rows, 1), dtype=np.int8), targets=y)


class NoChooser(Chooser):
    def recipe(self, rows: FitRows, ask: Ask) -> Recipe:
        raise AssertionError("a trial has its recipe")


def trial_of(everyone: LabelledRows, recipe: Recipe, quality: str = "auto", **more: Any) -> Trial:
    learn, held = split_by_class(everyone, "validation_fraction", 0.2, 5)
    metric = "log_loss" if everyone.targets is None else "loss"
    classes = np.arange(2) if everyone.targets is None else NUMBERS
    ask = Ask(NoChooser(), ColumnOptions("tests"), 5, Stopping(metric, 10), quality=quality)
    rows = FitRows(Schema(3), everyone, classes)
    return Trial(ask, rows, recipe, learn, held, **{"refits": True, **more})


def of_classes(**more: Any) -> Recipe:
    return Recipe(SMALL, Logit(0.3, prior=True), 40, **more)


def losses(watcher: Noted) -> list[float]:
    return [run.watch.loss for run, _ in watcher.runs if run.watch is not None]


ROWS = 200
ASK = Ask(
    NoChooser(),
    ColumnOptions("tests"),
    0,
    Stopping("error", 20),
    early_stopping=AUTO,
    calibrate=AUTO,
)


def rows_of(learn: LabelledRows, validate: LabelledRows | None = None) -> FitRows:
    return FitRows(Schema(3), learn, np.arange(2), validate)


def test_without_automatic_values_there_is_no_trial() -> None:
    trial = plan(rows_of(labelled(ROWS)), of_classes(), ASK)
    assert trial.validation is None
    assert not trial.refits
    assert not trial.is_drawn


def test_a_trial_draws_its_rows_and_refits() -> None:
    usual = Settings.for_classes(ROWS, 2)
    trial = plan(rows_of(labelled(ROWS)), of_classes(usual=usual), ASK)
    assert trial.is_drawn
    assert trial.refits
    assert trial.validation is not None
    assert trial.validation.n_rows + trial.learn.n_rows == ROWS
    assert trial.recipe.least == usual.least


def test_validation_rows_of_the_user_take_the_place_of_a_trial() -> None:
    usual, validation = Settings.for_classes(ROWS, 2), labelled(30)
    trial = plan(rows_of(labelled(ROWS), validation), of_classes(usual=usual), ASK)
    assert trial.validation is validation
    assert trial.learn.n_rows == ROWS
    assert not trial.refits


def test_rows_that_are_named_validate() -> None:
    validates = np.arange(ROWS) % 4 == 0
    for usual in (None, Settings.for_classes(ROWS, 2)):
        ask = replace(ASK, early_stopping=True, validates=validates)
        trial = plan(rows_of(labelled(ROWS)), of_classes(usual=usual), ask)
        assert trial.validation is not None
        assert trial.validation.numbers is not None
        assert np.array_equal(trial.validation.numbers, np.flatnonzero(validates))


def test_refit_is_what_was_asked_for_except_with_a_warm_start() -> None:
    ask = replace(ASK, early_stopping=REFIT)
    assert plan(rows_of(labelled(ROWS)), of_classes(), ask).refits
    assert not plan(rows_of(labelled(ROWS)), of_classes(), replace(ask, warm_start=True)).refits


@pytest.mark.parametrize("straight", [False, True])
def test_lines_race_against_none_and_the_least_loss_wins(straight: bool) -> None:
    recipe = Recipe(SMALL, Square(0.1), 60)
    trial, watcher = trial_of(numbers(400, straight=straight), recipe), Noted()
    outcome = race(trial, watcher)
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
    monkeypatch.setattr(trial_module, "ROUNDS_OF_A_HEAT", 10)
    recipe = Recipe(SMALL, Square(0.1), 40)
    for straight in (False, True):
        watcher = Noted()
        race(trial_of(numbers(300, straight=straight), recipe), watcher)
        first, *lines = [run for run, _ in watcher.runs]
        for run in lines:
            assert first.watch is not None
            assert run.watch is not None
            heat = 10 + len(run.opening)
            is_behind = min(run.watch.curve[:heat]) >= min(first.watch.curve[:heat])
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
    monkeypatch.setattr(trial_module, "ROUNDS_OF_A_HEAT", 30)
    monkeypatch.setattr(derive, "ROUNDS_OF_A_HEAT", 30)
    recipe = Recipe(Tree(max_leaves=8), Square(0.1), 45)
    trial, watcher = trial_of(of_columns(600, product=product), recipe), Noted()
    trial = replace(trial, ask=replace(trial.ask, derives=True))
    outcome = race(trial, watcher)
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
        assert watcher.leading[1][0].derived == outcome.recipe.derived
    alone = start(trial, replace(outcome.recipe, openings=()))
    list(alone.up_to(45))
    assert alone.watch is not None
    assert winner.watch is not None
    assert winner.watch.curve == alone.watch.curve
    whole = refit(trial, outcome, watcher)
    assert whole.sample.table.n_columns == 3 + len(outcome.recipe.derived)


def test_columns_are_derived_from_the_most_useful_numbers() -> None:
    generator = np.random.default_rng(0)
    X = generator.normal(size=(500, 9))
    X[:, 8] = X[:, 8] > 0  # one bin more than none
    y = X[:, [0, 3, 4, 8]].sum(axis=1) + 0.01 * X[:, 5]
    rows = LabelledRows(ArrayTable(X), np.ones((500, 1), dtype=np.int8), targets=y)
    run = start(trial_of(rows, Recipe(LARGE, Square(0.1), 40)), Recipe(LARGE, Square(0.1), 40))
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
        Recipe(SMALL, Square(0.1), 100, pairs=0),
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
    recipe, watcher = Recipe(SMALL, Square(0.1), 150), Noted()
    trial = trial_of(of_columns(600, product=True), recipe)
    outcome = race(replace(trial, ask=replace(trial.ask, derives=True)), watcher)
    assert not outcome.recipe.derived
    wide = {run for run in watcher.advanced if run.sample.table.n_columns > 3}
    assert len(wide) == 1  # the search


def test_the_candidates_of_a_stage_follow_from_the_best_before() -> None:
    recipe = of_classes(larger=LARGE)
    watcher = Noted()
    outcome = race(trial_of(labelled(600), recipe), watcher)
    learners = [run.learner for run, _ in watcher.runs]
    assert learners == [SMALL, LARGE, LARGE]
    assert outcome.recipe.learner == LARGE
    assert [own.learner for own, _ in watcher.leading][:2] == [SMALL, LARGE]
    worse, watcher = replace(recipe, learner=LARGE, larger=Tree(max_leaves=2)), Noted()
    assert race(trial_of(labelled(600), worse), watcher).recipe.learner == LARGE
    assert [run.learner for run, _ in watcher.runs][2] == LARGE


def test_all_rows_are_boosted_on_for_a_tenth_more_rounds() -> None:
    everyone = labelled(300)
    trial, watcher = trial_of(everyone, of_classes()), Noted()
    outcome = race(trial, watcher)
    run = refit(trial, outcome, watcher)
    assert run.sample.n_rows == 300
    assert run.watch is None
    assert len(run.done) == min(40, int(np.ceil(1.1 * outcome.rounds)))
    assert [last for _, last in watcher.runs] == [False] * (len(watcher.runs) - 1) + [True]
    assert watcher.leading[-1] == (outcome.recipe, True)


def test_a_fit_without_refit_has_one_run() -> None:
    watcher = Noted()
    outcome = race(trial_of(labelled(300), of_classes(larger=LARGE), refits=False), watcher)
    assert [(run is outcome.run, last) for run, last in watcher.runs] == [(True, True)]


def test_the_best_quality_repeats_the_trial_on_other_rows() -> None:
    everyone = labelled(300)
    options: dict[str, Any] = {"quality": "best", "repeat_share": 0.2, "trusted": 1.0}
    watcher = Noted()
    outcome = race(trial_of(everyone, of_classes(), **options), watcher)
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
    recipe = replace(of_classes(pairs=1), learner=single)
    watcher = Noted()
    outcome = race(trial_of(everyone, recipe, refits=False), watcher)
    assert outcome.recipe.settings()["interactions"] == [("x1", "x2")]
    assert [own.pairs for own, _ in watcher.leading] == [1, 0]
    asked = [rule.features() for rule in outcome.run.vote().hypotheses]
    assert {1, 2} in asked
    assert all(columns in ({0}, {1}, {2}, {1, 2}, set()) for columns in asked)


@pytest.mark.parametrize(("rows", "measured"), [(500, 100), (60_000, 10_000)])
def test_the_rows_of_a_trial_are_apart(rows: int, measured: int) -> None:
    parts = hold_back(labelled(rows), 5)
    assert parts is not None
    learned, held = parts
    assert learned.n_rows + held.n_rows == rows
    assert abs(held.n_rows - measured) <= 1
    assert learned.numbers is not None
    assert held.numbers is not None
    assert not set(learned.numbers.tolist()) & set(held.numbers.tolist())


@pytest.mark.parametrize("record", [Recipe, Stopping, Trial, Outcome])
def test_records_hold_values(record: Any) -> None:
    assert not [field.name for field in fields(record) if "Callable" in str(field.type)]
