"""Certificates of every measure, each from the same few rows."""

import numpy as np

import pacboost
from pacboost.bounds.certificate import Certificate
from pacboost.questions.answers import answers
from pacboost.questions.certify import certify, certify_all
from pacboost.questions.thresholds import ThresholdChoice
from tests.worlds import noisy

X, Y = noisy(300, 3, seed=5)


def every_measure() -> list[Certificate]:
    labels = np.where(X[:, 0] > 0.4, 1, 0)
    model = answers(labels, scores=np.clip(X[:, 0] / 4 + 0.5, 0, 1), classes=[0, 1])
    names = ["error", "recall", "precision", "f1", "balanced_error", "auc", "brier", "log_loss"]
    table = certify_all(
        model, X, labels, of=[*names, pacboost.measures.cost([[0, 1], [5, 0]])], end="both"
    )
    rare = certify(model, X, np.where(X[:, 0] > np.sort(X[:, 0])[-7], 1, 0), of="auc", delta=0.2)
    by_class = certify(model, X, labels, shift=pacboost.shift.shares("any"))
    grouped = certify(model, X, labels, of="brier", groups=np.arange(Y.size) // 4)
    gap = certify_all(model, X, labels, by=np.arange(Y.size) % 2, end="both").gap
    decision = ThresholdChoice.of(X[:, 0], labels == 1, 1, 0.05).decide("recall", 0.8)
    return [
        *table, rare, by_class, grouped, gap, decision.certificate, *decision.others,
        *(own.under(ratio=1.1) for own in table if own.of_what in ("error", "recall")),
    ]  # fmt: skip
