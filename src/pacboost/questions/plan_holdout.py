"""How many rows have to be held out to certify a classifier?"""

from __future__ import annotations

from pacboost.bounds import passing
from pacboost.bounds.rounding import confidence_number
from pacboost.numerics.plain import plain_numbers
from pacboost.questions.answer import Plan


@plain_numbers
def holdout(*, epsilon: float, delta: float, error: float = 0.0, power: float = 0.9) -> Plan:
    """Rows to hold out so that a classifier of this true error is certified at epsilon.

    With so many rows, and with every larger number, it is certified with probability ``power`` or
    more. Which mistakes it makes on the rows is chance, so no number of rows makes this certain
    unless its error is 0.

    >>> holdout(epsilon=0.01, delta=0.05).examples
    299
    >>> answer = holdout(epsilon=0.1, delta=0.05, error=0.05)
    >>> answer.examples, round(answer.details["passes with"], 3)
    (263, 0.929)
    """
    rows = passing.rows_to_pass(epsilon, delta, error, power)
    return Plan(
        question=f"Held-out rows, so many or any larger number, to certify error ≤ {epsilon:g} "
        f"with confidence {confidence_number(delta)}, if the classifier's true error is "
        f"{error:g}; it then passes with probability {power if error > 0 else 1:g} or more",
        theorem="R ≤ BinInv(K, n, δ), K ~ Bin(n, error)",
        examples=rows,
        details={
            "passes with": passing.chance_to_pass(rows, epsilon, delta, error),
            "half of all samples": passing.rows_to_pass(epsilon, delta, error, 0.5),
            "fewest that can pass": passing.rows_to_pass(epsilon, delta),
            "by Chernoff": passing.rows_to_pass_by_chernoff(epsilon, delta, error, power),
            "by Hoeffding": passing.rows_to_pass_by_hoeffding(epsilon, delta, error, power),
        },
    )
