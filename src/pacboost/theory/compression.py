"""Sample compression: bounds for a classifier that a few of its examples and a message determine.

If the classifier is a function of d of the n examples and of a message of ``bits`` bits, the other
n - d examples had no part in it; a union over all choices makes them a hold-out
(docs/proofs/compression.md).

For votes of stumps: every stump compares a feature with a threshold. Moved down to the nearest
value of a row, the threshold is determined by that row, and the predictions for all rows are
unchanged. With votes rounded to few bits, the vote is a function of the rows that give thresholds
and of a short message; the other rows test it (bounds/occam.py).
"""

from __future__ import annotations

import math
from copy import copy
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator

from pacboost.bounds import occam
from pacboost.bounds.certificate import Certificate
from pacboost.bounds.registry import bound
from pacboost.errors import NotCertified, invalid
from pacboost.estimators.fitted.judging import labelled, vote_of
from pacboost.fit.certify import deployed
from pacboost.hypotheses.stump import StumpRule
from pacboost.hypotheses.tree import TreeRule
from pacboost.hypotheses.vote import Vote
from pacboost.models.model import Model
from pacboost.numerics.binomial import binomial_upper
from pacboost.numerics.checks import counts, plain_numbers, positive_whole, probability, whole
from pacboost.numerics.exact import wrong_margins
from pacboost.numerics.growth import log_binomial
from pacboost.samples.sample import Sample
from pacboost.sources.explained_errors import explains_input
from pacboost.sources.table import Table
from pacboost.theory.quantised_votes import merged, whole_vote


@bound(
    "compression.compression_bound",
    theorem="R ≤ BinInv(k, n - d, delta/(n·C(n, d)·2^bits))",
    reference="Littlestone and Warmuth 1986; Langford 2005",
    sample="the training rows but the {points} that determine the classifier",
    independent_of="nothing but the way from kept rows and message to the classifier",
    assumptions=(
        "rows are drawn independently from the distribution of new examples",
        "kept rows and message determine the classifier by a rule fixed before",
    ),
    valid_after_looking=True,
)
def compression_bound(
    k: int, n: int, delta: float, points: int, bits: float = 0.0, ordered: bool = False
) -> float:
    """Bound the risk of a classifier that ``points`` of its n examples determine.

    R ≤ BinInv(k, n - d, delta/(n·C(n, d)·2^bits)) with k mistakes on the other n - d examples
    (Langford 2005).
    """
    rest = _rest(n, points)
    counts(k, rest)
    if isinstance(bits, bool) or not 0 <= bits < math.inf:
        raise invalid("bits", bits, "must be finite and at least 0")
    # C(n, d) sets of kept examples; n^d lists, if their order says something, too
    ways = points * math.log(n) if ordered else log_binomial(n, points)
    # a union over the number of kept examples (n values of d), the choices, and the messages
    nats = math.log(n) + ways + bits * math.log(2) - math.log(probability("delta", delta))
    return binomial_upper(k, rest, nats * (1 + 1e-15))  # rounded up


@plain_numbers
def certificate(
    k: int, n: int, delta: float, points: int, bits: float = 0.0, ordered: bool = False
) -> Certificate:
    """Certify a classifier that some of its examples determine, by its mistakes on the others.

    >>> certificate(0, 1000, delta=0.05, points=4).size
    996
    """
    return Certificate.by(
        "compression.compression_bound",
        {"k": k, "n": n, "delta": delta, "points": points, "bits": bits, "ordered": int(ordered)},
        size=n - points,
    )


def _rest(n: int, points: int) -> int:
    if whole("points", points) >= positive_whole("n", n):
        raise NotCertified(
            f"{points} of the {n} examples determine the classifier, so none is left to test it"
        )
    return n - points


@explains_input
def compress(model: BaseEstimator, X: ArrayLike, y: ArrayLike, delta: float = 0.05) -> Any:
    """Return a certified copy of a classifier whose vote a few of its training rows determine.

    The thresholds of the copy are values of rows, and its votes are whole numbers: of all roundings
    tried, the one with the smallest bound.

    Parameters
    ----------
    model : fitted classifier
        A vote of stumps on two classes.
    X, y : array-like
        All rows that the fit, and every choice before it, has used, each once.
    delta : float, default=0.05
        The probability with which the certificate may fail.

    Returns
    -------
    classifier
        A copy of ``model``: ``kept_rows_`` are the rows that give its thresholds, and
        ``certificate_`` bounds its error on new examples.
    """
    model = vote_of(model)
    small, sample = copy(model), labelled(model, X, y)
    vote, certificate, small.kept_rows_ = _compressed(
        model.model_, sample, probability("delta", delta)
    )
    small.model_ = replace(deployed(model.model_, vote, certificate), bins=None, calibration=None)
    return small


