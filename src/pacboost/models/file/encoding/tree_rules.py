"""Trees of a vote in a model file: side by side, one array for each thing that splits have."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pacboost.hypotheses.tree import TreeRule
from pacboost.models.file.encoding.fields import LARGEST, Fields
from pacboost.samples.bins import Bins

LONGEST_RUN = 2**16
"""A new group of trees begins after this many splits, so that checking needs little memory."""
MOST_LEAVES = 2**16
BYTES_TO_CHECK_A_SPLIT = 150
BYTES_A_TREE = 2_000
WHOLE = ("feature", "cut", "left", "right", "member")
LEAST, MOST = -(2**31), 2**31 - 1


def written(trees: Sequence[TreeRule]) -> dict[str, NDArray[np.generic]]:
    """Put trees side by side; ``splits`` and ``subsets`` say how many belong to each."""
    joined = {name: np.concatenate([getattr(tree, name) for tree in trees]) for name in WHOLE}
    return {
        "splits": np.array([tree.feature.size for tree in trees], dtype=np.int32),
        "subsets": np.array([len(tree.members) for tree in trees], dtype=np.int32),
        **{name: array.astype(np.int32) for name, array in joined.items()},
        "missing_left": np.concatenate([tree.missing_left for tree in trees]).astype(np.bool_),
        "members": np.packbits(np.concatenate([tree.members for tree in trees]) != 0, axis=1),
        "gain": np.concatenate([tree.gain for tree in trees]).astype(np.float64),
        "cover": np.concatenate([tree.cover for tree in trees]).astype(np.float64),
        "values": np.concatenate([tree.values for tree in trees]).astype(np.float64),
    }


def read(part: Fields, features: int, bins: Bins | None, outputs: int) -> list[TreeRule]:
    """Read trees, and refuse those that no fit could have grown."""
    if bins is None or bins.missing > 255:  # a line of members has 256 places
        part.refuse(None, "trees need bins with codes of 8 bits")
    splits = part.array("splits", np.int32, None, within=(0, MOST_LEAVES - 1))
    count, total = splits.size, int(splits.sum(dtype=np.int64))
    subsets = part.array("subsets", np.int32, count, within=(0, MOST_LEAVES))
    lines = int(subsets.sum(dtype=np.int64))
    part.room.take(256 * lines + BYTES_A_TREE * count, part.where)
    whole = {name: part.array(name, np.int32, total, within=(LEAST, MOST)) for name in WHOLE}
    missing_left = part.array("missing_left", np.bool_, total)
    packed = part.array("members", np.uint8, lines, 32)
    members = np.unpackbits(packed, axis=1)
    gain = part.array("gain", np.float64, total)
    cover = part.array("cover", np.float64, 2 * total + count, within=(0, LARGEST))
    values = part.array("values", np.float64, total + count, outputs)
    part.end()
    with part.room.lent(BYTES_TO_CHECK_A_SPLIT * total, part.where):
        _refuse_impossible(part, whole, splits, subsets, features)
    at, of, line, leaf = (
        np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
        for sizes in (splits, 2 * splits + 1, subsets, splits + 1)
    )
    return [
        TreeRule(
            bins=bins,
            **{name: array[at[t] : at[t + 1]] for name, array in whole.items()},
            missing_left=missing_left[at[t] : at[t + 1]],
            members=members[line[t] : line[t + 1]],
            gain=gain[at[t] : at[t + 1]],
            cover=cover[of[t] : of[t + 1]],
            values=values[leaf[t] : leaf[t + 1]],
        )
        for t in range(count)
    ]


def _refuse_impossible(
    part: Fields,
    whole: dict[str, NDArray[np.int32]],
    splits: NDArray[np.int32],
    subsets: NDArray[np.int32],
    features: int,
) -> None:
    """Check that every row comes to a leaf: children lie further on, and each is hung once."""
    feature, cut, member = whole["feature"], whole["cut"], whole["member"]
    if feature.size and not 0 <= feature.min() <= feature.max() < features:
        part.refuse("feature", f"asks for a feature beyond the {features} there are")
    tree = np.repeat(np.arange(splits.size), splits)
    own, first = splits[tree], (np.cumsum(splits, dtype=np.int64) - splits)[tree]
    if (cut < -1).any():
        part.refuse("cut", "lies below all codes")
    if ((member < -1) | (member >= subsets[tree])).any():
        part.refuse("member", "asks for a set of levels that is not there")
    place = np.arange(tree.size) - first
    hung: list[NDArray[np.int64]] = []
    for name in ("left", "right"):
        child = whole[name].astype(np.int64)
        inner = child >= 0
        fits = np.where(inner, (child > place) & (child < own), ~child <= own)
        if not fits.all():
            part.refuse(name, "names a child that is not further on in its tree")
        hung.append(np.where(inner, first + child, tree.size + first + tree + ~child))
    if np.bincount(np.concatenate(hung)).max(initial=0) > 1:
        part.refuse("right", "hangs a child that hangs already")
