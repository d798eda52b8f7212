"""Pulls and weights as pairs of small whole numbers, two in one: see kernels/grow.py."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pacboost.kernels.jit import kernel

LOW = np.int64(0xFFFFFFFF)
"""The bits of a pair that hold the weight."""


@kernel
def pair_up_one(
    weights: NDArray[np.int64],
    pulls: NDArray[np.integer],
    times_weight: bool,
    pull_scale: float,
    weight_scale: float,
    pairs: NDArray[np.int64],
) -> None:
    """Do what ``pair_up`` does where there is one output, in a loop that runs on vectors.

    All arrays are (rows,), and the pulls keep their signs.
    """
    for i in range(pairs.size):
        signed = np.int64(pulls[i])
        if times_weight:
            signed *= weights[i]
        pairs[i] = (np.int64(np.rint(signed * pull_scale)) << 32) + np.int64(
            np.rint(weights[i] * weight_scale)
        )


@kernel
def pair_up(
    weights: NDArray[np.int64],
    pulls: NDArray[np.integer],
    times_weight: bool,
    flips: NDArray[np.int8],
    pull_scale: float,
    weight_scale: float,
    pairs: NDArray[np.int64],
) -> None:
    """Round pulls and weights (rows, outputs) to small whole numbers, and pair them.

    Line s of ``flips`` says with which signs (or 0) the outputs' pulls add up to the s-th pull of
    the pair; the weights always add up. If ``times_weight``, pulls are signs of the weights.
    """
    outputs = weights.shape[1]
    for i in range(weights.shape[0]):
        weight = np.int64(0)
        for k in range(outputs):
            weight += weights[i, k]
        whole = np.int64(np.rint(weight * weight_scale))
        for s in range(flips.shape[0]):
            pull = np.int64(0)
            for k in range(outputs):
                own = np.int64(pulls[i, k])
                if times_weight:
                    own *= weights[i, k]
                pull += own * flips[s, k]
            pairs[s, i] = (np.int64(np.rint(pull * pull_scale)) << 32) + whole
