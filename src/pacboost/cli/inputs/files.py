"""Files on the command line: rows with their options or from "-", models, and what is written."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import click

from pacboost.cli.options import MODEL_MEMORY
from pacboost.errors import FileError, ParameterError
from pacboost.sources.data_file import MISSING, DataFile

if TYPE_CHECKING:
    from numpy.typing import NDArray

STANDARD_INPUT = "-"
TABS = ("\\t", "tab")


class FittedModel(Protocol):
    """The interface of models for commands; regressors have neither classes nor probabilities."""

    @property
    def classes_(self) -> NDArray[Any]: ...  # noqa: D102
    @property
    def n_features_in_(self) -> int: ...  # noqa: D102
    @property
    def model_(self) -> Any: ...  # noqa: D102
    def predict(self, X: object) -> NDArray[Any]: ...  # noqa: D102
    def predict_proba(self, X: object) -> NDArray[Any]: ...  # noqa: D102
    def explain(self, x: object, top: int, *, for_class: object) -> Any: ...  # noqa: D102
    def report(self, path: Path, X: object, y: object, *, certified: object) -> object: ...  # noqa: D102


def data_file(path: Path, arguments: Mapping[str, Any]) -> DataFile:
    """Return a file of rows with the options --sep, --encoding and --missing."""
    content = standard_input() if str(path) == STANDARD_INPUT else None
    return DataFile(
        path,
        sep=separator(arguments.get("sep")),
        encoding=arguments.get("encoding"),
        missing=missing_words(arguments.get("missing") or ()),
        skip_unlabelled=bool(arguments.get("skip_unlabelled")),
        day_first=arguments.get("dayfirst"),
        content=content,
    )


def standard_input() -> bytes:
    """Read all of the standard input."""
    if sys.stdin is None:  # Python's value for one that was closed
        raise FileError("-: the standard input is closed; name a file, or pass rows by a pipe")
    # as bytes: their encoding is detected as that of a file
    return sys.stdin.buffer.read()


def missing_words(words: tuple[str, ...]) -> frozenset[str]:
    """Return the words that count as missing: the default ones, or ``words`` and empty cells."""
    return frozenset({"", *(word.strip().lower() for word in words)}) if words else MISSING


def separator(asked: str | None) -> str | None:
    """Check the character that separates cells."""
    if asked is None:
        return None
    asked = "\t" if asked.lower() in TABS else asked
    if len(asked) != 1 or asked in '"\r\n':
        raise ParameterError(f"--sep is {asked!r}; it has to be one character, or tab")
    return asked


SUFFIX = ".pacb"


def open_model(
    model: Path, data: Path | None, *outputs: Path | None, numbers: str = "", classes: str = ""
) -> tuple[Any, Path, Path]:
    """Return the model, its path and that of the data; both paths may be in either order.

    If the command does not take regressors, ``numbers`` is the hint in the error message, and if it
    does not take classifiers, ``classes`` is. Outputs are checked before the model is loaded.
    """
    if data is None:
        raise click.UsageError("Missing argument 'DATA'; or name the column of answers by --said.")
    # who types the file first means the same
    if data.suffix == SUFFIX != model.suffix:
        model, data = data, model
    for output in outputs:
        check_output(output, model, data)
    loaded = load(model)
    if classes and hasattr(loaded, "classes_"):
        raise FileError(f"{model}: predicts classes; {classes}")
    if numbers and not hasattr(loaded, "classes_"):
        raise FileError(f"{model}: predicts numbers; {numbers}")
    return loaded, model, data


def load(path: Path) -> Any:
    """Read a model; imports are inside because they load the kernels."""
    from pacboost.cli.output import working
    from pacboost.loading import load

    with working(f"loading {path.name}"):
        return load(path, memory=model_memory())


def model_memory() -> int:
    """Return the memory in bytes for reading a model, from --memory; 0 if that is not set."""
    size = click.get_current_context().meta.get(MODEL_MEMORY)
    if size is None:
        return 0
    from pacboost.estimators.parameters.checks import Bytes

    return Bytes().read("memory", size)


def check_output(output: Path | None, *inputs: Path) -> None:
    """Raise before the work starts if the output cannot be written."""
    if output is None:
        return
    folder = output.absolute().parent
    if not folder.is_dir():
        raise FileError(f"{output}: its folder does not exist; create it first")
    # known before an hour of fitting, not after it
    if not os.access(folder, os.W_OK):
        raise FileError(f"{output}: its folder cannot be written to; name another one")
    if output.is_dir():
        raise FileError(f"{output}: is a folder; name a file in it")
    if output.exists() and not output.is_file():
        raise FileError(f"{output}: is a device or a pipe; name a file")
    if output.exists() and any(one.exists() and one.samefile(output) for one in inputs):
        raise FileError(f"{output}: is also an input and would be overwritten; name another file")
