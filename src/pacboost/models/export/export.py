"""Export a fitted model as a program in one file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from sklearn.base import BaseEstimator

from pacboost.errors import ParameterError
from pacboost.models.export.c import to_c
from pacboost.models.export.onnx import to_onnx
from pacboost.models.export.program import MAX_SPLITS, Program, program_of
from pacboost.models.export.python import to_python
from pacboost.models.model import Model
from pacboost.sources.optional import atomic_write

KINDS: dict[str, tuple[Callable[[Program, str], str | bytes], int]] = {
    "python": (lambda program, name: to_python(program), MAX_SPLITS),
    "c": (to_c, MAX_SPLITS),
    "onnx": (lambda program, name: to_onnx(program), 10_000_000),
}
"""The function that writes each kind, and the largest number of splits."""
ENDINGS = {".py": "python", ".c": "c", ".onnx": "onnx"}


def export(model: BaseEstimator | Model, path: str | Path, kind: str | None = None) -> None:
    """Write a fitted model as a program that needs no pacboost and predicts the same.

    ``kind`` is "python" (one file, standard library only), "c" (C99, one file) or "onnx" (needs
    the extra ``onnx``); left out, the ending of the path says it: .py, .c or .onnx. The functions
    of a C file begin with the name of the file.
    """
    path = Path(path)
    kind = ENDINGS.get(path.suffix.lower()) if kind is None else kind
    if kind not in KINDS:
        wrong = f"the extension of {path.name!r} is no known kind of export"
        kinds, endings = ", ".join(map(repr, KINDS)), ", ".join(ENDINGS)
        raise ParameterError(
            f"{f'kind is {kind!r}' if kind else wrong}; it may be {kinds}, or left out if the path "
            f"ends in {endings}",
            parameter="kind",
        )
    written, max_splits = KINDS[kind]
    content = written(program_of(model, max_splits), path.stem)
    with atomic_write(path) as part:
        part.write_bytes(content.encode() if isinstance(content, str) else content)
