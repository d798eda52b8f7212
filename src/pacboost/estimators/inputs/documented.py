"""Complete docstrings in every class, though a shared parameter is described once."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any, TypeVar

from pacboost.errors import ParameterError
from pacboost.sources.optional import close_names

Kind = TypeVar("Kind", bound=type)
SECTION = "Parameters\n----------\n"
ENTRY = re.compile(r"^(\w+) : .*(?:\n    .*)*", re.MULTILINE)

SHARED = """\
max_leaves : int, default=None
    The largest number of leaves of a tree, from 2 on. None means 31. Fewer leaves
    overfit less; 2 make stumps.
max_depth : int, default=None
    The largest number of questions from the root to a leaf; None does not limit it.
min_leaf_rows : int or float, default=None
    The least number of rows in a leaf, or as a float below 1 their share. None means 20. Raise
    it if labels are noisy, lower it for small samples.
max_features : int or float, default=None
    How many features are drawn and looked at for each split: a number (int) or a share (float,
    1.0 for all). None means all of them. Fewer are faster, and make trees differ more.
interaction_constraints : list of sets, "pairwise", "no_interactions" or None, default=None
    Which features may be asked for together on the way to a leaf: sets of them, by name or
    number; features in no set are a set of their own, as in scikit-learn. "pairwise" allows any
    two, "no_interactions" makes the score a sum of functions of one feature each. A float
    ``max_features`` is then a share of the features that a leaf may ask for. Set it if a
    reviewer must be able to read the effects apart, or to overfit less.
interactions : int or None, default=None
    For a model that can be read: 0 boosts one column at a time, so that the score is a sum of
    curves; a number adds so many pairs of columns, those that take most off the loss, so that it is
    a sum of curves and maps, which ``shapes`` and ``report`` show exactly. Values that are not set
    are chosen for it, and ``settings_["interactions"]`` names the pairs. None: trees of any
    columns. Not together with ``interaction_constraints`` (docs/explaining.md).
derive : bool, default=True
    Whether the trial may add up to eight columns that are sums, differences, products or ratios of
    the six most important columns of numbers: if they lower the loss on held-back rows by 2 % or
    more. Names such as "income / debt" stand for them in rules, explanations and reports; files and
    exports compute them. Never without a trial or with fewer than 100 rounds.
    Also whether a category with more than 254 levels may have a column such as "mean of product",
    with the means of its rarer levels: for numbers and two classes. Models with such a column
    cannot be exported. Neither with ``monotone_constraints``, ``interaction_constraints``,
    ``interactions`` or ``time_limit``, nor with fewer than 300 rows to learn from.
categorical_features : "from_dtype", list or None, default="from_dtype"
    Columns split by sets of levels: text and category columns, or those named or numbered.
    Levels not seen in fit are treated as missing.
max_bins : int, default=255
    The most bins of values per feature, up to 65,535. Fewer are faster, more are finer.
early_stopping : bool, int, "refit" or "auto", default="auto"
    Whether to stop when ``eval_metric`` on validation rows has not improved for a number of
    rounds (20), and keep the best one. The validation rows are ``X_val`` of ``fit``, else a
    share ``validation_fraction`` of the rows that is held back (class by class); all of them
    count alike, whatever their weight. False never stops: ``X_val`` is then only measured and
    recorded. A number stops after so many rounds without progress. "refit" then boosts on all
    rows, a tenth more rounds. "auto": True if ``X_val`` is given, and by the number of rows
    otherwise (docs/choosing.md has the table).
eval_metric : str or function, default="log_loss"
    "error", "log_loss", "exponential_loss", "auc", or a function of (signs, scores), with more
    classes of (labels, scores), that gets smaller as the fit gets better.
calibrate : "sigmoid", "isotonic", "temperature" or None, default=None
    Fit probabilities to scores on ``validation_fraction`` of the rows, held back for that.
    "isotonic" needs 1,000 such rows; with fewer, "sigmoid" is used instead, with a warning.
validation_fraction : float, default=0.1
    The share of rows that is held back to stop early, and as many again to calibrate. More of
    them measure better, and leave fewer to learn from.
holdout : float, default=0.2
    The share of rows that ``certify`` holds out. More of them give a tighter bound, and leave
    fewer to learn from.
delta : float, default=0.05
    The probability with which the certificate may fail.
warm_start : bool, default=False
    Continue the last fit, with the same rows and parameters and a larger ``n_estimators``: it
    ends as one longer run would have. With ``certify="holdout"`` the k-th certificate
    pays delta/(k(k + 1)), the first one delta/2.
callbacks : sequence of functions, default=None
    Each is called with every ``Round``; returning True stops the run.