def _compressed(
    model: Model, sample: Sample, delta: float
) -> tuple[Vote, Certificate, NDArray[np.intp]]:
    """Try votes of few bits; return the one with the smallest bound, and its rows."""
    _refuse_others(model)
    moved, votes, rows = _moved(*merged(model.vote), sample.table)
    if not votes.size:
        raise NotCertified("the vote is empty: there is nothing to compress")
    n, features = sample.n_rows, model.n_features
    choices = []
    for bits, scale in product(occam.BITS, occam.SCALES):
        rounded = occam.quantise(votes, bits, scale)
        used = np.flatnonzero(rounded)
        kept_rows = np.unique(rows[used][rows[used] >= 0])
        if used.size == 0 or kept_rows.size >= n:
            continue
        vote = whole_vote(moved, rounded)
        wrong = wrong_margins(vote.scores(sample.table) * sample.signs[:, 0])
        # rows that give thresholds had a part in the classifier, so they are not counted
        wrong[kept_rows] = False
        certificate = occam.vote_certificate(
            int(wrong.sum()), n - kept_rows.size, n, features, used.size, bits, delta
        )
        choices.append((vote, certificate, kept_rows))
    if not choices:
        raise NotCertified(
            f"the thresholds of the vote use all {n} rows, so none is left to test it"
        )
    # all are valid at once, as the prior paid for bits and rules, so the smallest may be chosen
    return min(choices, key=lambda choice: choice[1].value)


def _moved(
    rules: list[StumpRule], votes: NDArray[np.float64], table: Table
) -> tuple[list[StumpRule], NDArray[np.float64], NDArray[np.intp]]:
    """Move every threshold to the largest value at or below it; also return a row with that value.

    The row is -1 for a rule that compares no value. If all values are above the threshold, the
    smallest one is taken: the bound is about the vote that results. Votes of rules that become
    equal are added up.
    """
    sums: dict[StumpRule, float] = {}
    row_of: dict[StumpRule, int] = {}
    for rule, vote in zip(rules, votes.tolist(), strict=True):
        if np.isinf(rule.threshold):
            sums[rule], row_of[rule] = sums.get(rule, 0.0) + vote, -1
            continue
        block = table.block(rule.feature, rule.feature + 1)[:, 0]
        values = np.asarray(block, dtype=np.float32)
        if np.isnan(values).all():
            raise NotCertified(
                f"column {rule.feature} has no value in these rows; a rule needs one"
            )
        # between two values of these rows a threshold may move without changing any answer, so it
        # may stand on one
        below = np.where(values <= np.float32(rule.threshold), values, np.float32(-np.inf))
        row = int(below.argmax()) if np.isfinite(below).any() else int(np.nanargmin(values))
        moved = replace(rule, threshold=float(values[row]), cut=0)
        sums[moved], row_of[moved] = sums.get(moved, 0.0) + vote, row
    used = [rule for rule, vote in sums.items() if vote != 0]
    votes = np.array([sums[rule] for rule in used])
    return used, votes, np.array([row_of[rule] for rule in used], dtype=np.intp)


def _refuse_others(model: Model) -> None:
    splits = [rule.feature.size for rule in model.vote.hypotheses if isinstance(rule, TreeRule)]
    if sum(splits) > len(splits) and model.vote.outputs == 1:
        raise NotCertified(
            f"the vote has trees with {sum(splits):,} splits, and each split keeps a row, so the "
            "bound would be vacuous. Compress a vote of stumps (learner='stump'), or certify this "
            "one by held-out rows (certify='holdout')"
        )
    others = [rule for rule in model.vote.hypotheses if not isinstance(rule, StumpRule)]
    if others or model.vote.outputs > 1 or not len(model.vote.votes):
        raise NotCertified(
            f"this is a vote of {model.ledger.booster} with {model.ledger.learner} on "
            f"{model.classes.size} classes; only votes of stumps on two classes can be compressed, "
            "such as those of AdaBoostClassifier()"
        )
