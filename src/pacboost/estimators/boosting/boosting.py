"""How estimators boost: their parameters become an ``Ask``, and ``fit.fit`` does the rest."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar

from sklearn.base import is_regressor

from pacboost.errors import LearnerError, warn
from pacboost.estimators.boosting.watching import RoundsWatcher, attributes
from pacboost.estimators.fitting.attempt import all_or_nothing
from pacboost.estimators.fitting.callbacks import has_callbacks, with_callbacks
from pacboost.estimators.fitting.continuing import begin_record, written_parameters
from pacboost.estimators.fitting.rounds import patience
from pacboost.estimators.parameters.values import Values
from pacboost.fit.ask import Ask, Chooser, Earlier, RunRecord, Stopping, ValidationSet
from pacboost.fit.division import Certifying
from pacboost.fit.fit import Fitted, fit
from pacboost.fit.settings import PATIENCE_OF_CLASSES
from pacboost.ledgers.ledger import Round
from pacboost.models.schema import ColumnOptions
from pacboost.samples.same_example import check_copies

if TYPE_CHECKING:
    from pacboost.estimators.fitted.estimator import Estimator

Callback = Callable[[Round], bool | None]


class EstimatorChooser(Chooser):
    """Makes the recipe of a fit from the parameters of an estimator."""

    patience: ClassVar[int] = PATIENCE_OF_CLASSES
    """Rounds without progress that end a run, where ``early_stopping`` is not a number."""


@dataclass(frozen=True, eq=False)
class FitData:
    """The arguments of ``fit``."""

    X: Any
    y: Any
    sample_weight: Any = None
    sets: tuple[ValidationSet, ...] = ()


def boost(estimator: Estimator, data: FitData, copies: str = "draws") -> None:
    """Fit an estimator, and call scikit-learn's callbacks if any are set."""
    estimator._equal_rows = check_copies(copies)
    run = with_callbacks(boost_or_undo) if has_callbacks(estimator) else boost_or_undo
    run(estimator, data)


def boost_or_undo(estimator: Estimator, data: FitData) -> None:
    """Fit an estimator, or leave it unchanged."""
    # scikit-learn's callbacks get the data as well; without any, nothing is handed to the watcher
    told: dict[str, Any] = {}
    if has_callbacks(estimator):
        weights = data.sample_weight
        metadata = {} if weights is None else {"sample_weight": weights}
        told = {"X": data.X, "y": data.y, "metadata": metadata}
        task = estimator._init_callback_context(max_subtasks=None)
        task.call_on_fit_task_begin(estimator=estimator, **told)
    with all_or_nothing(estimator):
        # the record is begun first: a warm start that cannot go on fails before rows are read
        record = begin_record(estimator, fitted=hasattr(estimator, "model_"))
        sets = data.sets
        asked = Values.of(estimator.get_params(deep=False))
        ask = ask_of(asked, estimator._chooser(asked), estimator._column_options(), record.seed)
        looks, copies = looks_of(estimator, record), estimator._equal_rows
        # the first fit with warm_start is an ordinary one
        goes_on = asked.warm_start and hasattr(estimator, "model_")
        ask = replace(
            ask,
            certifying=replace(ask.certifying, copies=copies, look=looks or 0),
            predicts_numbers=is_regressor(estimator),
            earlier=Earlier(estimator.model_, record) if goes_on else None,
            validation_sets=sets,
        )
        first = sets[0].name if sets else "validation_0"
        watcher = RoundsWatcher(asked, first, estimator if told else None, told)
        fitted = fit(data.X, data.y, data.sample_weight, ask, watcher)
        keep(estimator, fitted, replace(record, looks=looks))
        estimator._curves = watcher.curves
        estimator._best_round = None if watcher.watch is None else watcher.watch.best_round
    # after the block, for the rounds that Ctrl-C has left are kept
    if fitted.interrupt is not None:
        raise explained_interrupt(estimator, fitted.interrupt)
    if told:
        task.call_on_fit_task_end(estimator=estimator, **told, reconstruction_attributes={})
    estimator.notes_ += (*map(str, fitted.warnings), *unfinished(estimator, ask))
    # last, so that a filter that turns warnings into errors finds a fitted estimator
    for warning in fitted.warnings:
        warn(str(warning), type(warning))


def unfinished(estimator: Estimator, ask: Ask) -> tuple[str, ...]:
    """Return a note if the automatic number of rounds ended a run that was still improving."""
    best, rounds = estimator._best_round, estimator.settings_["n_estimators"]
    if ask.sets_rounds or not ask.early_stopping or best is None:
        return ()
    if ask.stopping.patience is None or best <= rounds - ask.stopping.patience:
        return ()
    return (
        f"the loss on held-back rows was still falling after {rounds:,} rounds, the automatic "
        "maximum: a larger learning_rate or n_estimators may predict better",
    )


def ask_of(asked: Values, chooser: EstimatorChooser, columns: ColumnOptions, seed: int) -> Ask:
    """Return what a fit is asked for, by the values of an estimator's parameters.

    An ``Ask`` has most parameters under their own names, so that a new one is passed on by itself.
    """
    given = vars(asked)
    same = {each.name: given[each.name] for each in fields(Ask) if each.name in given}
    # the search and the race would take most of a short time
    same["derive"] = asked.derive and asked.time_limit is None
    waits = patience(asked, chooser.patience)
    return Ask(
        **same,
        chooser=chooser,
        columns=columns,
        seed=seed,
        stopping=Stopping(asked.eval_metric, waits, needs_rows=asked.early_stopping != "auto"),
        certifying=Certifying(asked.certify, asked.holdout, asked.delta),
        # a function as loss says nothing that "auto" could measure
        is_measurable=not (callable(asked.loss) and asked.eval_metric == "loss"),
        sets_rounds=asked.n_estimators is not None,
    )


def looks_of(estimator: Estimator, record: RunRecord) -> int | None:
    """Return the number of this look at the held-out rows; 0 if there is only one."""
    if getattr(estimator, "certify", None) != "holdout":
        return record.looks
    # look k of a warm start pays delta/(k(k + 1)), and all looks together at most delta
    return 1 + (record.looks or 0) if estimator.warm_start else 0


def keep(estimator: Estimator, fitted: Fitted, record: RunRecord) -> None:
    """Store the result of a fit as attributes of the estimator."""
    for name, value in attributes(fitted.model).items():
        setattr(estimator, name, value)
    estimator.settings_ = fitted.settings
    estimator.calibration_error_ = fitted.calibration_error
    estimator._sketches = fitted.memory.result()
    estimator._record = replace(
        record,
        parameters=written_parameters(estimator),  # learners may count their calls
        rows=fitted.rows_digest,
        vote=fitted.model.ledger.vote_digest,
    )


def explained_interrupt(
    estimator: Estimator, interrupt: KeyboardInterrupt | LearnerError
) -> KeyboardInterrupt | LearnerError:
    """Return what ended the fit with a note on the rounds that are kept."""
    # one look at certifying rows has spent all of delta, so that nothing can go on
    counted = getattr(estimator, "certify", None) == "holdout" and not estimator.warm_start
    goes_on = "" if counted else ", or go on with warm_start=True"
    interrupt.add_note(
        f"pacboost: the {len(estimator.model_.ledger)} rounds done before are kept; "
        f"the estimator can be used{goes_on}"
    )
    return interrupt
