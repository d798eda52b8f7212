"""Which run a fit with ``warm_start`` continues: the parameters and the seed of the last fit."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from pacboost.errors import ParameterError
from pacboost.estimators.inputs.parameters import draw_seed
from pacboost.fit.ask import RunRecord
from pacboost.fit.continuing import refuse

FREE = ("n_estimators", "warm_start", "callbacks", "n_jobs", "verbose", "device", "time_limit")
"""Parameters that do not change what one more round or member is."""
SPENT = (
    "the certificate of the last fit has spent all of delta on one look at the rows set apart, so "
    "nothing is left for a certificate of a fit that goes on; start afresh with warm_start=True "
    "from the first fit on, and its certificates share delta"
)


def begin_record(estimator: BaseEstimator, *, fitted: bool) -> RunRecord:
    """Return the record of a new run, or of the last one if ``warm_start`` continues it."""
    parameters = written_parameters(estimator)
    if not (estimator.warm_start and fitted):
        return RunRecord(parameters, draw_seed(estimator.random_state))
    before: RunRecord | None = getattr(estimator, "_record", None)
    if before is None:
        raise ParameterError(
            "warm_start continues a fit, but this model was read from a file, which keeps no "
            "record of it; set warm_start=False to start afresh",
            parameter="warm_start",
        )
    if before.looks == 0:
        raise ParameterError(SPENT, parameter="warm_start")
    names = before.parameters.keys() | parameters.keys()
    refuse(sorted(n for n in names if before.parameters.get(n) != parameters.get(n)))
    return before


def written_parameters(estimator: BaseEstimator) -> dict[str, str]:
    """Return parameters as text, nested ones too, so that changes in place are noticed."""
    parameters = {"copies": estimator._equal_rows, **estimator.get_params(deep=True)}
    # rounded numbers could hide a change
    with np.printoptions(threshold=sys.maxsize, floatmode="unique"):
        return {name: _written(own) for name, own in parameters.items() if name not in FREE}


def _written(value: object) -> str:
    """Return a value as text; an object without a telling ``repr`` by its attributes.

    >>> _written([{"max_depth": 2}, None])
    "list({'max_depth': 2}, None)"
    """
    kind: Any = type(value)
    if isinstance(value, list | tuple):
        return f"{kind.__name__}({', '.join(map(_written, value))})"
    if hasattr(value, "get_params"):  # its parameters are listed beside it
        return f"{kind.__module__}.{kind.__qualname__}"
    if kind.__repr__ is object.__repr__ and hasattr(value, "__dict__"):
        return f"{kind.__qualname__} {vars(value)}"
    return repr(value)
