"""What to certify: measures with their options, for ``of=`` of ``certify`` and ``certify_all``.

A measure whose options all have defaults may also be given by its name: ``of="recall"`` is
``of=measures.recall()``. Each is a class in the file of its name in ``bounds/measures``.
"""

from __future__ import annotations

from typing import Any

from pacboost.bounds.known_measures import MEASURES

__all__: list[str] = [*MEASURES]  # noqa: PLE0604


def __getattr__(name: str) -> Any:
    if name in MEASURES:
        return MEASURES[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
