"""How wrong can it be? A certificate for any fitted classifier, from rows it has never seen."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.bounds import dependent, holdout
from pacboost.bounds.certificate import Certificate
from pacboost.errors import DataError, NotCertified, ParameterError
from pacboost.numerics.checks import positive_whole, probability
from pacboost.questions.new_rows import RowCounting, known_rows, refuse_training_rows, row_counting
from pacboost.samples.groups import numbered
from pacboost.samples.hidden_copies import refuse_hidden_copies
from pacboost.sources.lazy import collected

UNCHECKED = (
    "the model has not seen these rows, which could not be checked: it does not remember the rows "
    "that it was trained on"
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
    copies: str = "auto",
) -> Certificate:
    """Bound the error on new examples by the mistakes on rows not used in fitting.

    Parameters
    ----------
    model : any fitted classifier with ``predict``
        A pacboost model remembers a sketch of its training rows and refuses those, also within
        pipelines, searches and other wrappers, and after it was saved or pickled. Where nothing
        is remembered the claim begins with "If these rows are new".
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
    copies : "auto", "independent" or "once", default="auto"
        How equal rows with equal labels are counted. "independent": each is a draw of its own.
        "once": all but one are copies. "auto": as separate draws if they also come among the
        training rows (the domain is discrete then); else in the worse way, which is always valid.

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
    X = collected(X)  # once: it is read several times
    wrong = mistakes(model, X, y)
    checked = refuse_training_rows(model, X)
    if groups is not None and ordered:
        raise ParameterError("groups and ordered were both given; rows are one or the other")
    if groups is not None:
        found = dependent.groups_certificate(_shares(wrong, groups), share)
        refuse_hidden_copies(X, np.asarray(groups))
    elif ordered:
        found = dependent.ordered_certificate(int(wrong.sum()), wrong.size, share)
    else:
        counting = row_counting(model, X, np.asarray(y), copies)
        wrong = wrong | known_rows(model, X, wrong.size)
        found = holdout_certificate(wrong, counting, delta, models)
    return found if checked else found.unchecked().assuming(UNCHECKED)


def holdout_certificate(
    wrong: NDArray[np.bool_], counting: RowCounting, delta: float, models: int = 1
) -> Certificate:
    """Certify by mistakes on held-out rows, with equal rows counted as it was decided.

    >>> from pacboost.samples.copies import Repeats
    >>> repeats = Repeats(np.repeat(np.arange(50), 20), 50)
    >>> wrong = np.repeat(np.arange(50) < 5, 20)
    >>> holdout_certificate(wrong, RowCounting(repeats, "worse"), 0.05).inputs["n"]
    50
    """
    every = int(wrong.sum()), wrong.size
    once = counting.repeats.counted_once(wrong)
    ways = {"all": [every], "once": [once], "worse": [every, once]}[counting.rule]
    sample = "held-out rows, ties counted as errors"
    sample += f"; {counting.words}" if counting.words else ""
    made = [holdout.certificate(k, n, delta, models, sample) for k, n in ways]
    return max(made, key=lambda certificate: certificate.value)


def mistakes(model: Any, X: Any, y: Any) -> NDArray[np.bool_]:
    """Which rows the model gets wrong; for a vote of ours, ties count as wrong."""
    if hasattr(model, "ledger_") and not hasattr(model, "mistakes"):
        raise NotCertified(
            "certify bounds how often a classifier is wrong; this model predicts numbers, which "
            "are never simply right or wrong"
        )
    if hasattr(model, "ledger_"):  # a vote of ours
        wrong: NDArray[np.bool_] = model.mistakes(X, y)
        return wrong
    labels = np.asarray(y)
    several = bool(getattr(model, "several_labels_", False))
    if labels.ndim != 1 + several or labels.size == 0:
        wanted = "one column for each label" if several else "one label a row"
        raise DataError(f"y has shape {labels.shape}; {wanted} is needed, and at least one")
    answers = np.asarray(model.predict(X))
    if answers.shape != labels.shape:
        raise DataError(f"predict gave shape {answers.shape} for labels of shape {labels.shape}")
    wrong = np.asarray(answers != labels)
    return np.asarray(wrong.any(axis=1)) if several else wrong


def _shares(wrong: NDArray[np.bool_], groups: Any) -> list[float]:
    place = numbered(np.asarray(groups), wrong.size)
    shares = np.bincount(place, weights=wrong) / np.bincount(place)
    return [float(share) for share in shares]
