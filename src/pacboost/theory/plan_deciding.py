"""How many positives certify a recall, and how many calibration rows prediction sets need?"""

from __future__ import annotations

import math

from pacboost.bounds import deciding, monitoring, passing
from pacboost.bounds.coverage import average_rank, covering_rank, rows_to_cover
from pacboost.bounds.rounding import confidence_number
from pacboost.errors import ParameterError
from pacboost.numerics.checks import plain_numbers, positive_whole, probability
from pacboost.theory.answer import Plan


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
    larger number, it passes with probability ``power`` or more. With ``share`` the same is said of
    rows of both classes, of which the positives are a random number. A threshold that is chosen by
    these rows (``choose_threshold``) needs the ``fewest`` only: it is set so that it passes.

    >>> recall(recall=0.95, delta=0.05).examples
    59
    >>> answer = recall(recall=0.9, delta=0.05, true_recall=0.95, share=0.01)
    >>> answer.details["positives"], answer.examples
    (263, 25352)
    """
    target = probability("recall", recall)
    if not target < true_recall <= 1:
        raise ParameterError(
            f"true_recall is {true_recall:g}; it has to be above the recall of {target:g} that is "
            "to be certified, and at most 1"
        )
    missed = 1 - true_recall
    positives = passing.rows_to_pass(1 - target, delta, missed, power)
    if share is None:
        what, number, rows, sure = "positives", "n", positives, missed == 0
        chance = passing.chance_to_pass(positives, 1 - target, delta, missed)
    else:
        what, number, sure = f"rows, {share:g} of them positive", "n ~ Bin(rows, share)", False
        rows = passing.rows_of_all_to_pass(share, 1 - target, delta, missed, power)
        chance = passing.chance_of_all_to_pass(rows, share, 1 - target, delta, missed)
    return Plan(
        question=f"Held-out {what}, so many or any larger number, to certify recall ≥ {target:g} "
        f"with confidence {confidence_number(delta)}, if the true recall is {true_recall:g}; it "
        f"then passes with probability {1 if sure else power:g} or more",
        theorem=f"recall ≥ 1 - BinInv(K, n, δ), K ~ Bin(n, missed), {number} positives",
        examples=rows,
        details={
            "positives": positives,
            "passes with": chance,
            "fewest positives": deciding.fewest_rows(1 - target, delta),
        },
    )


@plain_numbers
def coverage(
    *,
    coverage: float,
    delta: float,
    excess: float = 0.02,
    classes: int = 1,
    share: float | None = None,
    power: float = 0.9,
) -> Plan:
    """Calibration rows so that prediction sets cover with confidence, and not much more than asked.

    The sets hold every label whose score is at most the k-th smallest of n calibration rows. Their
    coverage is at least ``coverage`` except with probability delta, and k/(n + 1) on average, which
    is to exceed it by at most ``excess``, for this n and every larger one. With ``classes``, every
    class has its share of delta and rows of its own, whose number is random: each class has so
    many with probability ``power``, if the rarest is a ``share`` of all rows (1/``classes``).

    >>> answer = coverage(coverage=0.9, delta=0.05)
    >>> answer.examples, answer.details["rank"], answer.details["fewest rows"]
    (638, 587, 29)
    """
    target, level = probability("coverage", coverage), probability("delta", delta)
    level /= positive_whole("classes", classes)
    rarest = 1 / classes if share is None else share
    if not 0 < rarest <= 1 / classes:
        raise ParameterError(
            f"share is {share:g}; that of the rarest of {classes} classes is above 0 and at most "
            f"1/{classes}"
        )
    examples = rows = rows_to_cover(target, level, excess)
    said = ""
    if classes > 1:
        lack = (1 - probability("power", power)) / classes
        examples = passing.rows_of_all(rows, rarest, 1 - lack)
        said = f", so many of each of {classes} classes with probability {power:g} or more"
    rank = covering_rank(rows, target, level)
    return Plan(
        question=f"Calibration rows for prediction sets that cover at least {target:g} with "
        f"confidence {confidence_number(delta)}, and at most {excess:g} more on average{said}",
        theorem="P[coverage < 1 - a] ≤ P[Bin(n, 1 - a) ≥ k] ≤ δ",
        examples=examples,
        details={
            "rows of each class": rows,
            "rank": rank,
            "mean coverage": rank / (rows + 1),
            "fewest rows": deciding.fewest_rows(1 - target, level),
            "rank for coverage on average only": average_rank(rows, target),
        },
    )


# How many labelled rows until a model in use is seen to err more often than certified?


@plain_numbers
def monitor(
    *, before: float, after: float, delta: float, power: float = 0.9, run_length: int = 100_000
) -> Plan:
    """Labelled rows until a jump of the error above the certified one is seen by ``Monitor``.

    ``before`` is the certified error, ``after`` the error from the jump on. The certificate is
    refuted within ``examples`` rows with probability ``power`` if the model errs so often from the
    first row on. After a long quiet time the capital against it has shrunk; the change detector
    sounds within as many rows after the jump as ``details`` says, whenever the jump comes.

    >>> answer = monitor(before=0.05, after=0.08, delta=0.05)
    >>> answer.examples, answer.details["rows after a late jump"]
    (1313, 2576)
    """
    level = probability("delta", delta)
    late = math.log(positive_whole("run_length", run_length))
    return Plan(
        question=f"Labelled rows until an error of {after:g} is seen where {before:g} is "
        f"certified, with probability {power:g} or more",
        theorem="P[ever K_t ≥ 1/δ] ≤ δ while the certificate holds; K_t by Bin(t, after)",
        examples=monitoring.rows_to_see(before, after, -math.log(level), power),
        details={
            "rows after a late jump": monitoring.rows_to_see(
                before, after, late, power, detector=True
            ),
            "average run length": run_length,
            "false alarm ever": level,
        },
    )
