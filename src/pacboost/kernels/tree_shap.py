"""What the kernel of SHAP values reads of a tree: see src/native/tree/shap.h."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pacboost.kernels.arrays import Bytes, Floats, Numbers


class ShapTree(NamedTuple):
    """A tree and its tables for descents."""

    missing: int
    feature: Numbers
    cut: Numbers
    missing_left: NDArray[np.bool_]
    left: Numbers
    right: Numbers
    member: Numbers
    members: Bytes
    values: Floats
    before: Numbers
    factor: Floats
    """(2, nodes, points): with o = 0 and with o = 1, o·y + share·(1 - y)."""
    inverse: Floats
    """One over the factor."""
    pull: Floats
    """(o - share) · weight of the point / factor."""
