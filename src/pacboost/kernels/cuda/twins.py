"""Run the GPU twin of a kernel of a team, with the arguments of the original.

The originals are in kernels/update.py, measure.py, pairs.py and row_costs.py.

Arrays of rows are on the GPU, or are brought there; sums are written to the arrays of the caller in
the CPU's memory.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from pacboost.kernels.cuda.device import on_gpu, row_kernel, to_gpu
from pacboost.kernels.cuda.weighing import (
    COSTS,
    NOTHING,
    SQUARES,
    SUMS,
    Origin,
    forget,
    known,
    logistic,
)

THREADS = 256
BLOCKS = 132 * 8
"""Enough to keep every GPU of today busy."""
MOST_THREADS, FEW_BLOCKS = 1_024, 132 * 2
"""As many threads at once, in fewer blocks."""
MOST_OWN_WORDS = 12_000
"""Sums of so many whole numbers fit into the memory of a block."""
MANY_SUMS = 1_000
"""More are added to those of all by few blocks with many threads each, since that takes time."""
MOST_SCORES = 4_096
"""So many scores of classes lie in the memory of a block; those of a row have to."""
MOST_SHARED_AT_FIRST = 48 * 1_024
"""The memory of a block that a kernel gets without asking for more, which takes time."""

whole, real = np.int64, np.float64


def _launch(
    name: str,
    arguments: tuple[Any, ...],
    blocks: int = BLOCKS,
    shared: int = 0,
    threads: int = THREADS,
) -> None:
    function = row_kernel(name)
    if shared > MOST_SHARED_AT_FIRST:
        function.max_dynamic_shared_size_bytes = shared
    pointers = tuple([NOTHING if a is None else a for a in arguments])
    function((max(1, blocks),), (threads,), pointers, shared_mem=shared)


def _zeros(shape: Any, dtype: Any = np.int64) -> Any:
    import cupy

    return cupy.zeros(shape, dtype)


def _for_rows(count: int) -> int:
    return min(BLOCKS, -(-count // THREADS))


def _pulls(pulls: Any, signed: bool) -> tuple[Any, Any]:
    """Return pulls as whole numbers and as signs; one of them is None."""
    held = to_gpu(pulls)
    if signed:
        return None, held
    return held if held.dtype == np.int64 else held.astype(np.int64), None


def _chosen(chosen: Any, rows: int) -> Any:
    """Return the numbers of chosen rows, None for all of them."""
    return None if chosen.size == rows else to_gpu(chosen)


def pair_up(
    weights: Any, pulls: Any, times_weight: bool, flips: Any, pull_scale: float,
    weight_scale: float, pairs: Any,
) -> None:  # fmt: skip
    """Pair pulls and weights."""
    rows, outputs = weights.shape
    held = to_gpu(weights), *_pulls(pulls, times_weight), to_gpu(flips)
    sizes = real(pull_scale), real(weight_scale), whole(rows), whole(outputs), whole(len(flips))
    _launch("pair_up", (*held, *sizes, pairs, None), _for_rows(rows))


def pair_up_one(
    weights: Any, pulls: Any, times_weight: bool, pull_scale: float, weight_scale: float,
    pairs: Any,
) -> None:  # fmt: skip
    """Pair pulls and weights of one output."""
    rows, one = weights.size, whole(1)
    held = to_gpu(weights), *_pulls(pulls, times_weight), None
    sizes = real(pull_scale), real(weight_scale), whole(rows), one, one
    _launch("pair_up", (*held, *sizes, pairs, None), _for_rows(rows))


def pair_up_after(totals: Any, weights: Any, pulls: Any, pairs: Any) -> None:
    """Pair pulls and weights of one output, whose totals only the GPU knows yet."""
    rows, one, none = weights.size, whole(1), real(0)
    given = weights, pulls, None, None, none, none, whole(rows), one, one, pairs, totals
    _launch("pair_up", given, _for_rows(rows))


def softmax(
    chosen: Any, cells: Any, values: Any, signs: Any, base: Any, most: float, margins: Any,
    weights: Any, pulls: Any, raised_sums: Any, totals: Any,
) -> None:  # fmt: skip
    """Weigh the chosen rows by the loss of many classes; ``raised_sums`` are left as they are."""
    forget(margins, pulls)
    sums, cells, base = _zeros(2), to_gpu(cells), to_gpu(base)
    outputs = signs.shape[1]
    tile = max(1, min(THREADS, MOST_SCORES // outputs))
    _launch("softmax", (
        _chosen(chosen, cells.size), whole(chosen.size), cells, whole(cells.itemsize),
        to_gpu(values), signs, base, whole(base.size), real(most), whole(outputs), whole(tile),
        margins, weights, pulls, sums,
    ), min(BLOCKS, -(-chosen.size // tile)), 8 * tile * (outputs + 2))  # fmt: skip
    totals[0] += sums.get()


def exponential(
    agree: Any, vote: float, total_vote: float, log_base: Any, log_scale: float, margins: Any,
    weights: Any, totals: Any,
) -> None:  # fmt: skip
    """Weigh rows by the exponential loss after the vote of a rule."""
    forget(margins)
    sums, log_base = _zeros(1), to_gpu(log_base)
    _launch("exponential", (
        to_gpu(agree), real(vote), real(total_vote), log_base, whole(log_base.size),
        real(log_scale), whole(margins.size), margins, weights, sums,
    ), _for_rows(margins.size))  # fmt: skip
    totals[0] += sums.get()


def exponential_cells(
    cells: Any, values: Any, signs: Any, log_base: Any, log_scale: float, margins: Any,
    weights: Any, totals: Any,
) -> None:  # fmt: skip
    """Weigh rows by the exponential loss."""
    forget(margins)
    sums, cells, log_base = _zeros(1), to_gpu(cells), to_gpu(log_base)
    rows, outputs = signs.shape
    _launch("exponential_cells", (
        cells, whole(cells.itemsize), to_gpu(values), signs, log_base, whole(log_base.size),
        real(log_scale), whole(rows), whole(outputs), margins, weights, sums,
    ), _for_rows(rows * outputs))  # fmt: skip
    totals[0] += sums.get()


def cell_sums(
    cells: Any, weights: Any, pulls: Any, times_weight: bool, size: int, sums: Any, squares: Any
) -> None:
    """Add up pulls and weights in every cell, and squared pulls span by span."""
    wholes, signs = _pulls(pulls, times_weight)
    found = None if wholes is None else known(SQUARES, wholes)
    if found is None:
        found = _zeros(squares.shape, np.float64)
        spans = whole(weights.size), whole(size * sums.shape[3])
        _launch("squares_of_pulls", (weights, wholes, signs, *spans, found), squares.size)
        found = found.get()
    squares[:] = found
    ready = known(SUMS, cells) if on_gpu(cells) and wholes is not None else None
    if ready is not None and ready[:2] == (weights.data.ptr, wholes.data.ptr):
        sums[0, :, :, 0] += ready[2]
    else:
        _sums_of(None, cells.size, cells, weights, wholes, signs, sums)


def cell_sums_of_one(
    cells: Any, weights: Any, pulls: Any, times_weight: bool, size: int, sums: Any, squares: Any
) -> None:
    """Add up pulls and weights of one output in every cell."""
    cell_sums(cells, weights, pulls, times_weight, size, sums[..., None], squares)


def class_sums(chosen: Any, cells: Any, weights: Any, pulls: Any, sums: Any) -> None:
    """Add up pulls and weights of the chosen rows in every cell."""
    rows = _chosen(chosen, cells.size)
    _sums_of(rows, chosen.size, cells, weights, pulls, None, sums)


def weigh_again(origin: Origin, weights: Any, cells: Any, pulls: Any, sums: Any) -> None:
    """Compute weights from their origin; add up weights and pulls in cells to ``sums``, if given.

    ``sums`` is (2, cells, 1) on the GPU.
    """
    cell_count = 0 if sums is None else sums.shape[1]
    here = 0 < 2 * cell_count <= MOST_OWN_WORDS // 2
    _launch("weigh_again", (
        *origin, cells, whole(cells.itemsize), pulls, whole(weights.size), whole(cell_count),
        whole(here), weights, sums,
    ), _for_rows(weights.size), 16 * cell_count if here else 0)  # fmt: skip


def _sums_of(
    chosen: Any, count: int, cells: Any, weights: Any, wholes: Any, signs: Any, sums: Any
) -> None:
    found = _zeros(sums.shape[1:])
    _add_up(chosen, count, to_gpu(cells), weights, wholes, signs, found)
    sums[0] += found.get()


def _add_up(
    chosen: Any, count: int, cells: Any, weights: Any, wholes: Any, signs: Any, sums: Any
) -> None:
    _, cell_count, outputs = sums.shape
    here = sums.size <= MOST_OWN_WORDS
    blocks, threads = _for_rows(count * outputs), THREADS
    if here and sums.size > MANY_SUMS:
        blocks, threads = min(blocks, FEW_BLOCKS), MOST_THREADS
    _launch("cell_sums", (
        chosen, whole(count), cells, whole(cells.itemsize), weights, wholes, signs, whole(outputs),
        whole(cell_count), whole(here), sums,
    ), blocks, 8 * sums.size if here else 0, threads)  # fmt: skip


def log_costs(margins: Any, size: int, sums: Any) -> None:
    """Add up the logistic costs of rows, span by span."""
    costs = known(COSTS, margins)
    if costs is not None:
        sums[:] = costs[0]
        return
    found = _zeros(sums.shape, np.float64)
    arguments = margins, whole(margins.size), whole(size), found
    _launch("log_costs", arguments, sums.size)
    sums[:] = found.get()


def potential(kind: int, margins: Any, base: Any, size: int, sums: Any) -> None:
    """Add up what the margins of rows cost, span by span."""
    found, base, (rows, outputs) = _zeros(sums.shape, np.float64), to_gpu(base), margins.shape
    _launch("potential", (
        whole(kind), margins, base, whole(base.size), whole(rows), whole(outputs), whole(size),
        found,
    ), sums.size)  # fmt: skip
    sums[:] = found.get()


def mistakes(margins: Any, first_weights: Any, totals: Any) -> None:
    """Add up the first weights of wrong rows."""
    costs = known(COSTS, margins) if first_weights.size == 1 else None
    if costs is not None:
        totals[0] += costs[1] * int(first_weights[0])
        return
    sums, weighted = _zeros(1), whole(first_weights.size > 1)
    arguments = margins, to_gpu(first_weights), weighted, whole(margins.size), sums
    _launch("mistakes", arguments, _for_rows(margins.size))
    totals[0] += sums.get()


def class_rows(
    chosen: Any, margins: Any, signs: Any, pulls: Any, raised_sums: Any, costs: Any, wrong: Any,
    squares: Any,
) -> None:  # fmt: skip
    """Write what the chosen rows cost; the margins are raised here, not read from sums."""
    rows, outputs = margins.shape
    _launch("class_rows", (
        _chosen(chosen, rows), whole(chosen.size), margins, to_gpu(signs), pulls, whole(outputs),
        costs, wrong, squares,
    ), _for_rows(chosen.size))  # fmt: skip


def wrong_classes(margins: Any, signs: Any, first_weights: Any, totals: Any) -> None:
    """Add up the first weights of rows of many classes that are wrong."""
    sums, (rows, outputs) = _zeros(1), margins.shape
    _launch("wrong_classes", (
        margins, to_gpu(signs), to_gpu(first_weights), whole(first_weights.size > 1), whole(rows),
        whole(outputs), sums,
    ), _for_rows(rows))  # fmt: skip
    totals[0] += sums.get()


TWINS: dict[str, Callable[..., None]] = {
    twin.__name__: twin
    for twin in (
        pair_up, pair_up_one, logistic, softmax, exponential, exponential_cells, cell_sums,
        cell_sums_of_one, class_sums,
        log_costs, potential, mistakes, class_rows, wrong_classes,
    )
}  # fmt: skip


def runs_on_gpu(arguments: tuple[Any, ...]) -> bool:
    """Check whether some of the arguments are in the GPU's memory."""
    return "cupy" in sys.modules and any(map(on_gpu, arguments))
