"""Certificates of bagged votes: by held-out rows, or by the rows outside each bag."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.bounds import out_of_bag
from pacboost.bounds.certificate import Certificate
from pacboost.errors import ParameterError
from pacboost.estimators.fitting.atomic import look_at, next_look
from pacboost.estimators.inputs import division
from pacboost.estimators.inputs.division import Apart, Division
from pacboost.estimators.inputs.labels import read_weights
from pacboost.estimators.inputs.parameters import real_number
from pacboost.estimators.inputs.tables import open_table
from pacboost.numerics.checks import probability
from pacboost.numerics.exact import tied, wrong_answers
from pacboost.training.bags.bags import Bags, OutOfBagVotes

WAYS = ("oob", *out_of_bag.WAYS, "holdout")
NOT_ASKED = (
    "nothing was certified: fit with certify='oob' to certify by the rows outside the bags, or "
    "certify='holdout' to hold rows back"
)


def divide(estimator: Any, X: Any, y: Any, seed: int, sample_weight: Any = None) -> Division:
    """Hold rows out for the certificate, if ``certify`` asks for it."""
    way = estimator.certify
    if way not in (None, *WAYS):
        raise ParameterError(f"certify is {way!r}; it may be {', '.join(map(repr, WAYS))} or None")
    probability("delta", estimator.delta)
    if way != "holdout":
        outside = estimator._certifies_outside
        return division.undivided(X, y, estimator._equal_rows, once=outside)
    read_weights(sample_weight, division.number_of_rows(X))
    share = real_number("holdout", estimator.holdout)
    copies = estimator._equal_rows
    return division.divide(X, y, "holdout", share, seed + division.CERTIFY, copies)


def number_look(estimator: Any, apart: Apart | None, *, goes_on: bool) -> None:
    """Number this evaluation on the held-out rows, if there are some."""
    if apart is not None:
        now = look_at(estimator, (open_table(estimator, apart.X, reset=False), apart.y))
        before = getattr(estimator, "_looks", None)
        estimator._looks = next_look(before, now, goes_on=goes_on)


def certify_by(estimator: Any, apart: Apart, votes: NDArray[Any]) -> Certificate:
    """Certify by the mistakes on held-out rows; ``votes`` holds the votes on them.

    Where a row has several labels, it is wrong if any of them is.
    """
    if apart.y.ndim == 2:
        wrong = (estimator._said(votes) != apart.y).any(axis=1) | tied(votes)
    else:
        wrong = wrong_answers(estimator.classes_[votes.argmax(axis=1)], apart.y, votes)
    return apart.certificate(wrong, estimator.delta, estimator._looks.number)


def out_of_bag_tally(
    certify: str | None,
    targets: NDArray[Any],
    most: int,
    classes: int,
    bags: Bags,
    counted: NDArray[np.bool_] | None,
) -> OutOfBagVotes:
    """Start to count votes out of bag, and joint mistakes of pairs where the bound needs them."""
    rows = bags.rows if counted is None else int(np.count_nonzero(counted))
    way = out_of_bag.way_for(rows) if certify == "oob" else certify
    return OutOfBagVotes(
        targets, most, classes,
        outside=bags.chance_outside, pairs=way in ("tandem", "cantelli"), counted=counted,
    )  # fmt: skip


def shares_of(votes: NDArray[Any]) -> NDArray[np.float64]:
    """Turn votes into shares; rows without a vote have NaN.

    >>> shares_of(np.array([[3, 1], [0, 0]])).tolist()
    [[0.75, 0.25], [nan, nan]]
    """
    total = votes.sum(axis=1, keepdims=True)
    none = np.full(votes.shape, np.nan)
    return np.asarray(np.divide(votes, total, out=none, where=total > 0))
