"""Run the GPU twin of a team kernel, with the arguments of the original.

The originals are in src/native/rounds.

Arrays of rows are on the GPU, or are copied there; sums are written to arrays in the CPU's memory.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from pacboost.kernels.cuda import weighing
from pacboost.kernels.cuda.device import on_gpu, row_kernel, to_gpu
from pacboost.kernels.cuda.weighing import Origin, forget, known, logistic
from pacboost.kernels.native import native

if TYPE_CHECKING:
    from pacboost.kernels.cuda.device import Array, GpuArray

THREADS = 256
BLOCKS = 132 * 8
"""Enough to keep every current GPU busy."""
MAX_THREADS_PER_BLOCK, BLOCKS_OF_MAX_THREADS = 1_024, 132 * 2
"""The same number of threads, in fewer blocks."""
MAX_SUMS_PER_BLOCK = 12_000
"""Number of integer sums that fit into the memory of a block."""
MIN_SUMS_FOR_LARGE_BLOCKS = 1_000
"""More sums are counted by fewer, larger blocks, because merging those of blocks takes time."""
MAX_SCORES_PER_BLOCK = 4_096
"""Number of class scores that fit into the memory of a block; those of a row have to."""
DEFAULT_SHARED_BYTES = 48 * 1_024
"""The shared memory that a kernel gets without a request, which takes time."""

int64, float64 = np.int64, np.float64


def _launch(
    name: str,
    arguments: tuple[Any, ...],
    blocks: int = BLOCKS,
    shared: int = 0,
    threads: int = THREADS,
) -> None:
    function = row_kernel(name)
    # Only for kernels that need more, because it takes time.
    if shared > DEFAULT_SHARED_BYTES:
        function.max_dynamic_shared_size_bytes = shared
    pointers = tuple([weighing.NOTHING if a is None else a for a in arguments])
    function((max(1, blocks),), (threads,), pointers, shared_mem=shared)


def _zeros(shape: int | tuple[int, ...], dtype: DTypeLike = np.int64) -> GpuArray:
    import cupy

    return cupy.zeros(shape, dtype)


def _for_rows(count: int) -> int:
    return min(BLOCKS, -(-count // THREADS))


def _pulls(pulls: Array, signed: bool) -> tuple[GpuArray | None, GpuArray | None]:
    """Return pulls as integers and as signs; one of them is None."""
    array = to_gpu(pulls)
    if signed:
        return None, array
    return array if array.dtype == np.int64 else array.astype(np.int64), None


def _chosen(chosen: Array, rows: int) -> GpuArray | None:
    return None if chosen.size == rows else to_gpu(chosen)


def pair_up(
    weights: Array, pulls: Array, times_weight: bool, flips: Array, pull_scale: float,
    weight_scale: float, pairs: GpuArray,
) -> None:  # fmt: skip
    """Pair pulls and weights."""
    rows, outputs = weights.shape
    signs = None if outputs == 1 else to_gpu(flips)
    arrays = to_gpu(weights), *_pulls(pulls, times_weight), signs
    sizes = float64(pull_scale), float64(weight_scale), *map(int64, (rows, outputs, len(flips)))
    _launch("pair_up", (*arrays, *sizes, pairs, None), _for_rows(rows))


def pair_up_after(totals: GpuArray, weights: GpuArray, pulls: GpuArray, pairs: GpuArray) -> None:
    """Pair pulls and weights of one output, whose totals are still on the GPU."""
    rows, one, none = weights.size, int64(1), float64(0)
    arguments = weights, pulls, None, None, none, none, int64(rows), one, one, pairs, totals
    _launch("pair_up", arguments, _for_rows(rows))


def softmax(
    chosen: Array, cells: Array, values: Array, signs: GpuArray, base: Array, max_target: float,
    margins: GpuArray, weights: GpuArray, pulls: GpuArray, raised_sums: Array,
    totals: NDArray[np.int64],
) -> None:  # fmt: skip
    """Weigh the chosen rows by the loss of many classes; ``raised_sums`` is unchanged."""
    forget(margins, pulls)
    sums, cells, base = _zeros(2), to_gpu(cells), to_gpu(base)
    outputs = signs.shape[1]
    tile = max(1, min(THREADS, MAX_SCORES_PER_BLOCK // outputs))
    _launch("softmax", (
        _chosen(chosen, cells.size), int64(chosen.size), cells, int64(cells.itemsize),
        to_gpu(values), signs, base, int64(base.size), float64(max_target), int64(outputs),
        int64(tile), margins, weights, pulls, sums,
    ), min(BLOCKS, -(-chosen.size // tile)), 8 * tile * (outputs + 2))  # fmt: skip
    totals[0] += sums.get()


def exponential(
    agree: Array, vote: float, total_vote: float, log_base: Array, log_scale: float,
    margins: GpuArray, weights: GpuArray, totals: NDArray[np.int64],
) -> None:  # fmt: skip
    """Weigh rows by the exponential loss after the vote of a rule."""
    forget(margins)
    sums, log_base = _zeros(1), to_gpu(log_base)
    _launch("exponential", (
        to_gpu(agree), float64(vote), float64(total_vote), log_base, int64(log_base.size),
        float64(log_scale), int64(margins.size), margins, weights, sums,
    ), _for_rows(margins.size))  # fmt: skip
    totals[0] += sums.get()


def exponential_cells(
    cells: Array, values: Array, signs: Array, log_base: Array, log_scale: float, margins: GpuArray,
    weights: Array, totals: NDArray[np.int64],
) -> None:  # fmt: skip
    """Weigh rows by the exponential loss."""
    forget(margins)
    sums, cells, log_base = _zeros(1), to_gpu(cells), to_gpu(log_base)
    rows, outputs = signs.shape
    _launch("exponential_cells", (
        cells, int64(cells.itemsize), to_gpu(values), signs, log_base, int64(log_base.size),
        float64(log_scale), int64(rows), int64(outputs), margins, weights, sums,
    ), _for_rows(rows * outputs))  # fmt: skip
    totals[0] += sums.get()


def cell_sums(
    cells: Array, weights: GpuArray, pulls: Array, times_weight: bool, size: int,
    sums: NDArray[np.int64], squares: NDArray[np.float64],
) -> None:  # fmt: skip
    """Sum pulls and weights in every cell, and squared pulls span by span."""
    wholes, signs = _pulls(pulls, times_weight)
    sums_of_spans = None if wholes is None else known(weighing.SQUARES, wholes)
    if sums_of_spans is None:
        sums_of_spans = _zeros(squares.shape, np.float64)
        spans = int64(weights.size), int64(size * sums.shape[3])
        _launch("squares_of_pulls", (weights, wholes, signs, *spans, sums_of_spans), squares.size)
        sums_of_spans = sums_of_spans.get()
    squares[:] = sums_of_spans
    ready = known(weighing.SUMS, cells) if on_gpu(cells) else None
    # Sums that were made along with the tree hold only for the very arrays they were made of.
    if (
        wholes is not None
        and ready is not None
        and ready[:2] == (weights.data.ptr, wholes.data.ptr)
    ):
        sums[0, :, :, 0] += ready[2]
    else:
        _sums_of(None, cells.size, cells, weights, wholes, signs, sums)


def class_sums(
    chosen: Array, cells: Array, weights: GpuArray, pulls: GpuArray, sums: NDArray[np.int64]
) -> None:
    """Sum pulls and weights of the chosen rows in every cell."""
    rows = _chosen(chosen, cells.size)
    _sums_of(rows, chosen.size, cells, weights, pulls, None, sums)


def weigh_again(
    origin: Origin, weights: GpuArray, cells: GpuArray, pulls: GpuArray, sums: GpuArray | None
) -> None:
    """Recompute weights from their origin; with ``sums``, also sum weights and pulls in cells.

    ``sums`` is (2, cells, 1) on the GPU.
    """
    cell_count = 0 if sums is None else sums.shape[1]
    # Blocks sum in their own memory where that suffices: atomics on the GPU's memory are slower.
    here = 0 < 2 * cell_count <= MAX_SUMS_PER_BLOCK // 2
    _launch("weigh_again", (
        *origin, cells, int64(cells.itemsize), pulls, int64(weights.size), int64(cell_count),
        int64(here), weights, sums,
    ), _for_rows(weights.size), 16 * cell_count if here else 0)  # fmt: skip


def _sums_of(
    chosen: GpuArray | None, count: int, cells: Array, weights: GpuArray, wholes: GpuArray | None,
    signs: GpuArray | None, sums: NDArray[np.int64],
) -> None:  # fmt: skip
    sums_on_gpu, cells = _zeros(sums.shape[1:]), to_gpu(cells)
    _, cell_count, outputs = sums_on_gpu.shape
    here = sums_on_gpu.size <= MAX_SUMS_PER_BLOCK
    blocks, threads = _for_rows(count * outputs), THREADS
    if here and sums_on_gpu.size > MIN_SUMS_FOR_LARGE_BLOCKS:
        blocks, threads = min(blocks, BLOCKS_OF_MAX_THREADS), MAX_THREADS_PER_BLOCK
    _launch("cell_sums", (
        chosen, int64(count), cells, int64(cells.itemsize), weights, wholes, signs, int64(outputs),
        int64(cell_count), int64(here), sums_on_gpu,
    ), blocks, 8 * sums_on_gpu.size if here else 0, threads)  # fmt: skip
    sums[0] += sums_on_gpu.get()


def _log_costs(margins: GpuArray, size: int, sums: NDArray[np.float64]) -> None:
    """Sum the logistic costs of two classes, span by span."""
    costs = known(weighing.COSTS, margins)
    if costs is not None:
        sums[:] = costs[0]
        return
    sums_on_gpu = _zeros(sums.shape, np.float64)
    arguments = margins, int64(margins.size), int64(size), sums_on_gpu
    _launch("log_costs", arguments, sums.size)
    sums[:] = sums_on_gpu.get()


def potential(
    kind: int, margins: GpuArray, base: Array, size: int, sums: NDArray[np.float64]
) -> None:
    """Sum the costs of the margins of rows, span by span."""
    rows, outputs = margins.shape
    if kind == native.LOGISTIC and outputs == base.size == 1 and base[0] == 1:
        _log_costs(margins.reshape(-1), size, sums)
        return
    sums_on_gpu, base = _zeros(sums.shape, np.float64), to_gpu(base)
    _launch("potential", (
        int64(kind), margins, base, int64(base.size), int64(rows), int64(outputs), int64(size),
        sums_on_gpu,
    ), sums.size)  # fmt: skip
    sums[:] = sums_on_gpu.get()


def mistakes(margins: GpuArray, first_weights: Array, totals: NDArray[np.int64]) -> None:
    """Sum the first weights of wrong rows."""
    costs = known(weighing.COSTS, margins) if first_weights.size == 1 else None
    if costs is not None:
        totals[0] += costs[1] * int(first_weights[0])
        return
    sums, weighted = _zeros(1), int64(first_weights.size > 1)
    arguments = margins, to_gpu(first_weights), weighted, int64(margins.size), sums
    _launch("mistakes", arguments, _for_rows(margins.size))
    totals[0] += sums.get()


def class_rows(
    chosen: Array, margins: GpuArray, signs: Array, pulls: GpuArray, raised_sums: Array,
    costs: GpuArray, wrong: GpuArray, squares: GpuArray,
) -> None:  # fmt: skip
    """Write the costs of the chosen rows; exponentials are computed here, not read from sums."""
    rows, outputs = margins.shape
    _launch("class_rows", (
        _chosen(chosen, rows), int64(chosen.size), margins, to_gpu(signs), pulls, int64(outputs),
        costs, wrong, squares,
    ), _for_rows(chosen.size))  # fmt: skip


def wrong_classes(
    margins: GpuArray, signs: Array, first_weights: Array, totals: NDArray[np.int64]
) -> None:
    """Sum the first weights of the wrong rows of many classes."""
    sums, (rows, outputs) = _zeros(1), margins.shape
    _launch("wrong_classes", (
        margins, to_gpu(signs), to_gpu(first_weights), int64(first_weights.size > 1), int64(rows),
        int64(outputs), sums,
    ), _for_rows(rows))  # fmt: skip
    totals[0] += sums.get()


TWINS: dict[str, Callable[..., None]] = {
    twin.__name__: twin
    for twin in (
        pair_up, logistic, softmax, exponential, exponential_cells, cell_sums,
        class_sums, potential, mistakes, class_rows, wrong_classes,
    )
}  # fmt: skip
