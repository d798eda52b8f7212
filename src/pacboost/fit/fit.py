"""A fit, from rows as they came to a model with its certificate: the page to read first.

Rows are divided before anything is learned, a schema is learned from those that may teach, and all
rows are read by it. Recipes then race on a part of the rows, the best one is repeated on all, and
its vote becomes the model. The rows that were set apart certify it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from pacboost.boosters.booster import Booster
from pacboost.errors import ParameterError
from pacboost.fit.ask import AUTO, Ask, FitRows
from pacboost.fit.calibrating import curve_for
from pacboost.fit.certify import certified
from pacboost.fit.continuing import rows_digest
from pacboost.fit.division import Division, held_out
from pacboost.fit.examples import label_rows, read_examples, read_numbers
from pacboost.fit.recipe import Recipe
from pacboost.fit.roles import CALIBRATE, split_by_class
from pacboost.fit.rows import LabelledRows
from pacboost.fit.trial import Trial, Watcher, plan, race, refit
from pacboost.fit.useless import little_use
from pacboost.hypotheses.shapes import Counts
from pacboost.hypotheses.vote_digest import vote_digest
from pacboost.kernels.machine import machine
from pacboost.models import calibration
from pacboost.models.calibration import Calibration
from pacboost.models.input_checks import warn_of_dense
from pacboost.models.model import NO_CLASSES, Model
from pacboost.models.schema import Schema
from pacboost.numerics.checks import real_number
from pacboost.samples.row_memory import RowMemory
from pacboost.sources.explained_errors import named_among
from pacboost.sources.table import Table
from pacboost.training.run.loop import Run
from pacboost.training.run.stop_reason import Stop, StopReason


@dataclass(frozen=True, eq=False)
class Preparation:
    """A fit that is ready to run."""

    ask: Ask
    rows: FitRows
    trial: Trial
    memory: RowMemory
    """Sketches of all rows, so that later certificates can refuse them."""


@dataclass(frozen=True, eq=False)
class Fitted:
    """What a fit leaves behind, for an estimator to keep."""

    model: Model
    settings: dict[str, Any]
    """The values in use of the parameters that may be automatic."""
    memory: RowMemory
    rows_digest: str
    """Identifies the rows for a fit that continues this one."""
    calibration_error: float | None
    warnings: tuple[Warning, ...]
    """What makes the model of little use, if anything."""
    interrupt: KeyboardInterrupt | None = None
    """Ctrl-C, if it has ended the fit; the rounds done before are kept."""


def fit(X: Any, y: Any, sample_weight: Any, ask: Ask, watcher: Watcher) -> Fitted:
    """Learn from rows as ``ask`` says; ``watcher`` follows the rounds."""
    with machine(ask.device, ask.n_jobs, X):
        ready = prepare(X, y, sample_weight, ask)
        watcher.begins(ready.rows)
        try:
            outcome = race(ready.trial, watcher)
            run = refit(ready.trial, outcome, watcher) if ready.trial.refits else outcome.run
            return finish(ready, outcome.recipe, run, outcome.calibration)
        except KeyboardInterrupt as interrupt:
            # nothing is lost that Ctrl-C came too late to prevent: the leading run is a model, too
            if watcher.leader is None or not watcher.leader[1].done:
                raise
            recipe, run = watcher.leader
            run.stopped = StopReason(Stop.INTERRUPTED)
            return replace(finish(ready, recipe, run), interrupt=interrupt)


def prepare(X: Any, y: Any, sample_weight: Any, ask: Ask) -> Preparation:
    """Divide and read the rows, and plan what is run on which of them."""
    X = ask.columns.divisible(X)
    division = held_out(X, y, sample_weight, ask.certifying, ask.seed)  # before all learning
    with named_among(X, lambda rows: Schema.learn(rows, ask.columns)):
        schema, table = Schema.learn(division.X, ask.columns)  # of rows that may be learned from
    rows = read(division, schema, table, sample_weight, ask)
    recipe = ask.chooser.recipe(rows, ask)  # what the user set, else the table of settings
    refuse(recipe.booster, rows)
    if table.entries is not None and not recipe.learner.sparse:
        warn_of_dense(table)
    rows = hold_for_calibration(rows, ask)
    trial = plan(rows, recipe, ask)
    return Preparation(ask, rows, trial, remember(X, table, division, trial, ask))


def read(division: Division, schema: Schema, table: Table, sample_weight: Any, ask: Ask) -> FitRows:
    """Label the rows to learn from, and read those that validate."""
    weights = division.weights(sample_weight)
    if ask.predicts_numbers:
        learn, classes = read_numbers(table, division.y, weights), NO_CLASSES
    else:
        learn, classes = read_examples(table, division.y, weights, ask.class_weight)
    learn = replace(learn, numbers=division.rows, copies=division.number)
    rows = FitRows(schema, learn, classes)
    apart = division.apart
    if apart is not None:
        apart = replace(apart, weighted=learn.weights is not None)
    sets = []
    for given in ask.validation_sets:
        X = ask.columns.divisible(given.X)
        if apart is not None:
            from pacboost.fit.shared_rows import without_shared

            apart = without_shared(schema, apart, X)
        sets.append((given.name, read_validation(X, given.y, rows, ask)))
    first = sets[0][1] if sets else None
    return replace(rows, validate=first, certify=apart, measured=tuple(sets[1:]))


def read_validation(X: Any, y: Any, rows: FitRows, ask: Ask) -> LabelledRows:
    """Read validation rows by the schema and the classes of the rows learned from."""
    table = rows.schema.read(X)
    if ask.predicts_numbers:
        return read_numbers(table, y, name="y_val")
    return label_rows(table, y, rows.classes, "y_val", several=rows.has_several_labels)


def refuse(booster: Booster[Any], rows: FitRows) -> None:
    """Raise if the booster cannot learn these labels or numbers."""
    if rows.has_several_labels and booster.multiclass not in ("mh", "pairs"):
        raise ParameterError(
            f"y holds several labels a row, and {booster.name} with multiclass="
            f"{booster.multiclass!r} takes one; use booster='adaboost' with "
            "multiclass='mh'",
            parameter="y",
        )
    validation = [] if rows.validate is None else [rows.validate]
    for part in (rows.learn, *validation, *(part for _, part in rows.measured)):
        if part.targets is not None:
            booster.check_targets(part.targets, "y" if part is rows.learn else "y_val")


def hold_for_calibration(rows: FitRows, ask: Ask) -> FitRows:
    """Hold rows back for a calibration curve, if one is asked for."""
    if ask.calibrate in (None, AUTO):
        return rows
    if rows.has_several_labels:
        raise ParameterError(
            "calibrate is for one label a row; set calibrate=None", parameter="calibrate"
        )
    share = real_number("validation_fraction", ask.validation_fraction)
    learn, held = split_by_class(rows.learn, "validation_fraction", share, ask.seed + CALIBRATE)
    return replace(rows, learn=learn, calibrate=held)


def remember(X: Any, table: Table, division: Division, trial: Trial, ask: Ask) -> RowMemory:
    """Sketch all rows that the fit uses, certifying ones included."""
    assert trial.rows is not None
    schema, sets = trial.rows.schema, ask.validation_sets
    if schema.text is not None:
        texts = [X, *(ask.columns.divisible(given.X) for given in sets)]
        return RowMemory([schema.comparable(rows) for rows in texts])
    tables = [table]
    if trial.held is not None and not trial.is_drawn:
        tables.append(trial.held.table)
    if division.apart is not None:
        with named_among(X, schema.read):
            tables.append(schema.read(division.apart.X))
    return RowMemory([*tables, *(rows.table for _, rows in trial.rows.measured)])


def finish(
    ready: Preparation, recipe: Recipe, run: Run, slope: Calibration | None = None
) -> Fitted:
    """Turn the rounds of a run into a model, and certify it."""
    ask, rows = ready.ask, ready.rows
    curve, error = calibrated(rows, run, ask)
    model = replace(model_of(rows, recipe, run), calibration=curve or slope)
    if not ask.predicts_numbers:  # a number is never simply right or wrong
        model = certified(model, rows.certify, ask.certifying)
    return Fitted(
        model,
        recipe.settings(),
        ready.memory,
        rows_digest(run, rows, looks=ask.warm_start),
        error,
        () if ask.predicts_numbers else little_use(run, rows.classes),
    )


def model_of(rows: FitRows, recipe: Recipe, run: Run) -> Model:
    """Return the model of the rounds done so far."""
    sample, counts, vote = run.sample, None, run.vote()
    if recipe.pairs is not None and recipe.interactions:
        pairs = [group for group in run.learner.interactions if len(group) == 2]  # type: ignore[attr-defined]
        counts = Counts.of(sample, sorted({j for pair in pairs for j in pair}))
    return Model(
        classes=rows.classes,
        schema=rows.schema,
        vote=vote,
        ledger=replace(run.ledger(), vote_digest=vote_digest(vote)),
        bins=sample.bins,
        counts=counts,
        fingerprint=run.fingerprint.digest(),
    )


def calibrated(rows: FitRows, run: Run, ask: Ask) -> tuple[Calibration | None, float | None]:
    """Fit the calibration on rows held back for it, and measure its calibration error.

    The error is measured on halves of those rows that did not take part in the fit.
    """
    held = rows.calibrate
    if held is None or rows.classes.size == 1 or ask.calibrate is None:
        return None, None
    scores, labels = run.vote().scores(held.table), held.classes()
    method = curve_for(ask.calibrate, labels.size)
    error = calibration.crossed_error(method, scores, labels, held.weights)
    return calibration.fit(method, scores, labels, held.weights), error
