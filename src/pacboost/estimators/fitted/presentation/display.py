"""What a notebook shows of an estimator: what scikit-learn shows, and what is certified.

scikit-learn 1.6 does not ask an estimator for ``_html_repr``, so estimators answer both of the
methods that notebooks call.
"""

from __future__ import annotations

from typing import Any

from sklearn import get_config
from sklearn.utils import estimator_html_repr

from pacboost.numerics import markup


def html(estimator: Any, claim: str) -> str:
    """Give scikit-learn's diagram, and the claim below it if there is one."""
    return str(estimator_html_repr(estimator)) + (markup.bold(claim) if claim else "")


def bundle(estimator: Any) -> dict[str, str]:
    """Give text, and HTML unless scikit-learn is set up to show text only."""
    found = {"text/plain": repr(estimator)}
    if get_config()["display"] == "diagram":
        found["text/html"] = estimator._repr_html_inner()
    return found
