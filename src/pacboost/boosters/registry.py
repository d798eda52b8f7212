"""The names of all boosters and losses, and the files that define them.

The command line offers all names without importing a booster.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pacboost.registry import Registry

if TYPE_CHECKING:
    from pacboost.boosters.booster import Booster
    from pacboost.boosters.loss import Loss


# files hold families, so that names do not follow from files: soft_margin.py has six
MODULES = {
    "adaboost": "adaboost",
    "adaboost_v": "maximal_margin",
    "arc_gv": "maximal_margin",
    "brown": "brown",
    "corrective_erlp": "soft_margin",
    "erlp": "soft_margin",
    "filter_boost": "filtering",
    "gentle": "newton",
    "graph_separation": "graph_separation",
    "logit": "logit",
    "lp": "soft_margin",
    "mada": "filtering",
    "majority": "majority",
    "measure": "filtering",
    "mlp": "soft_margin",
    "projection": "projection",
    "smooth": "filtering",
    "soft": "soft_margin",
    "total": "soft_margin",
}
"""The module of each booster, by its ``name``."""
BOOSTERS: Registry[Booster[Any]] = Registry("pacboost.boosters", MODULES)
LOSSES: Registry[Loss[Any]] = Registry("pacboost.boosters.losses")
"""The losses of regression: each lies in the file of its name."""
# the other four have the same names in scikit-learn
LOSS_NAMES = {"squared_error": "square", "absolute_error": "absolute"}
"""Names of losses in scikit-learn, and in pacboost."""


def loss_names() -> list[str]:
    """Return the names of all losses, by scikit-learn's names, without importing a booster.

    >>> loss_names()
    ['squared_error', 'absolute_error', 'gamma', 'huber', 'poisson', 'quantile']
    """
    return [*LOSS_NAMES, *(name for name in LOSSES if name not in LOSS_NAMES.values())]