time_limit : str or float, default=None
    How long a fit may take, such as "10m", or seconds. Rounds end when the time is up, those done
    are kept, and ``ledger_.stopped`` says so; a trial before a refit gets a part of it. Reading
    rows before the first round and certifying after the last are not cut short. None: no limit.
random_state : int, RandomState or None, default=None
    The seed of everything that is drawn. Give a number to get the same model again.
n_jobs : int or None, default=None
    Threads; None and -1 mean all cores. The model does not depend on it.
device : "cpu", "cuda" or "auto", default="cpu"
    Where trees are grown: "cuda" takes an NVIDIA GPU, "auto" takes one if there is one and the
    table is large enough. The model is the same, byte for byte.
verbose : bool, int or "auto", default="auto"
    Whether to show progress: "auto" does after some seconds, if a person waits at a terminal or
    in a notebook; False, 0 and negative numbers are silent.
"""
"""What parameters of several estimators mean, unless a class describes them itself."""


def documented_like(*others: type) -> Callable[[Kind], Kind]:
    """Decorate a class: copy descriptions of parameters that it lacks from other classes.

    The first of them that describes a parameter counts, then ``SHARED``; its default is replaced by
    that of the class. Parameters come in the order of the signature.

    >>> class One:
    ...     '''Do it.
    ...
    ...     Parameters
    ...     ----------
    ...     seed : int, default=3
    ...         What is drawn follows from it.
    ...     '''
    >>> @documented_like(One)
    ... class Other:
    ...     '''Do it otherwise.'''
    ...
    ...     def __init__(self, seed=4):
    ...         self.seed = seed
    >>> print(Other.__doc__)
    Do it otherwise.
    <BLANKLINE>
    Parameters
    ----------
    seed : int, default=4
        What is drawn follows from it.
    """

    def decorate(kind: Kind) -> Kind:
        if kind.__doc__ is None:  # Python runs without docstrings
            return kind
        head, _, rest = inspect.cleandoc(kind.__doc__).partition(SECTION)
        own, _, after = rest.partition("\n\n")
        known = entries(own)
        for section in (*map(_section, others), SHARED):
            known = entries(section) | known
        found = [
            _with_default(known[name], parameter.default) if name in known else ""
            for name, parameter in inspect.signature(kind).parameters.items()
        ]
        parts = [head.rstrip("\n"), SECTION + "\n".join(filter(None, found)), after.rstrip("\n")]
        kind.__doc__ = "\n\n".join(filter(None, parts))
        return kind

    return decorate


Method = TypeVar("Method", bound=Callable[..., Any])


def described_by(other: Callable[..., Any]) -> Callable[[Method], Method]:
    """Decorate a method: copy the docstring of another one with the same parameters."""

    def decorate(method: Method) -> Method:
        method.__doc__ = other.__doc__
        return method

    return decorate


documented = documented_like()
"""Describe the parameters of a class that it does not describe itself, as others of that name."""


def entries(section: str) -> dict[str, str]:
    """Return the description of every parameter that has its own entry."""
    return {match[1]: match[0] for match in ENTRY.finditer(section)}


def _section(kind: type) -> str:
    return inspect.cleandoc(kind.__doc__ or "").partition(SECTION)[2].partition("\n\n")[0]


def _with_default(entry: str, default: Any) -> str:
    head, line, body = entry.partition("\n")
    said = repr(default).replace("'", '"')
    return re.sub(r"default=.*$", lambda _: f"default={said}", head) + line + body


# Names of parameters in other libraries, accepted for what they are called here.
#
# The names of a line mean the same. A class sets the first of them that is a parameter of it; names
# that are parameters themselves are taken as they are. ``get_params`` gives pacboost's names only.

SAME_MEANING = (
    ("n_estimators", "max_iter", "num_iterations", "num_boost_round", "iterations"),
    ("learning_rate", "shrinkage_rate", "eta"),
    ("max_leaves", "num_leaves", "max_leaf_nodes"),
    ("max_depth", "depth"),
    ("min_leaf_rows", "min_samples_leaf", "min_child_samples", "min_data_in_leaf"),
    ("max_features", "colsample_bytree", "colsample_bynode", "feature_fraction", "rsm"),
    ("l2", "reg_lambda", "lambda_l2", "l2_regularization", "l2_leaf_reg"),
    ("subsample", "bagging_fraction"),
    ("early_stopping", "early_stopping_rounds", "n_iter_no_change", "od_wait"),
    ("eval_metric", "metric"),
    ("max_bins", "max_bin", "border_count"),
    ("monotone_constraints", "monotonic_cst"),
    ("interaction_constraints", "interaction_cst"),
    ("categorical_features", "categorical_feature", "cat_features"),
    ("learner", "estimator", "base_estimator"),
    ("random_state", "seed", "random_seed"),
    ("n_jobs", "num_threads", "nthread", "thread_count"),
)

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
