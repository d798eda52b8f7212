"""Model files opened, changed and written again, with a SHA-256 that is right."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from pacboost.models.file import container

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


def forged(path: Path, change: Change, kind: str = "model") -> Path:
    """Change what a file holds, and compute the digests of its claims again, as a forger can."""

    def whole(content: dict[str, Any]) -> None:
        change(content)
        for name in container.CLAIMS:
            if content.get(name):
                content[name] = {**content[name], container.FIELD: ""}
        content.update(container.sealed(content))

    return changed(path, whole, kind)
