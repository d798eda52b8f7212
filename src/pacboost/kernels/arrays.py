"""The types of the arrays that kernels take."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Wholes = NDArray[np.int64]
Floats = NDArray[np.float64]
Bytes = NDArray[np.uint8]
Signs = NDArray[np.int8]
Rows = NDArray[np.uint32]
Words = NDArray[np.uint64]
Numbers = NDArray[np.int32]
Cells = NDArray[np.unsignedinteger]
