"""What a fitted bag says of rows outside its bags: properties of bagged estimators and forests."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from pacboost.bounds.certificate import Certificate
from pacboost.errors import NotCertified
from pacboost.estimators.fitted.estimator import Estimator
from pacboost.ledgers.out_of_bag import OutOfBag

NOT_ASKED = (
    "nothing was certified; fit with certify='oob' to certify by out-of-bag rows, or with "
    "certify='holdout' to certify by held-out rows"
)


@dataclass(frozen=True)
class OutOfBagAnswers:
    """Out-of-bag predictions of the members; NaN for rows that are in every bag."""

    predictions: NDArray[np.float64]
    score: float | None = None
    counts: OutOfBag | None = None


def oob_decision_function(estimator: Estimator) -> NDArray[np.float64]:
    """Return the shares of the out-of-bag votes; NaN for rows that are in every bag."""
    return _answers(estimator, "oob_decision_function_").predictions


def oob_prediction(estimator: Estimator) -> NDArray[np.float64]:
    """Return the means of the out-of-bag predictions; NaN for rows that are in every bag."""
    return _answers(estimator, "oob_prediction_").predictions


def oob_score(estimator: Estimator) -> float:
    """Return the out-of-bag estimate of ``score``."""
    score = _answers(estimator, "oob_score_").score
    # so it is where every row is in every bag that was drawn
    if score is None:
        raise AttributeError("oob_score_ is missing: no row is outside a bag")
    return score


def out_of_bag(estimator: Estimator) -> OutOfBag:
    """Return the counts that a certificate by out-of-bag rows needs."""
    counts = _answers(estimator, "out_of_bag_").counts
    if counts is None:
        raise AttributeError(
            "out_of_bag_ is available after a fit that counts out-of-bag votes of unweighted rows"
        )
    return counts


def certificate(estimator: Estimator) -> Certificate:
    """Return the certificate that ``certify`` requests; raise NotCertified if there is none."""
    check_is_fitted(estimator)
    # that of a forest lies in its model, which files keep
    has_model = hasattr(estimator, "model_")
    bound = estimator.model_.certificate if has_model else estimator._certificate
    if bound is None:
        raise NotCertified(getattr(estimator, "_refusal", NOT_ASKED))
    return bound


def no_certificate() -> NotCertified:
    """Return the error of a regressor, whose fit certifies nothing."""
    return NotCertified(
        "certificates of a fit bound classification errors, and numbers are never simply right "
        "or wrong; pacboost.intervals certifies intervals by new rows"
    )


def _answers(estimator: Estimator, name: str) -> OutOfBagAnswers:
    answers: OutOfBagAnswers | None = estimator._out_of_bag
    if answers is None:
        raise AttributeError(f"{name} is available after a fit that predicts out-of-bag rows")
    return answers
