"""Answering only where confident, with a bound on the error among the answered."""

from __future__ import annotations

from typing import Any

from pacboost.bounds.answering import Answering, check_threshold
from pacboost.errors import NotCertified, ParameterError
from pacboost.models.model import Model
from pacboost.numerics.checks import probability
from pacboost.questions import selective


def certified_answers(model: Model) -> Answering:
    """Return the certificates of the answers, or raise."""
    if model.answering is None:
        raise NotCertified(
            "no held-out rows have shown how wrong confident answers are; fit with "
            "certify='holdout', or call certify_answers with fresh rows and their labels"
        )
    return model.answering


def threshold(
    model: Model, target_error: float | None, abstain_below: float | None, parameter: float | None
) -> float:
    """Find the least confidence with which rows are answered.

    ``target_error`` and ``abstain_below`` are what the call asks for. Without either, the threshold
    is the one that was certified, or ``parameter``, the estimator's ``abstain_below``.
    """
    selective.check_wish(target_error, abstain_below)
    if abstain_below is not None:
        return check_threshold("abstain_below", abstain_below)
    if target_error is not None:
        return certified_answers(model).within(target_error).point.threshold
    known = model.answering
    if known is not None and (known.chosen is not None or known.target_error is not None):
        return known.point.threshold
    if parameter is not None:
        return check_threshold("abstain_below", parameter)
    raise ParameterError(
        "answer has to know when to answer: give target_error, the error you allow among the "
        "answered, or abstain_below, the least confidence"
    )


def refuse_wish(estimator: Any) -> None:
    """Raise before the fit if ``target_error`` and ``abstain_below`` cannot be satisfied."""
    target_error, abstain_below = estimator.target_error, estimator.abstain_below
    selective.check_wish(target_error, abstain_below)
    if target_error is not None and estimator.certify != "holdout":
        raise ParameterError(
            f"target_error is {target_error!r}, and no rows are held out to find the threshold by; "
            "set certify='holdout', or call certify_answers after fit"
        )
    if target_error is not None:
        probability("target_error", target_error)
    if abstain_below is not None:
        check_threshold("abstain_below", abstain_below)
