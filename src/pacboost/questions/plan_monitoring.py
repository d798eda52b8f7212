"""How many labelled rows until a model in use is seen to err more often than certified?"""

from __future__ import annotations

import math

from pacboost.bounds import monitoring
from pacboost.numerics.checks import plain_numbers, positive_whole, probability
from pacboost.questions.answer import Plan


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
