"""What a fit warns of: a classifier of little use, and too few rows for a curve."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from pacboost.errors import NoEdgeWarning, RareClassWarning, TooFewRowsWarning, warn
from pacboost.fit.targets import one_class_warning
from pacboost.models import calibration
from pacboost.training.run.loop import Run
from pacboost.training.run.rare_classes import never_named
from pacboost.training.run.stop_reason import Stop, StopReason

NEVER_NAMED = 0.1
"""A class is warned of if it has less than this share of an even division, and is never named."""


def little_use(run: Run, classes: NDArray[Any]) -> tuple[Warning, ...]:
    """Return warnings about a constant vote, and about a rare class that is never predicted."""
    if classes.size == 1:
        return (one_class_warning(classes),)
    if not run.done:
        text = (
            "the weak learner found no rule better than guessing, so the vote is empty and every "
            "prediction is a tie; give it other features or a richer weak learner"
        )
        return (NoEdgeWarning(text),)
    constant = all(len(done.hypothesis.values) == 1 for done in run.done)
    if run.stopped == StopReason(Stop.NO_EDGE) and constant:
        text = (
            f"no split of the {run.sample.n_rows} rows was found, so every prediction is the same; "
            "give more rows, other features, or a smaller min_leaf_rows"
        )
        return (NoEdgeWarning(text),)
    if run.stopped is not None and run.stopped.kind in (Stop.BROKEN_PROMISE, Stop.PAST_BOUND):
        text = f"boosting ended early (rounds done: {len(run.done)}): {run.stopped}"
        return (NoEdgeWarning(text),)
    never = never_named(run, NEVER_NAMED)
    if not never:
        return ()
    text = (
        f"the model never predicts {classes.tolist()[never[0]]!r}, a rare class, not even for a "
        "training row, so it will find hardly any of its rows. Fit with balanced class weights, or "
        "choose a threshold by what mistakes cost"
    )
    return (RareClassWarning(text),)


def curve_for(method: str, rows: int) -> str:
    """Return the method of calibration; "isotonic" needs more rows than the others."""
    if method != "isotonic" or rows >= calibration.ROWS_FOR_ISOTONIC:
        return method
    warn(
        f"calibrate='isotonic' needs {calibration.ROWS_FOR_ISOTONIC:,} held-out rows, and there "
        f"are {rows:,}; 'sigmoid' is used instead. Give more rows, a larger validation_fraction, "
        "or calibrate='sigmoid'",
        TooFewRowsWarning,
    )
    return "sigmoid"
