"""Checks of parameters: each raises an error that says what came and what is allowed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils.validation import check_random_state

from pacboost.errors import ParameterError
from pacboost.numerics.interactive import person_waits_here
from pacboost.parallel.cores import thread_count


def positive_integer(name: str, value: Any) -> int:
    """Check a whole number that has to be 1 or more."""
    if not _is_whole(value) or value < 1:
        raise ParameterError(f"{name} is {value!r}; it must be a whole number, 1 or more")
    return int(value)


def integer(name: str, value: Any) -> int:
    """Check a whole number."""
    if not _is_whole(value):
        raise ParameterError(f"{name} is {value!r}; it must be a whole number")
    return int(value)


def real_number(name: str, value: Any) -> Any:
    """Check a number of any kind."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise ParameterError(f"{name} is {value!r}; it must be a number")
    return value


def share_or_count(
    name: str, value: Any, whole: int, rounded: Callable[[float], int], others: str = ""
) -> int:
    """Read a share of some whole, rounded but at least 1, or a number of its parts.

    ``others`` names values besides that were handled before.

    >>> share_or_count("max_samples", 0.5, 7, round), share_or_count("max_samples", 3, 7, round)
    (4, 3)
    """
    if _is_whole(value):
        return positive_integer(name, value)
    share = float(real_number(name, value))
    if not 0 < share <= 1:
        last = (
            f", a whole number from 1 on, {others}" if others else ", or a whole number from 1 on"
        )
        raise ParameterError(f"{name} is {share}; it must be a share in (0, 1]{last}")
    return max(1, rounded(share * whole))


PATIENCE = 3.0
"""With verbose="auto", progress is shown after so many seconds."""


def progress_after(verbose: Any) -> float | None:
    """Read ``verbose``: give the seconds after which progress is shown; None if it is not.

    True or a number above 0 shows it at once; False, 0 and below never; "auto" after some seconds,
    if a person waits for this process at a terminal or in a notebook.

    >>> progress_after(True), progress_after(0), progress_after(-1)
    (0.0, None, None)
    """
    if isinstance(verbose, str) and verbose == "auto":
        return PATIENCE if person_waits_here() else None
    if isinstance(verbose, bool | np.bool_):
        return 0.0 if verbose else None
    if isinstance(verbose, str):
        raise ParameterError(f"verbose is {verbose!r}; it may be True, False, a number or 'auto'")
    return 0.0 if integer("verbose", verbose) > 0 else None


def shows_progress(verbose: Any) -> bool:
    """Tell whether progress is shown at once."""
    return progress_after(verbose) == 0


def threads(n_jobs: Any) -> int:
    """Check ``n_jobs``, and give the number of threads; None and -1 mean all cores."""
    return thread_count(None if n_jobs is None else integer("n_jobs", n_jobs))


def draw_seed(random_state: Any) -> int:
    """Draw a seed from what scikit-learn takes as ``random_state``."""
    return int(check_random_state(random_state).randint(2**31))


def callables(name: str, value: Any) -> list[Callable[..., Any]]:
    """Check a sequence of functions, or None."""
    if value is None:
        return []
    parts: list[Any] = list(value) if isinstance(value, Iterable) else [None]
    if not all(callable(part) for part in parts):
        raise ParameterError(f"{name} is {value!r}; it must be a list of functions")
    return parts


def _is_whole(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)
