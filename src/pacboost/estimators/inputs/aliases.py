"""Names of parameters in other libraries, accepted for what they are called here.

A class sets the first name of ``SAME_MEANING`` that is a parameter of it; names that are parameters
themselves are taken as they are. ``get_params`` gives pacboost's names only.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any, TypeVar

from pacboost.errors import ParameterError
from pacboost.estimators.parameters.table import PARAMS, constraints
from pacboost.sources.optional import close_names

Kind = TypeVar("Kind", bound=type)

SAME_MEANING = tuple(dict.fromkeys((param.name, *param.others) for param in PARAMS if param.others))
"""Names that mean the same; the first one is pacboost's."""

TREES = "max_leaves, max_depth and min_leaf_rows limit the trees"
FOUND = "leave it out: columns of text and categories are found, and NaN is missing"
LOSS = "the booster decides what is minimised, and booster='logit' (the default) the log loss"
INSTEAD = {
    "class_weight": {
        "scale_pos_weight": "class_weight={0: 1, 1: 5} gives each class its weight",
        "is_unbalance": "class_weight='balanced' means the same",
        "auto_class_weights": "class_weight='balanced' means the same",
        "class_weights": "class_weight={0: 1, 1: 5} gives each class its weight",
    },
    "loss": dict.fromkeys(("objective", "loss_function"), "its name here is loss"),
    "booster": dict.fromkeys(("objective", "loss", "loss_function", "criterion"), LOSS)
    | dict.fromkeys(("boosting", "boosting_type"), "booster names the algorithm"),
    "learner": {"multiclass": "booster=AdaBoost(multiclass='m1') sets it"},
    "early_stopping": {"tol": "every improvement counts as progress"},
    "verbose": dict.fromkeys(
        ("verbosity", "silent", "logging_level"), "verbose=0 shows nothing, and verbose=1 progress"
    ),
    "l2": dict.fromkeys(("reg_alpha", "lambda_l1"), "there is no L1 penalty, and l2 is the other"),
    "min_leaf_rows": dict.fromkeys(
        ("min_child_weight", "min_split_gain", "gamma", "min_samples_split"), TREES
    ),
    "subsample": dict.fromkeys(
        ("subsample_freq", "bagging_freq"), "leave it out: rows are drawn anew in every round"
    ),
    "categorical_features": dict.fromkeys(("enable_categorical", "missing"), FOUND),
    "random_state": {
        "importance_type": "after the fit, importances(by=...) takes 'gain', 'cover' or 'count'"
    },
}
"""What to do about parameters of other libraries that have no like here: by a parameter that the
class has to have, so that the advice applies to it."""

Problem = Callable[[str], Exception]


def accepts_aliases(kind: Kind) -> Kind:
    """Decorate a class: accept the names above, and suggest a name for a misspelt one.

    The signature of ``__init__`` stays as it is, because scikit-learn reads the parameters from it.

    >>> from pacboost import BoostClassifier
    >>> BoostClassifier(num_leaves=15).set_params(reg_lambda=2.0)
    BoostClassifier(l2=2.0, max_leaves=15)
    >>> BoostClassifier(max_leafs=15)
    Traceback (most recent call last):
    TypeError: BoostClassifier has no parameter 'max_leafs'; did you mean 'max_leaves'?
    """
    init, set_params = kind.__init__, kind.set_params  # type: ignore[misc, attr-defined]
    known = [name for name in inspect.signature(init).parameters if name != "self"]

    @wraps(init)
    def init_translated(self: Any, *args: Any, **given: Any) -> None:
        init(self, *args, **_translated(kind, given, known, TypeError))

    @wraps(set_params)
    def set_translated(self: Any, **given: Any) -> Any:
        outer = {name: value for name, value in given.items() if "__" not in name}
        nested = {name: value for name, value in given.items() if "__" in name}
        own = list(self.get_params(deep=False))  # a subclass may have others
        return set_params(self, **_translated(type(self), outer, own, ParameterError), **nested)

    kind._parameter_constraints = constraints(kind, known)  # type: ignore[attr-defined]
    kind._accepted_parameters = frozenset({*known, *_translations(kind, known)})  # type: ignore[attr-defined]
    kind.__init__ = init_translated  # type: ignore[misc]
    kind.set_params = set_translated  # type: ignore[attr-defined]
    return kind


def guess(name: str, known: Iterable[str]) -> str:
    """Return ``; did you mean ...?`` if a similar name is known, or an empty text.

    >>> guess("max_deph", ["max_depth", "max_bins"])
    "; did you mean 'max_depth'?"
    """
    close = close_names(name, known)
    return f"; did you mean {close[0]!r}?" if close else ""


def _instead(name: str, known: Iterable[str]) -> str:
    """Return the replacement for a name of another library, or an empty text."""
    found = (INSTEAD[own][name] for own in known if name in INSTEAD.get(own, ()))
    advice = next(found, None)
    return "" if advice is None else f"; {advice}"


def _translations(kind: type, known: list[str]) -> dict[str, str]:
    other_meaning: Iterable[str] = getattr(kind, "_other_meaning", ())
    found: dict[str, str] = {}
    for names in SAME_MEANING:
        own = [name for name in names if name in known and name not in other_meaning]
        found |= {name: own[0] for name in names if own and name not in known}
    return found


def _translated(
    kind: type, given: dict[str, Any], known: list[str], problem: Problem
) -> dict[str, Any]:
    names = _translations(kind, known)
    found: dict[str, Any] = {}
    came: dict[str, str] = {}
    for name, value in given.items():
        own = names.get(name, name)
        if own not in known:
            hint = (
                _instead(name, known)
                or guess(name, [*known, *names])
                or f"; it has {', '.join(known)}"
            )
            raise problem(f"{kind.__name__} has no parameter {name!r}{hint}")
        if own in found:
            raise problem(
                f"{came[own]} and {name} mean the same in {kind.__name__}; give one of them"
            )
        found[own], came[own] = value, name
    return found
