"""The names of all learners: each is the name of its file in this folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pacboost.registry import Registry

if TYPE_CHECKING:
    from pacboost.learners.learner import Learner

# files that help learners are named, since they are fewer and change less often
LEARNERS: Registry[Learner] = Registry(
    "pacboost.learners",
    others=(
        "choose", "cuda_growing", "growing", "learner", "registry", "sklearn", "sparse_growing",
        "tree_parameters",
    ),
)  # fmt: skip
