"""Sample compression: the few rows that define a vote of stumps, and what follows from that.

Every stump compares a feature with a threshold. Moved down to the nearest value that some row has,
the threshold is that row's, and all rows are answered as before. With votes rounded to few bits the
vote is then a function of the rows that give thresholds and of a short message; the other rows had
no part in it, so they test it (bounds/occam.py).
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.bounds import occam
from pacboost.bounds.certificate import Certificate
from pacboost.errors import NotCertified
from pacboost.estimators.boosting.certifying import merged
from pacboost.estimators.fitted.explaining import vote_of
from pacboost.hypotheses.stump import StumpRule
from pacboost.hypotheses.tree import TreeRule
from pacboost.hypotheses.vote import Vote, vote_digest
from pacboost.models.model import Model
from pacboost.numerics.checks import probability
from pacboost.numerics.exact import wrong_margins
from pacboost.samples.copies import Repeats, refuse_copied
from pacboost.samples.sample import Sample
from pacboost.sources.table import Table


@dataclass(frozen=True, eq=False)
class CompressedVote:
    """A compressed vote: the rows that give its thresholds, the votes, and its certificate."""

    rows: NDArray[np.intp]
    vote: Vote
    certificate: Certificate


def compress(model: Any, X: Any, y: Any, delta: float = 0.05) -> Any:
    """Return a copy of a classifier whose vote follows from few of its training rows, certified.

    The copy has the thresholds moved to values of rows, ``kept_rows_`` names these rows, and
    ``certificate_`` bounds its error on new examples. Its votes are whole numbers: of all roundings
    that were tried, those with the smallest bound. Give all rows that the fit and every choice
    before it have looked at. Copies of rows are refused.
    """
    model, X = vote_of(model, X)
    small, sample = copy(model), model._labelled(X, y)
    small.model_, small.kept_rows_ = _small(model.model_, sample, delta)
    return small


def _small(model: Model, sample: Sample, delta: float) -> tuple[Model, NDArray[np.intp]]:
    refuse_copied(Repeats.of(sample.table, sample.signs), "a bound by sample compression")
    found = compressed(model, sample, probability("delta", delta))
    ledger = replace(model.ledger, vote_digest=vote_digest(found.vote))
    small = replace(
        model,
        vote=found.vote,
        ledger=ledger,
        certificate=found.certificate.of(ledger.digest()),
        bins=None,
        calibration=None,
        answering=None,
        held_out=None,
        coverage=None,
    )
    return small, found.rows


def compressed(model: Model, sample: Sample, delta: float) -> CompressedVote:
    """Try votes of few bits, and give the one with the smallest bound."""
    _refuse(model)
    moved, votes, rows = _moved(*merged(model.vote), sample.table)
    if not votes.size:
        raise NotCertified("the vote is empty: there is nothing to compress")
    n, features = sample.n_rows, model.n_features
    best: CompressedVote | None = None
    for bits in occam.BITS:
        for scale in occam.SCALES:
            whole = occam.quantise(votes, bits, scale)
            used = np.flatnonzero(whole)
            kept = np.unique(rows[used][rows[used] >= 0])
            if used.size == 0 or kept.size >= n:
                continue
            stumps = [moved[k] if whole[k] > 0 else moved[k].negated() for k in used]
            vote = Vote(stumps, np.abs(whole[used]).astype(np.float64))
            wrong = wrong_margins(vote.scores(sample.table) * sample.signs[:, 0])
            wrong[kept] = False
            certificate = occam.vote_certificate(
                int(wrong.sum()), n - kept.size, n, features, used.size, bits, delta
            )
            if best is None or certificate.value < best.certificate.value:
                best = CompressedVote(kept, vote, certificate)
    if best is None:
        raise NotCertified(
            f"the vote takes thresholds from all of the {n} rows, which leaves none to judge it by"
        )
    return best


def _moved(
    rules: list[StumpRule], votes: NDArray[np.float64], table: Table
) -> tuple[list[StumpRule], NDArray[np.float64], NDArray[np.intp]]:
    """Move every threshold to the largest value at or below it; also give a row that has it.

    A rule that asks whether a value is missing, or nothing, needs no row: -1. If no value is so
    small the least is taken: what counts is the vote that comes out. Rules that become equal are
    one rule, with their votes added up.
    """
    sums: dict[StumpRule, float] = {}
    found: dict[StumpRule, int] = {}
    for rule, vote in zip(rules, votes.tolist(), strict=True):
        if np.isinf(rule.threshold):
            sums[rule], found[rule] = sums.get(rule, 0.0) + vote, -1
            continue
        block = table.block(rule.feature, rule.feature + 1)[:, 0]
        values = np.asarray(block, dtype=np.float32)
        if np.isnan(values).all():
            raise NotCertified(f"column {rule.feature} has no value in these rows, but a rule asks")
        below = np.where(values <= np.float32(rule.threshold), values, np.float32(-np.inf))
        below = np.where(np.isnan(values), np.float32(-np.inf), below)
        row = int(below.argmax()) if np.isfinite(below).any() else int(np.nanargmin(values))
        moved = replace(rule, threshold=float(values[row]), cut=0)
        sums[moved], found[moved] = sums.get(moved, 0.0) + vote, row
    kept = [rule for rule, vote in sums.items() if vote != 0]
    return (
        kept,
        np.array([sums[rule] for rule in kept]),
        np.array([found[rule] for rule in kept], dtype=np.intp),
    )


def _refuse(model: Model) -> None:
    splits = [rule.feature.size for rule in model.vote.hypotheses if isinstance(rule, TreeRule)]
    if sum(splits) > len(splits) and model.vote.outputs == 1:
        raise NotCertified(
            f"the vote holds trees with {sum(splits):,} splits, each of which would keep a row, so "
            "the bound would say nothing. Compress a vote of stumps (learner='stump'), or certify "
            "this one by rows held back (certify='holdout')"
        )
    others = [rule for rule in model.vote.hypotheses if not isinstance(rule, StumpRule)]
    if others or model.vote.outputs > 1 or not len(model.vote.votes):
        raise NotCertified(
            f"this is a vote of {model.ledger.booster} with {model.ledger.learner} on "
            f"{model.classes.size} classes; what can be compressed is a vote of stumps on two "
            "classes with one vote each, such as AdaBoostClassifier() finds"
        )
