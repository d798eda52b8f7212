"""A fit, from X and y to a model with its certificate: the page to read first.

Rows are divided before anything is learned, a schema is learned from those that may teach, and all
rows are read by it. Recipes then race on a part of the rows, the best one is repeated on all, and
its vote becomes the model. The rows that were set apart certify it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from pacboost.boosters.booster import Booster
from pacboost.boosters.multiclass import method_of
from pacboost.errors import LearnerError, ParameterError
from pacboost.fit import derive
from pacboost.fit.ask import AUTO, Ask, FitRows, ValidationSet
from pacboost.fit.certify import certified
from pacboost.fit.concerns import curve_for, little_use
from pacboost.fit.continuing import rows_digest
from pacboost.fit.division import Division, held_out
from pacboost.fit.examples import label_rows, read_examples, read_numbers
from pacboost.fit.recipe import Recipe
from pacboost.fit.roles import CALIBRATE, split_by_class
from pacboost.fit.stages import STAGES
from pacboost.fit.trial import Outcome, Trial, Watcher, plan, race, refit
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
class Fitted:
    """The result of a fit, for an estimator to keep."""

    model: Model
    settings: dict[str, Any]
    """The values in use of the parameters that may be automatic."""
    memory: RowMemory
    """Sketches of all rows, so that later certificates can refuse them."""
    rows_digest: str
    """Identifies the rows for a fit that continues this one."""
    calibration_error: float | None
    warnings: tuple[Warning, ...]
    """What makes the model of little use, if anything."""
    interrupt: KeyboardInterrupt | LearnerError | None = None
    """Ctrl-C, or the error of a learner, that has ended the fit; the rounds before are kept."""


def fit(X: Any, y: Any, sample_weight: Any, ask: Ask, watcher: Watcher) -> Fitted:
    """Learn from rows as ``ask`` says; ``watcher`` follows the rounds."""
    # opened once: nothing below it depends on threads or GPUs
    with machine(ask.device, ask.n_jobs, X):
        trial, memory = prepare(X, y, sample_weight, ask)
        watcher.begins(trial.rows)
        try:
            best = race(trial, STAGES, watcher)
            if trial.refits:
                best = refit(trial, best, watcher)
            return finish(trial, memory, best)
        except (KeyboardInterrupt, LearnerError) as interrupt:
            # hours of boosting are not lost: the leading run is a model, too
            if watcher.leader is None or not watcher.leader.run.done:
                raise
            watcher.leader.run.stopped = StopReason(Stop.INTERRUPTED)
            return replace(finish(trial, memory, watcher.leader), interrupt=interrupt)


def prepare(X: Any, y: Any, sample_weight: Any, ask: Ask) -> tuple[Trial, RowMemory]:
    """Divide and read the rows, and plan which of them each run uses."""
    X = ask.columns.divisible(X)
    # The theorem on held-out rows needs a model that does not depend on them. They leave before
    # anything is learned, since even the levels of a category would be a look at them.
    division = held_out(X, y, sample_weight, ask.certifying, ask.seed)
    with named_among(X, lambda rows: Schema.learn(rows, ask.columns)):
        schema, table = Schema.learn(division.X, ask.columns)
    rows = read(division, schema, table, sample_weight, ask)
    first = ask.chooser.candidate(rows, ask)  # what the user set, else the table of settings
    rows, first = derive.known_before(rows, first, ask)
    refuse(first.recipe.booster, rows)
    if table.entries is not None and not first.recipe.learner.sparse:
        warn_of_dense(table)
    trial = plan(hold_for_calibration(rows, ask), first, ask)
    return trial, remember(X, table, division, trial)


def read(division: Division, schema: Schema, table: Table, sample_weight: Any, ask: Ask) -> FitRows:
    """Read the labels of the training rows, and the validation rows."""
    weights = division.weights(sample_weight)
    if ask.predicts_numbers:
        learn, classes = read_numbers(table, division.y, weights), NO_CLASSES
    else:
        learn, classes = read_examples(table, division.y, weights, ask.class_weight)
    learn = replace(learn, numbers=division.rows, copies=division.number)
    rows = FitRows(schema, learn, classes)
    if division.apart is not None:
        # certificates count rows alike, and say so where the fit has weighed them
        apart = replace(division.apart, weighted=learn.weights is not None)
        rows = replace(rows, certify=apart)
    for validation_set in ask.validation_sets:
        rows = with_validation(rows, validation_set, ask)
    return rows


def with_validation(rows: FitRows, validation_set: ValidationSet, ask: Ask) -> FitRows:
    """Read validation rows by the schema and the classes of the training rows."""
    name, X, y = validation_set.name, ask.columns.divisible(validation_set.X), validation_set.y
    if rows.certify is not None:
        from pacboost.fit.shared_rows import without_shared

        # validation rows choose the number of rounds, so they may not certify it as well
        rows = replace(rows, certify=without_shared(rows.schema, rows.certify, X))
    table = rows.schema.read(X)
    if ask.predicts_numbers:
        labelled = read_numbers(table, y, name="y_val")
    else:
        labelled = label_rows(table, y, rows.classes, "y_val", several=rows.has_several_labels)
    if rows.validate is None:  # the first set stops the run
        return replace(rows, validate=labelled)
    return replace(rows, measured=(*rows.measured, (name, labelled)))


def refuse(booster: Booster[Any], rows: FitRows) -> None:
    """Raise if the booster cannot learn these labels or numbers."""
    # one sign a row is all that most boosters weigh; these two weigh every pair of row and label
    if rows.has_several_labels and not method_of(booster.multiclass).several_labels:
        raise ParameterError(
            f"y holds several labels a row, and {booster.name} with multiclass="
            f"{booster.multiclass!r} takes one; use booster='adaboost' with multiclass='mh'",
            parameter="y",
        )
    validation = [] if rows.validate is None else [rows.validate]
    for part in (rows.learn, *validation, *(part for _, part in rows.measured)):
        if part.targets is not None:
            booster.check_targets(part.targets, "y" if part is rows.learn else "y_val")


def hold_for_calibration(rows: FitRows, ask: Ask) -> FitRows:
    """Hold rows back for a calibration curve, if one is asked for."""
    if ask.calibrate in (None, AUTO):  # the slope of AUTO comes from a trial, and costs no rows
        return rows
    if rows.has_several_labels:
        raise ParameterError(
            "calibrate is for one label a row; set calibrate=None", parameter="calibrate"
        )
    share = real_number("validation_fraction", ask.validation_fraction)
    # before validation rows are drawn: those choose the number of rounds, and probabilities by them
    # would be too steep
    seed = ask.seed + CALIBRATE
    learn, calibrate = split_by_class(rows.learn, "validation_fraction", share, seed)
    return replace(rows, learn=learn, calibrate=calibrate)


def remember(X: Any, table: Table, division: Division, trial: Trial) -> RowMemory:
    """Make sketches of all rows that the fit uses, certifying ones included."""
    # by the undivided rows: calibration and the trial have each taken a part of them
    rows, ask = trial.rows, trial.ask
    if rows.schema.text is not None:
        # the words of a vocabulary lose what the other words were, so whole texts are hashed
        texts = [
            X,
            *(ask.columns.divisible(validation_set.X) for validation_set in ask.validation_sets),
        ]
        return RowMemory([rows.schema.comparable(lines) for lines in texts])
    tables = [table]
    if trial.validation is not None and not trial.is_drawn:
        tables.append(trial.validation.table)
    if division.apart is not None:
        # they choose nothing in this fit, but a second certificate by them would repeat the first
        with named_among(X, rows.schema.read):
            tables.append(rows.schema.read(division.apart.X))
    return RowMemory([*tables, *(further.table for _, further in rows.measured)])


def finish(trial: Trial, memory: RowMemory, best: Outcome) -> Fitted:
    """Turn the rounds of a run into a model, and certify it."""
    ask, rows, recipe, run = trial.ask, trial.rows, best.recipe, best.run
    curve, error = calibrated(rows, recipe, run, ask)
    model = replace(model_of(rows, recipe, run), calibration=curve or best.calibration)
    if not ask.predicts_numbers:  # a number is never simply right or wrong
        model = certified(model, rows.certify, ask.certifying)
    return Fitted(
        model,
        recipe.settings(),
        memory,
        rows_digest(run, rows, looks=ask.warm_start),
        error,
        () if ask.predicts_numbers else little_use(run, rows.classes),
    )


def model_of(rows: FitRows, recipe: Recipe, run: Run) -> Model:
    """Return the model of the rounds done so far."""
    sample, counts, vote = run.sample, None, run.vote()
    # a map of a pair is centred at 0 over the training rows, which a saved model does not have
    if recipe.interactions:
        pairs = [group for group in run.learner.interactions if len(group) == 2]  # type: ignore[attr-defined]
        counts = Counts.of(sample, sorted({j for pair in pairs for j in pair}))
    return Model(
        classes=rows.classes,
        schema=replace(rows.schema, derived=recipe.derived),
        vote=vote,
        ledger=replace(run.ledger(), vote_digest=vote_digest(vote)),
        bins=sample.bins,
        counts=counts,
        fingerprint=run.fingerprint.digest(),
    )


def calibrated(
    rows: FitRows, recipe: Recipe, run: Run, ask: Ask
) -> tuple[Calibration | None, float | None]:
    """Fit the calibration on rows held back for it, and measure its calibration error.

    The error is measured on halves of those rows that did not take part in the fit.
    """
    apart = rows.calibrate
    if apart is None or rows.classes.size == 1 or ask.calibrate is None:
        return None, None
    scores, labels = run.vote().scores(recipe.widened(apart).table), apart.classes()
    method = curve_for(ask.calibrate, labels.size)
    error = calibration.crossed_error(method, scores, labels, apart.weights)
    return calibration.fit(method, scores, labels, apart.weights), error
