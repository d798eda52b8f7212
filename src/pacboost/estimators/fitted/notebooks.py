"""How notebooks show an estimator: its claim above scikit-learn's diagram."""

from __future__ import annotations

import sys
from itertools import accumulate

from sklearn import get_config
from sklearn.base import BaseEstimator
from sklearn.utils import estimator_html_repr

from pacboost import __version__
from pacboost.numerics.markup import bold

DOC_PAGE = f"https://pacboost.readthedocs.io/en/v{__version__}/api/{{page}}.html"


def page_of(estimator: BaseEstimator) -> dict[str, str]:
    """Return the page of an estimator in the documentation: the first module that exports it."""
    kind = type(estimator)
    modules = accumulate(kind.__module__.split("."), "{}.{}".format)
    home = next(name for name in modules if hasattr(sys.modules[name], kind.__name__))
    return {"page": f"{home}.{kind.__name__}"}


# scikit-learn 1.6 does not ask an estimator for ``_html_repr``, so estimators answer both of the
# methods that notebooks call.


def as_html(estimator: BaseEstimator, claim: str) -> str:
    """Return the claim and the diagram."""
    return (bold(claim) if claim else "") + str(estimator_html_repr(estimator))


def shown(estimator: BaseEstimator, claim: str) -> dict[str, str]:
    """Return what a notebook may show."""
    bundle = {"text/plain": repr(estimator)}
    if get_config()["display"] == "diagram":
        bundle["text/html"] = as_html(estimator, claim)
    return bundle
