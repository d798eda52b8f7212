"""Docstrings that are complete in every class, though a shared parameter is described once."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any, TypeVar

Kind = TypeVar("Kind", bound=type)
SECTION = "Parameters\n----------\n"
ENTRY = re.compile(r"^(\w+) : .*(?:\n    .*)*", re.MULTILINE)

SHARED = """\
learning_rate : float, default=None
    Another name of ``shrinkage``; give one of them.
n_estimators : int, default=None
    Another name of ``n_rounds``; give one of them.
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
categorical_features : "from_dtype", list or None, default="from_dtype"
    Columns split by sets of levels: text and category columns, or those named or numbered.
    Levels not seen in fit are treated as missing.
max_bins : int, default=255
    The most bins of values per feature, up to 65,535. Fewer are faster, more are finer.
validation_fraction : float, default=0.1
    The share of rows that is held back to stop early, and as many again to calibrate. More of
    them measure better, and leave fewer to learn from.
n_iter_no_change : int, default=20
    How many rounds without progress end the run. Raise it if the metric is noisy.
tol : float, default=0.0
    The least improvement that counts as progress.
holdout : float, default=0.2
    The share of rows that ``certify`` holds out. More of them give a tighter bound, and leave
    fewer to learn from.
delta : float, default=0.05
    The probability with which the certificate may fail.
warm_start : bool, default=False
    Go on from the last fit: it ends as one longer run would have. With ``certify="holdout"``
    the k-th certificate pays delta/(k(k + 1)), the first one delta/2.
callbacks : sequence of functions, default=None
    Each is called with every ``Round``; returning True stops the run.
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
    """Make a class take the description of parameters that it does not describe from others.

    The first of them that describes a parameter counts, then ``SHARED``; its default is replaced
    by that of the class. Parameters come in the order of the signature.

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


documented = documented_like()
"""Describe the parameters of a class that it does not describe itself, as others of that name."""


def entries(section: str) -> dict[str, str]:
    """Give the description of every parameter that is described by itself."""
    return {match[1]: match[0] for match in ENTRY.finditer(section)}


def _section(kind: type) -> str:
    return inspect.cleandoc(kind.__doc__ or "").partition(SECTION)[2].partition("\n\n")[0]


def _with_default(entry: str, default: Any) -> str:
    head, line, body = entry.partition("\n")
    said = repr(default).replace("'", '"')
    return re.sub(r"default=.*$", lambda _: f"default={said}", head) + line + body
