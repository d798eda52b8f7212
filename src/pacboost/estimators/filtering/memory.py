"""How much of a sample a limit on the memory leaves room for."""

from __future__ import annotations

import math
import sys
from pathlib import Path

from pacboost.errors import ParameterError

RESERVE = 60_000_000
"""Compiled code, threads and what libraries take for themselves while they work."""
USUAL = 320_000_000
"""What a process with everything loaded takes; fewer bytes are not counted on, so that the same run
has the same room in every process that holds little else."""

LEAST_ROWS = 2_000
"""A limit that leaves room for fewer rows is refused."""


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
