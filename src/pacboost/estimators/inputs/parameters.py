"""Checks of parameters: each raises an error that says what came and what is allowed."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import fields, replace
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils.validation import check_random_state

from pacboost.errors import ParameterError, invalid
from pacboost.numerics.checks import integer, plain, positive_whole, real_number
from pacboost.numerics.interactive import person_waits_here
from pacboost.sources.odd_cells import shown


@contextmanager
def plain_parameters(estimator: Any) -> Iterator[None]:
    """Replace parameters by Python's own numbers and lists while an estimator is fitted.

    Afterwards they are as before, because scikit-learn requires that.
    """
    before: dict[str, Any] = estimator.get_params(deep=False)
    estimator.__dict__ |= {name: _plain_parameter(name, value) for name, value in before.items()}
    try:
        yield
    finally:
        estimator.__dict__ |= before


def _plain_parameter(name: str, value: Any) -> Any:
    value, most = _plain_parts(value), 2**31 - 1 if name == "n_estimators" else 2**63 - 1
    if isinstance(value, int) and abs(value) > most:
        raise ParameterError(
            f"{name} is {shown(value)}; the largest number allowed is {most:,}", parameter=name
        )
    return value


def _plain_parts(value: Any) -> Any:
    value = plain(value)
    if type(value) in (list, tuple):
        return type(value)(map(_plain_parts, value))
    if type(value) is dict:
        return {plain(key): _plain_parts(part) for key, part in value.items()}
    record = getattr(type(value), "__dataclass_params__", None)
    if record is not None and record.frozen:  # a booster, a learner
        parts = {field.name: getattr(value, field.name) for field in fields(value) if field.init}
        changes = {name: plain(part) for name, part in parts.items() if plain(part) is not part}
        return replace(value, **changes) if changes else value
    return value


def share_or_count(
    name: str, value: Any, whole: int, rounded: Callable[[float], int], others: str = ""
) -> int:
    """Return a count: a share of ``whole``, rounded but at least 1, or a whole number itself.

    ``others`` names further values, for the error message.

    >>> share_or_count("max_samples", 0.5, 7, round), share_or_count("max_samples", 3, 7, round)
    (4, 3)
    """
    if not isinstance(value, bool) and isinstance(value, Integral):
        return positive_whole(name, value)
    share = float(real_number(name, value))
    if not 0 < share <= 1:
        last = (
            f", a whole number from 1 on, {others}" if others else ", or a whole number from 1 on"
        )
        raise ParameterError(
            f"{name} is {share}; it must be a share in (0, 1]{last}", parameter=name
        )
    return max(1, rounded(share * whole))


PATIENCE = 3.0
"""With verbose="auto", progress is shown after so many seconds."""


def progress_after(verbose: Any) -> float | None:
    """Return the seconds after which ``verbose`` shows progress; None if it does not.

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
        raise invalid("verbose", verbose, "may be True, False, a number or 'auto'")
    return 0.0 if integer("verbose", verbose) > 0 else None


def random_numbers(random_state: Any) -> np.random.RandomState:
    """Read ``random_state``."""
    try:
        numbers: np.random.RandomState = check_random_state(random_state)
        return numbers
    except (TypeError, ValueError):
        raise invalid(
            "random_state",
            random_state,
            "may be a whole number from 0 to 4,294,967,295, a numpy.random.RandomState or None",
        ) from None


def draw_seed(random_state: Any) -> int:
    """Draw a seed from ``random_state``."""
    return int(random_numbers(random_state).randint(2**31))


def check_estimator(estimator: Any) -> None:
    """Raise unless this is an estimator like those of scikit-learn, or None."""
    if isinstance(estimator, type) or not (estimator is None or hasattr(estimator, "get_params")):
        raise invalid(
            "estimator",
            estimator,
            "may be an estimator of scikit-learn's kind (an object, not a class), or None",
        )


