"""How many threads run a kernel together: src/native/team holds the threads."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from pacboost.kernels.native import native
from pacboost.kernels.threads import threads
from pacboost.parallel.cores import usable_cores as cores

MAX_MEMBERS: int = native.MAX_MEMBERS
GPU_ARRAY = "__cuda_array_interface__"
MIN_CELLS_PER_MEMBER = 4_096
"""A member takes about 10 µs for these, and less to be called."""

Kernel = Callable[..., None]
"""A kernel of src/native that takes the size of a team first."""


def largest_team() -> int:
    """Return the number of threads in use, or the number of cores if that is smaller.

    Members that share a core would wait for each other at every barrier.
    """
    return max(1, min(threads(), cores(), MAX_MEMBERS))


def team_for(cells: int) -> int:
    """Return the size of a team for a pass over some cells: rows times outputs."""
    return max(1, min(largest_team(), cells // MIN_CELLS_PER_MEMBER))


def together(kernel: Kernel, *arguments: Any, at_most: int = MAX_MEMBERS) -> None:
    """Run a kernel with a team of the threads in use, at most ``at_most``.

    If arrays are in a GPU's memory, the kernel's twin runs there.
    """
    # Without CuPy, no array is on a GPU, and arguments need no look.
    if "cupy" in sys.modules and any(hasattr(type(a), GPU_ARRAY) for a in arguments):
        from pacboost.kernels.cuda.twins import TWINS

        TWINS[kernel.__name__](*arguments)
        return
    kernel(1 if at_most <= 1 else min(largest_team(), at_most), *arguments)
