"""Questions to the lab without a server, and arrays read as the page reads them."""

import base64
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.theory.sampling import Plane

LECTURE: dict[str, Any] = {"data": {"kind": "lecture"}}
MOONS: dict[str, Any] = {"data": {"kind": "moons", "n": 150, "noise": 0.1, "seed": 3}}
MOONS_WORLD = Plane("moons", noise=0.1, spread=0.15)
"""The world of ``MOONS``, whose rows are ``MOONS_WORLD.draw(150, 3)``."""


def floats(text: str) -> NDArray[np.float32]:
    return np.frombuffer(base64.b64decode(text), dtype="<f4")


def small(text: str) -> NDArray[np.int8]:
    return np.frombuffer(base64.b64decode(text), dtype=np.int8)
