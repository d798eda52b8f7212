"""Errors and warnings: every message says what came, what is allowed and what to do."""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from types import FrameType

OURS = str(Path(__file__).parent)


def warn(message: str, category: type[Warning]) -> None:
    """Warn at the innermost line that is not ours: the user's, or that of another library."""
    _note(message)
    frame: FrameType | None = sys._getframe()
    level = 1
    while frame is not None and frame.f_code.co_filename.startswith(OURS):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


def warn_once(message: str) -> None:
    """Warn how input was read; once in a process, unless a filter asks for every warning.

    Python shows a warning once for each line, but forgets what it has shown when filters change,
    and scikit-learn changes them in every fit of a search.
    """
    if message in _NOTED and _action(message) == "default":
        _note(message)
        return
    _NOTED.add(message)
    warn(message, InputWarning)


_NOTED: set[str] = set()
_FITS: ContextVar[tuple[list[str], ...]] = ContextVar("_FITS", default=())
"""The notes of the fits in progress; a fit may fit others."""


@contextmanager
def noting() -> Iterator[list[str]]:
    """Collect what the block warns of, also what was said before in this process."""
    notes: list[str] = []
    token = _FITS.set((*_FITS.get(), notes))
    try:
        yield notes
    finally:
        _FITS.reset(token)


def _note(message: str) -> None:
    for notes in _FITS.get():
        if message not in notes:
            notes.append(message)


def _action(message: str) -> str:
    """Return what the filters of Python do with a note."""
    for action, pattern, category, module, _ in warnings.filters:
        matches = pattern is None or re.match(pattern, message)
        if matches and module is None and issubclass(InputWarning, category):
            return action
    return "default"


class PacboostError(ValueError):
    """The base class of all errors that pacboost raises on purpose."""


class DataError(PacboostError):
    """The examples cannot be used as they are."""


class DataTypeError(DataError, TypeError):
    """An argument has an unsupported type; also a TypeError, as Python users expect.

    >>> issubclass(DataTypeError, PacboostError), issubclass(DataTypeError, TypeError)
    (True, True)
    """


class LearnerError(DataError):
    """A learner or a rule of a user failed, or answered what no rule may answer."""

    def in_round(self, number: int) -> LearnerError:
        """Return the error with the number of the round in which it happened."""
        return type(self)(f"round {number:,}: {self}")


class ParameterError(PacboostError):
    """A parameter is outside what is allowed; ``parameter`` is its name, if there is one.

    >>> ParameterError("delta is 2; it must lie between 0 and 1", parameter="delta").parameter
    'delta'
    """

    def __init__(self, message: str = "", *, parameter: str | None = None) -> None:
        super().__init__(message)
        self.parameter = parameter


def invalid(parameter: str, value: object, allowed: str) -> ParameterError:
    """Return the error of a parameter whose value is not allowed.

    >>> invalid("delta", 2, "must lie between 0 and 1")
    ParameterError('delta is 2; it must lie between 0 and 1')
    """
    return ParameterError(f"{parameter} is {shown(value)}; it {allowed}", parameter=parameter)


def shown(value: object) -> str:
    """Return the ``repr`` of a value, or its type if Python refuses to print it.

    >>> shown(10**5000)
    'a value of type int'
    """
    try:
        return repr(value)
    except ValueError:  # integers of more digits than sys.get_int_max_str_digits()
        return f"a value of type {type(value).__name__}"


@contextmanager
def errors_of_function(parameter: str) -> Iterator[None]:
    """Raise errors of a user's function as ``ParameterError``, with the name of its parameter."""
    try:
        yield
    except PacboostError:
        raise
    except Exception as problem:
        raise ParameterError(
            f"the function {parameter} raised {type(problem).__name__}: {problem}",
            parameter=parameter,
        ) from problem


class FileError(PacboostError):
    """A file cannot be read or written; the message names the file and, where known, the line."""


class ClusterError(PacboostError):
    """A cluster cannot do what it was asked for; the message names the worker or the scheduler."""


class OutOfTime(PacboostError):  # noqa: N818 - a limit, not a mishap
    """The time limit ended before anything was learned."""


class NotCertified(PacboostError, AttributeError):  # noqa: N818 - a refusal, not a mishap
    """No certificate: the message says why the theorem does not apply.

    Properties such as ``certificate_`` raise it, so it is an AttributeError, too: ``hasattr`` gives
    False, and ``dir``, completion and notebooks skip the property.

    >>> issubclass(NotCertified, ValueError), issubclass(NotCertified, AttributeError)
    (True, True)
    """


class NoEdgeWarning(UserWarning):
    """The weak learner found no rule better than guessing."""


class OneClassWarning(UserWarning):
    """All labels are the same, so the fitted classifier is constant."""


class RareClassWarning(UserWarning):
    """A class of the training rows is predicted for none of them."""


class DenseWarning(UserWarning):
    """Sparse input was converted to a dense array for training."""


class CheckpointWarning(UserWarning):
    """A checkpoint could not be written; the run goes on without it."""


class TooFewRowsWarning(UserWarning):
    """There were fewer rows than the theorem needs; the message says how many it needs."""


class PrunedWarning(UserWarning):
    """Texts held more distinct words than are kept; the rarest were dropped."""


class InputWarning(UserWarning):
    """The input was read in a way that the user should know of; the message says which."""
