"""The file of a monitor: JSON with a checksum, written whole or not at all."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from pacboost.errors import FileError
from pacboost.sources.atomic_write import atomic_write

FORMAT = "pacboost monitor"
VERSION = 1


def write_state(path: Path, state: dict[str, Any]) -> None:
    """Write the state of a monitor."""
    text = json.dumps(state, allow_nan=False, ensure_ascii=False)
    document = {"format": FORMAT, "version": VERSION, "sha256": _digest(text), "state": state}
    with atomic_write(path) as part:
        part.write_text(json.dumps(document, allow_nan=False, ensure_ascii=False), "utf-8")


def read_state(path: Path) -> dict[str, Any]:
    """Read the state of a monitor; a file that was changed or cut off is refused."""
    try:
        document = json.loads(path.read_text("utf-8"))
    except OSError as problem:
        raise FileError(f"{path}: cannot be read ({problem.strerror or problem})") from problem
    except (ValueError, RecursionError) as problem:
        raise FileError(f"{path}: is not the file of a monitor, or was damaged") from problem
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise FileError(f"{path}: is not the file of a monitor")
    if document.get("version") != VERSION:
        raise FileError(
            f"{path}: has version {document.get('version')!r}, this pacboost reads version "
            f"{VERSION}; it was written by another version of pacboost. Use that version, or begin "
            "a new file"
        )
    state = document.get("state")
    try:
        text = json.dumps(state, allow_nan=False, ensure_ascii=False)
        text.encode()
    except ValueError as problem:
        raise FileError(f"{path}: holds what no monitor has written ({problem})") from problem
    if not isinstance(state, dict) or document.get("sha256") != _digest(text):
        raise FileError(f"{path}: was changed or damaged after it was written (its checksum says)")
    return state


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
