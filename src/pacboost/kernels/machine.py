"""The machine that a fit or a prediction uses: a number of threads, and perhaps a GPU."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pacboost.kernels.device import use_gpu, using_gpu
from pacboost.kernels.threads import using


@contextmanager
def machine(device: str, threads: int | None, X: Any = None) -> Iterator[None]:
    """Fit inside this block with so many threads, on a GPU if asked; "auto" wants a large table."""
    shape = getattr(X, "shape", (0,))
    # Lists have no shape: they are never large enough to matter.
    with using(threads), using_gpu(use_gpu(device, math.prod(shape)), (0, *shape)[-1]):
        yield
