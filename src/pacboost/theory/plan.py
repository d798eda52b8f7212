"""How many examples, rounds, draws or runs do I need?

Each answer gives the number that suffices by a theorem, for every distribution; where one is known,
a number that is necessary in the worst case, and for whom; and what a simulation needed on one
plain distribution, which is seldom the worst.
"""

from __future__ import annotations

from collections.abc import Callable

from pacboost.theory.answer import Plan
from pacboost.theory.plan_boosting import confidence, filtering, resample, rounds, strong
from pacboost.theory.plan_deciding import coverage, monitor, recall
from pacboost.theory.plan_learning import finite, holdout, no_free_lunch, rectangle, stumps, vc

__all__ = [
    "confidence", "coverage", "filtering", "finite", "holdout", "monitor", "no_free_lunch",
    "recall", "rectangle", "resample", "rounds", "strong", "stumps", "vc",
]  # fmt: skip

QUESTIONS: dict[str, Callable[..., Plan]] = {
    "finite": finite,
    "vc": vc,
    "rectangle": rectangle,
    "stumps": stumps,
    "rounds": rounds,
    "filtering": filtering,
    "confidence": confidence,
    "resample": resample,
    "holdout": holdout,
    "recall": recall,
    "coverage": coverage,
    "monitor": monitor,
    "no_free_lunch": no_free_lunch,
    "strong": strong,
}