def callables(name: str, value: Any) -> list[Callable[..., Any]]:
    """Check a sequence of functions, or None."""
    if value is None:
        return []
    parts: list[Any] = list(value) if isinstance(value, Iterable) else [None]
    if not all(callable(part) for part in parts):
        raise ParameterError(f"{name} is {value!r}; it must be a list of functions", parameter=name)
    return parts


# Memory and time as people write them, and how much of a sample a limit leaves room for.

SIZES = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
SIZES |= {"KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40}
TIMES = {"": 1.0, "S": 1.0, "M": 60.0, "MIN": 60.0, "H": 3600.0}

RESERVE = 60_000_000
"""Compiled code, threads and what libraries take for themselves while they work."""
USUAL = 320_000_000
"""What a process with everything loaded takes; fewer bytes are not counted on, so that the same run
has the same room in every process that holds little else."""

LEAST_ROWS = 2_000
"""A limit that leaves room for fewer rows is refused."""


def read_size(name: str, given: Any) -> int | None:
    """Read a number of bytes.

    >>> read_size("memory", "1.5 GB"), read_size("memory", 2_000_000), read_size("memory", None)
    (1500000000, 2000000, None)
    """
    if given is None:
        return None
    return int(_read(name, given, SIZES, "'2GB', '500MB' or a number of bytes"))


def read_seconds(name: str, given: Any) -> float | None:
    """Read a span of time.

    >>> read_seconds("time_limit", "2m"), read_seconds("time_limit", 1.5)
    (120.0, 1.5)
    """
    return None if given is None else _read(name, given, TIMES, "'60s', '2m' or seconds")


def _read(name: str, given: Any, units: dict[str, Any], examples: str) -> float:
    text = str(given).strip()
    match = re.fullmatch(r"([0-9]*\.?[0-9]+(?:e[+-]?[0-9]+)?)\s*([a-z]*)", text, re.IGNORECASE)
    number = float(match[1]) if match else 0.0
    if match is None or match[2].upper() not in units or not 0 < number < math.inf:
        raise ParameterError(
            f"{name} is {given!r}; it may be {examples}, above 0, or None", parameter=name
        )
    return number * float(units[match[2].upper()])


def resident() -> int:
    """Return how many bytes of memory this process uses now."""
    if sys.platform != "linux":
        return USUAL
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * 4096


def row_bytes(columns: int, outputs: int, *, codes: bool) -> int:
    """Return the bytes that a row of the sample takes while it is boosted on.

    Its codes twice (unpacked, and in words of eight), or 8 bytes a cell; margins, weights, pulls,
    sums of pairs, order and cells of every output; rows that are kept and rows that are drawn next
    are in memory together.
    """
    cells = 2 * columns + 16 if codes else 8 * columns
    return 2 * cells + outputs * 72 + 96


def rows_in(
    limit: int,
    columns: int,
    outputs: int,
    blocks: int,
    *,
    codes: bool,
    held: int = 0,
    work: int = 0,
    place: str = "",
) -> int:
    """Return how many rows a sample may have under a memory limit.

    ``blocks`` is the memory of the source while it is read, ``held`` that of the process before it
    began to read, and ``work`` what it needs besides, whatever the size of the sample. ``place``
    names the largest block.
    """
    held = max(held, USUAL)
    batch = 2**21 * 12  # one batch of candidates: raw, coded, and scored
    taken = held + RESERVE + blocks + batch + work
    each = row_bytes(columns, outputs, codes=codes)
    rows = max(0, limit - taken) // each
    if rows < LEAST_ROWS:
        two = f" (two blocks are held at once; the largest is {place})" if place else ""
        raise ParameterError(
            f"memory is {limit / 1e6:,.0f} MB, but this process takes {held / 1e6:,.0f} MB "
            f"by itself, reading takes {(blocks + batch) / 1e6:,.0f} MB{two} and work "
            f"{(RESERVE + work) / 1e6:,.0f} MB: no room is left for a sample. Allow at least "
            f"{math.ceil((taken + LEAST_ROWS * each) / 1e6):,} MB, or write the source in smaller "
            "blocks.",
            parameter="memory",
        )
    return rows
