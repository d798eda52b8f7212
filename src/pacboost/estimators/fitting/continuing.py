"""``warm_start`` continues the same run: the same rows and parameters, and more rounds or members.

Rounds and members that learned from other rows may have seen those that certify now, and other
parameters, chosen after a look at what was learned, would be a choice that no certificate has paid
for. So a fit keeps a record of its parameters, its seed and its rows, and only a fit with the same
record continues it: it ends, byte for byte, as one longer fit would have.

Whoever sees a certificate and then goes on has chosen when to stop by the certifying rows. So the
looks at held-out rows are counted, and the k-th certificate pays delta/(k(k+1))
(docs/proofs/holdout.md). A certificate of a fit without ``warm_start`` spends all of delta.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import ParameterError
from pacboost.estimators.inputs.parameters import draw_seed

FREE = ("n_estimators", "warm_start", "callbacks", "n_jobs", "verbose", "device")
"""Parameters that do not change what one more round or member is."""
SPENT = (
    "the certificate of the last fit has spent all of delta on one look at the rows set apart, so "
    "nothing is left for a certificate of a fit that goes on; start afresh with warm_start=True "
    "from the first fit on, and its certificates share delta"
)


@dataclass(frozen=True)
class RunRecord:
    """What a fit that continues a run has to have in common with the fit before."""

    parameters: dict[str, str]
    seed: int
    rows: str = ""
    """A digest of the rows that the model does not identify, and of what was chosen by rows."""
    vote: str = ""
    """The digest of the vote that the run left: a vote that was changed since is not continued."""
    looks: int | None = None
    """How often held-out rows were looked at: None without any, 0 if that took all of delta."""


def begin_record(estimator: Any, *, fitted: bool) -> RunRecord:
    """Return the record of a new run, or that of the last one if ``warm_start`` continues it."""
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


def refuse(changed: list[str]) -> None:
    """Raise if something is not as it was in the fit before."""
    if changed:
        raise ParameterError(
            "warm_start continues the last fit with the same rows and parameters, but "
            f"{', '.join(changed)} changed; set warm_start=False to start afresh",
            parameter="warm_start",
        )


def refuse_fewer(asked: int, done: int, what: str) -> None:
    """Raise if a fit that goes on asks for less than there is."""
    if asked < done:
        raise ParameterError(
            f"n_estimators is {asked}, but the last fit has {done} {what} already; give at least "
            "as many, or set warm_start=False",
            parameter="n_estimators",
        )


def written_parameters(estimator: Any) -> dict[str, str]:
    """Write parameters down, nested ones too, so that a change in place is seen as well."""
    parameters = {"copies": estimator._equal_rows, **estimator.get_params(deep=True)}
    with np.printoptions(threshold=sys.maxsize, floatmode="unique"):
        return {name: _written(own) for name, own in parameters.items() if name not in FREE}


def _written(value: Any) -> str:
    """Write a value; of an object that says only where it is in memory, what it holds.

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


def digest(*parts: NDArray[Any] | str) -> str:
    """Return a hash of arrays and words."""
    found = blake2b(digest_size=16)
    for part in parts:
        found.update(part.encode() if isinstance(part, str) else np.ascontiguousarray(part).data)
    return found.hexdigest()
