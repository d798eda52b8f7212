"""The certificate of Schapire's recursion: error ≤ g(g(… g(α) …)), g(x) = 3x² - 2x³.

Weak rules were tested, each under its own filtered distribution, to have an error of at most α. If
the parts of a majority of three have an error of at most x, the majority has one of at most g(x),
level by level, and a rule that is returned early has no larger one (Schapire 1990;
docs/proofs/three_way.md). All tests of the run share delta; none trusts the learner.
"""

from __future__ import annotations

from pacboost.bounds.certificate import Certificate
from pacboost.bounds.registry import bound
from pacboost.bounds.rounding import outward
from pacboost.errors import NotCertified
from pacboost.numerics.checks import plain_numbers, whole
from pacboost.numerics.three_way import majority_error

MOST_LEVELS = 2000
"""Further levels change nothing that a float can hold, and without them the error is no smaller."""


@bound(
    "three_way.recursive_error",
    theorem="error ≤ g(g(… g(α) …)) once a level, α of tested weak rules, g(x) = 3x² - 2x³",
    reference="Schapire 1990; Krichevsky and Trofimov 1981; Ville 1939",
    subject="the majority",
    again=lambda given, _: certificate(
        **given.inputs, delta=given.delta, draws=given.size, assumes=given.assumptions[0]
    ),
)
def recursive_error(part: float, levels: int) -> float:
    """Apply g so many times to what the weak rules may err on.

    >>> [round(recursive_error(0.4, levels), 4) for levels in (1, 2, 3, 4, 5, 6, 7)]
    [0.352, 0.2845, 0.1967, 0.1009, 0.0285, 0.0024, 0.0]
    """
    if not 0 <= part < 0.5:
        raise NotCertified(
            f"the error of weak rules is at most {part:g}; a majority of three is better than its "
            "parts only below 1/2"
        )
    for _ in range(min(whole("levels", levels), MOST_LEVELS)):
        part = majority_error(part)
    return outward(part)


@plain_numbers
def certificate(part: float, levels: int, delta: float, draws: int, assumes: str) -> Certificate:
    """Certify what the recursion returned.

    >>> certificate(0.4, 2, 0.05, 10_000, "draws are independent").claim
    'The majority is wrong on at most 28.45 % of new examples.'
    """
    return Certificate.by(
        "three_way.recursive_error",
        {"part": part, "levels": levels},
        delta=delta,
        sample="examples drawn for the tests, each of them once; rules that say nothing are wrong",
        size=draws,
        independent_of="the rule that is tested: every test has draws of its own",
        assumptions=(assumes,),
        valid_after_looking=True,
    )
