"""Round pulls and weights to small integers, packed as pairs (see kernels/grow.py)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pacboost.kernels.runtime import Signs, Wholes
from pacboost.kernels.runtime.board import own_share
from pacboost.kernels.runtime.entry import Member
from pacboost.kernels.runtime.jit import kernel, team_kernel


@kernel
def pairs_of_one(
    weights: Wholes, pulls: NDArray[np.integer], times_weight: bool, pull_scale: float,
    weight_scale: float, pairs: Wholes,
) -> None:  # fmt: skip
    """Pair pulls and weights (rows,) in a vectorized loop."""
    for i in range(pairs.size):
        signed = np.int64(pulls[i])
        if times_weight:
            signed *= weights[i]
        pairs[i] = (np.int64(np.rint(signed * pull_scale)) << 32) + np.int64(
            np.rint(weights[i] * weight_scale)
        )


@team_kernel()
def pair_up(
    member: Member, weights: Wholes, pulls: NDArray[np.integer], times_weight: bool, flips: Signs,
    pull_scale: float, weight_scale: float, pairs: Wholes,
) -> None:  # fmt: skip
    """Round pulls and weights (rows, outputs) to small integers, and pair them.

    Line s of ``flips`` holds the signs (or 0) of the outputs in the sum of pulls of pair s; weights
    are always summed. If ``times_weight``, pulls are signs that multiply the weights.
    """
    a, b = own_share(weights.shape[0], member)
    weights, pulls, pairs = weights[a:b], pulls[a:b], pairs[:, a:b]
    outputs = weights.shape[1]
    for i in range(weights.shape[0]):
        weight = np.int64(0)
        for k in range(outputs):
            weight += weights[i, k]
        rounded_weight = np.int64(np.rint(weight * weight_scale))
        for s in range(flips.shape[0]):
            pull = np.int64(0)
            for k in range(outputs):
                signed = np.int64(pulls[i, k])
                if times_weight:
                    signed *= weights[i, k]
                pull += signed * flips[s, k]
            pairs[s, i] = (np.int64(np.rint(pull * pull_scale)) << 32) + rounded_weight


@team_kernel(allocates=False)
def pair_up_one(
    member: Member, weights: Wholes, pulls: NDArray[np.integer], times_weight: bool,
    pull_scale: float, weight_scale: float, pairs: Wholes,
) -> None:  # fmt: skip
    """Pair pulls and weights of a single output: arrays are (rows,)."""
    a, b = own_share(weights.size, member)
    pairs_of_one(weights[a:b], pulls[a:b], times_weight, pull_scale, weight_scale, pairs[a:b])
