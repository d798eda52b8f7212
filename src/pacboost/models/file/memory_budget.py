"""A limit on the memory that reading a file may take, whatever the file contains."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

SPARE = 50_000_000


@dataclass
class MemoryBudget:
    """How many more bytes may be allocated while a file is read: twice its size and 50 MB in all.

    >>> room = MemoryBudget.of(1000)
    >>> room.take(60_000_000, "votes")
    Traceback (most recent call last):
    ValueError: votes: would take more memory than a file of this size should; if you trust the \
file, allow it with load(path, memory=10**9)
    """

    left: int

    @classmethod
    def of(cls, size: int, memory: int = 0) -> MemoryBudget:
        """Give the budget of a file of this size in bytes; ``memory`` may raise it."""
        return cls(max(2 * size + SPARE, memory))

    def take(self, size: int, what: str) -> None:
        """Reserve bytes, or refuse."""
        self.left -= size
        if self.left < 0:
            raise ValueError(
                f"{what}: would take more memory than a file of this size should; if you trust "
                "the file, allow it with load(path, memory=10**9)"
            )

    @contextmanager
    def lent(self, size: int, what: str) -> Iterator[None]:
        """Reserve bytes for the length of a context."""
        self.take(size, what)
        yield
        self.left += size
