"""How wrong can it be? A certificate for any fitted classifier, from rows it has never seen."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.bounds import dependent, holdout
from pacboost.bounds.certificate import Certificate
from pacboost.errors import DataError, NotCertified, ParameterError
from pacboost.numerics.checks import positive_whole, probability
from pacboost.samples.groups import numbered

UNCHECKED = (
    "the model has not seen these rows: it came from a file or a pickle, which do not remember "
    "them, so this could not be checked"
)


def certify(
    model: Any,
    X: Any,
    y: Any,
    *,
    delta: float = 0.05,
    models: int = 1,
    groups: Any = None,
    ordered: bool = False,
) -> Certificate:
    """Bound the error on new examples by the mistakes on rows not used in fitting.

    Parameters
    ----------
    model : any fitted classifier with ``predict``
        A pacboost model remembers a sketch of its training rows and refuses those. A file or a
        pickle does not remember them: the certificate then says that nothing was checked.
    X, y : rows and labels that had no part in fitting or choosing the model
    delta : float, default=0.05
        The probability with which the claim may fail.
    models : int, default=1
        How many models are scored on these rows and may be kept: each pays its share of delta.
    groups : array of group labels, default=None
        Give it when rows of one group (a patient, a customer) depend on each other: then groups,
        not rows, are counted.
    ordered : bool, default=False
        Set it when the rows come in the order of time and may depend on the past: the claim is then
        about the period watched.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X = np.arange(400.0)[:, None]
    >>> y = X[:, 0] > 200
    >>> tree = DecisionTreeClassifier().fit(X[::2], y[::2])
    >>> certificate = certify(tree, X[1::2], y[1::2])
    >>> certificate.inputs["k"], round(certificate.value, 4)
    (1, 0.0235)
    """
    share = probability("delta", delta) / positive_whole("models", models)
    wrong = mistakes(model, X, y)
    refuse_training_rows(model, X)
    found = _certificate(wrong, delta, share, models, groups, ordered=ordered)
    if hasattr(model, "ledger_") and not getattr(model, "_sketches", ()):
        found = replace(found, assumptions=(*found.assumptions, UNCHECKED))
    return found


def _certificate(
    wrong: NDArray[np.bool_],
    delta: float,
    share: float,
    models: int,
    groups: Any,
    *,
    ordered: bool,
) -> Certificate:
    if groups is not None and ordered:
        raise ParameterError("groups and ordered were both given; rows are one or the other")
    if groups is not None:
        return dependent.groups_certificate(_shares(wrong, groups), share)
    if ordered:
        return dependent.ordered_certificate(int(wrong.sum()), wrong.size, share)
    return holdout.certificate(int(wrong.sum()), wrong.size, delta, models)


def mistakes(model: Any, X: Any, y: Any) -> NDArray[np.bool_]:
    """Which rows the model gets wrong; for a vote of ours, ties count as wrong."""
    if hasattr(model, "ledger_") and not hasattr(model, "mistakes"):
        raise NotCertified(
            "certify bounds how often a classifier errs; this model predicts numbers, which are "
            "never simply right or wrong"
        )
    if hasattr(model, "ledger_"):  # a vote of ours
        wrong: NDArray[np.bool_] = model.mistakes(X, y)
        return wrong
    labels = np.asarray(y)
    if labels.ndim != 1 or labels.size == 0:
        raise DataError(f"y has shape {labels.shape}; one label a row is needed, and at least one")
    answers = np.asarray(model.predict(X))
    if answers.shape != labels.shape:
        raise DataError(f"predict gave shape {answers.shape} for {labels.size} labels")
    return np.asarray(answers != labels)


def refuse_training_rows(model: Any, X: Any) -> None:
    """Raise if more of the rows are training rows than repeated rows explain."""
    seen = model.overlap(X) if hasattr(model, "_sketches") else None
    if seen is not None and seen.suspicious:
        raise NotCertified(
            f"{seen.shared} of {seen.compared} rows compared are rows the model was trained on, "
            f"more than the {seen.expected:.2%} that repeated rows explain. A certificate needs "
            "rows that had no part in fitting: hold some back before you fit."
        )


def _shares(wrong: NDArray[np.bool_], groups: Any) -> list[float]:
    place = numbered(np.asarray(groups), wrong.size)
    shares = np.bincount(place, weights=wrong) / np.bincount(place)
    return [float(share) for share in shares]
