"""How many positives certify a recall, and how many calibration rows prediction sets need?"""

from __future__ import annotations

import math

from pacboost.bounds import deciding, passing
from pacboost.bounds.covering import average_rank, covering_rank
from pacboost.bounds.rounding import confidence_number
from pacboost.bounds.search import smallest
from pacboost.errors import ParameterError
from pacboost.numerics.checks import plain_numbers, positive_whole, probability
from pacboost.questions.answer import Plan


@plain_numbers
def recall(
    *,
    recall: float,
    delta: float,
    true_recall: float = 1.0,
    power: float = 0.9,
    share: float | None = None,
) -> Plan:
    """Positive rows to hold out so that a recall is certified, and rows in all at their share.

    ``true_recall`` is what the classifier really finds; with so many positives, and with every
    larger number, it passes with probability ``power`` or more. A threshold that is chosen by these
    rows (``choose_threshold``) needs the ``fewest`` only: it is set so that it passes.

    >>> recall(recall=0.95, delta=0.05).examples
    59
    >>> answer = recall(recall=0.9, delta=0.05, true_recall=0.95, share=0.01)
    >>> answer.details["positives"], answer.examples
    (263, 26300)
    """
    target = probability("recall", recall)
    if not target < true_recall <= 1:
        raise ParameterError(
            f"true_recall is {true_recall:g}; it has to be above the recall of {target:g} that is "
            "to be certified, and at most 1"
        )
    missed = 1 - true_recall
    positives = passing.rows_to_pass(1 - target, delta, missed, power)
    rows = positives if share is None else math.ceil(positives / probability("share", share))
    said = f", {share:g} of all rows" if share is not None else ""
    passes = f"if the true recall is {true_recall:g}; it then passes with probability "
    return Plan(
        question=f"Held-out positives{said} to certify recall ≥ {target:g} with confidence "
        f"{confidence_number(delta)}, {passes}{power if missed > 0 else 1:g} or more",
        theorem="recall ≥ 1 - BinInv(K, n, δ), K ~ Bin(n, missed), n positives",
        examples=rows,
        details={
            "positives": positives,
            "passes with": passing.chance_to_pass(positives, 1 - target, delta, missed),
            "fewest positives": deciding.fewest_rows(1 - target, delta),
        },
    )


@plain_numbers
def coverage(*, coverage: float, delta: float, excess: float = 0.02, classes: int = 1) -> Plan:
    """Calibration rows so that prediction sets cover with confidence, and not much more than asked.

    The sets hold every label whose score is at most the k-th smallest of n calibration rows. Their
    coverage is at least ``coverage`` except with probability delta, and k/(n + 1) on average, which
    is to exceed it by at most ``excess``. With ``classes``, every class has rows of its own and
    its share of delta.

    >>> answer = coverage(coverage=0.9, delta=0.05)
    >>> answer.examples, answer.details["rank"], answer.details["fewest rows"]
    (593, 546, 29)
    """
    target, level = probability("coverage", coverage), probability("delta", delta)
    level /= positive_whole("classes", classes)
    probability("excess", excess)
    fewest = deciding.fewest_rows(1 - target, level)
    rows = smallest(
        lambda n: covering_rank(n, target, level) / (n + 1) - target <= excess,
        fewest,
        f"coverage within {excess:g} of {target:g}",
    )
    rank = covering_rank(rows, target, level)
    return Plan(
        question=f"Calibration rows for prediction sets that cover at least {target:g} with "
        f"confidence {confidence_number(delta)}, and at most {excess:g} more on average",
        theorem="P[coverage < 1 - a] ≤ P[Bin(n, 1 - a) ≥ k] ≤ δ",
        examples=rows * classes,
        details={
            "rows of each class": rows,
            "rank": rank,
            "mean coverage": rank / (rows + 1),
            "fewest rows": fewest,
            "rank for coverage on average only": average_rank(rows, target),
        },
    )
