"""Sample compression: a classifier that a few of its examples, and a message, write down in full.

If the classifier is a function of d of the n examples and of a message of ``bits`` bits, the other
n - d examples had no part in it. For one fixed choice of examples and message they are a hold-out;
a union over all choices, and over the n values that d may take, makes it hold for the one chosen:

    R ≤ BinInv(k, n - d, delta/(n·C(n, d)·2^bits)),        k mistakes among the n - d others

(Littlestone and Warmuth 1986; Langford 2005) Where order or repetition of the d
examples matters, n^d takes the place of C(n, d). The way back from examples and message to the
classifier is fixed in advance; d, the examples and the message may come from any search.

A vote of stumps is such a classifier (``vote_bound``): a stump is a feature, the example whose
value is its threshold, and the side of missing values; its vote is a whole number of few bits.
docs/proofs/compression.md has the proof.

Two further bounds are here as explanations only: ``stable_estimate`` and ``hybrid_estimate`` rest
on theorems whose constants have not been re-derived, so no certificate is made of them.
"""

from __future__ import annotations

from pacboost.bounds.certificate import Certificate
from pacboost.bounds.occam import occam_bound
from pacboost.bounds.registry import bound
from pacboost.errors import ParameterError
from pacboost.numerics.checks import plain_numbers, positive_whole


@bound(
    "compression.vote_bound",
    theorem="R ≤ BinInv(k, n - d, delta·P), P the prior of kept rows, features and whole votes",
    reference="Littlestone and Warmuth 1986; Langford 2005; docs/proofs/compression.md",
    subject="the compressed vote",
    rounded=True,
    again=lambda given, _: vote_certificate(**given.inputs),
)
def vote_bound(
    mistakes: int, rest: int, n: int, features: int, rules: int, bits: int, delta: float
) -> float:
    """Bound the risk of a vote of stumps whose thresholds are values of some of its n examples.

    R ≤ BinInv(k, rest, delta·P) with k mistakes on the ``rest`` examples that gave no threshold,
    where P is the prior of a vote of ``rules`` out of features·(2n + 1) + 1 stumps with
    whole-number votes of ``bits`` bits: bounds/occam.py.

    >>> round(vote_bound(0, 990, 1000, features=4, rules=10, bits=3, delta=0.05), 4)
    0.1013
    """
    positive_whole("features", features)
    if not n - positive_whole("rules", rules) <= positive_whole("rest", rest) <= n:
        raise ParameterError(
            f"rest is {rest}; {rules} rules take at most as many of the {n} examples"
        )
    return occam_bound(mistakes, rest, features * (2 * n + 1) + 1, rules, bits, delta)


@plain_numbers
def vote_certificate(
    mistakes: int, rest: int, n: int, features: int, rules: int, bits: int, delta: float
) -> Certificate:
    """Certify a vote of stumps by the examples that gave none of its thresholds.

    >>> print(vote_certificate(0, 990, 1000, 4, 10, 3, 0.05).claim)
    The compressed vote is wrong on at most 10.14 % of new examples.
    """
    return Certificate.by(
        "compression.vote_bound",
        {
            "mistakes": mistakes,
            "rest": rest,
            "n": n,
            "features": features,
            "rules": rules,
            "bits": bits,
            "delta": delta,
        },
        sample=f"the rows but the {n - rest} that give thresholds, ties counted as errors",
        size=rest,
        independent_of="nothing but the way from kept rows and message to the vote",
        assumptions=(
            "rows are drawn independently from the distribution of new examples",
            "they are all the rows that were looked at, none left out after a look",
        ),
        valid_after_looking=True,
    )
