"""Which features may interact in a tree: the sets that a user gives, as arrays for the kernels."""

from __future__ import annotations

import numpy as np

from pacboost.errors import ParameterError
from pacboost.kernels.interactions import Interactions
from pacboost.learners.tree_parameters import NAMED_INTERACTIONS, TreeParameters


def interaction_rules(tree: TreeParameters, features: int, leaves: int) -> Interactions | None:
    """Reserve what the kernels need, None if all features may interact.

    Features that no set names are a set of their own, as in scikit-learn.

    >>> rules = interaction_rules(TreeParameters(interactions=[(0, 1)]), 4, 31)
    >>> rules.sets.tolist()
    [[1, 1, 0, 0], [0, 0, 1, 1]]
    """
    given = tree.interactions
    if given is None:
        return None
    most = features
    sets = np.zeros((0, features), dtype=np.uint8)
    if isinstance(given, str):
        most = NAMED_INTERACTIONS[given]
    else:
        sets = np.zeros((len(given), features), dtype=np.uint8)
        for line, members in zip(sets, given, strict=True):
            for j in members:
                if not 0 <= j < features:
                    raise ParameterError(
                        f"interactions names feature {j!r}; the features are 0 to {features - 1}"
                    )
                line[j] = 1
        others = sets.max(axis=0, initial=0) == 0
        if others.any():
            sets = np.vstack([sets, others.astype(np.uint8)])
    return Interactions(
        sets,
        most,
        tree.share_drawn,
        np.zeros((leaves, len(sets)), dtype=np.uint8),
        np.zeros((leaves, features), dtype=np.uint8),
        np.zeros((leaves, features), dtype=np.uint8),
    )


def begin(rules: Interactions) -> None:
    """Open all features to the root: nothing has been asked for yet."""
    rules.reach[0], rules.asked[0], rules.open[0] = 1, 0, 1
