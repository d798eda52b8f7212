"""Model files opened, changed and written again, with a SHA-256 that is right."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from pacboost.models import container

Change = Callable[[dict[str, Any]], object]


def opened(path: Path, kind: str = "model") -> dict[str, Any]:
    """What a file holds."""
    return container.read(path, kind).document


def changed(path: Path, change: Change, kind: str = "model") -> Path:
    """Change what a file holds; the file is whole, but no fit wrote it."""
    content = opened(path, kind)
    change(content)
    container.write(path, kind, content)
    return path
