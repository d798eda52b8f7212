"""Certificates by the training rows for votes of stumps with whole-number votes.

Stumps on fixed bins can be counted, and so can votes of few bits, so all possible votes are
certified at once (bounds/occam.py; docs/proofs/finite.md). The bound is loose: held-out rows
(``certify="holdout"``) usually give a smaller one, for a vote with fewer mistakes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pacboost.boosters.adaboost import AdaBoost
from pacboost.bounds import occam
from pacboost.bounds.certificate import Certificate
from pacboost.errors import NotCertified
from pacboost.estimators.boosting.adaboost import AdaBoostClassifier
from pacboost.estimators.inputs.parameters import draw_seed
from pacboost.fit.division import share_apart
from pacboost.fit.examples import label_rows, read_examples
from pacboost.fit.noticing import counted
from pacboost.fit.roles import CERTIFY
from pacboost.fit.rows import LabelledRows
from pacboost.hypotheses.stump import StumpRule
from pacboost.hypotheses.vote import Vote
from pacboost.learners.stump import Stump, count_rules
from pacboost.models.schema import Schema
from pacboost.numerics.checks import integer, positive_whole, probability, real_number
from pacboost.numerics.exact import wrong_margins
from pacboost.samples.bins import fit_bins
from pacboost.samples.sample import Sample
from pacboost.sources.explained_errors import explains_input
from pacboost.sources.rows import Rows
from pacboost.training.run.loop import Run


@dataclass(frozen=True, eq=False)
class QuantisedVote:
    """A vote of stumps with whole-number votes, its bound, and an estimate of its error."""

    bits: int
    scale: float
    rules: int
    mistakes: int
    """The number of mistakes on the training rows, ties included."""
    bound: float
    estimate: float
    """The error on the rows that gave the bins, whose labels did not influence the vote."""
    vote: Vote
    certificate: Certificate
    classes: NDArray[Any]
    _schema: Schema = field(repr=False)

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the class of each row; a tie goes to the first class."""
        scores = self.vote.scores(self._schema.read(X))
        return np.asarray(self.classes[(scores > 0).astype(np.intp)])


@explains_input
def certify_by_training_rows(
    X: ArrayLike,
    y: ArrayLike,
    n_estimators: int = 50,
    *,
    share_for_bins: float = 0.2,
    max_bins: int = 255,
    delta: float = 0.05,
    random_state: int | np.random.RandomState | None = None,
    copies: str = "draws",
) -> list[QuantisedVote]:
    """Boost stumps on two classes, round the votes, and certify them by the rows learned from.

    A random share of the rows gives bins, levels, kinds of columns and classes; AdaBoost learns
    from the others. Its votes are rounded in many ways. All bounds hold at once with probability
    1 - delta, so any of the votes may be chosen after seeing them.

    Parameters
    ----------
    X, y : array-like
        Rows of two classes.
    n_estimators : int, default=50
        The number of rounds of AdaBoost.
    share_for_bins : float, default=0.2
        The share of the rows that gives the bins.
    max_bins : int, default=255
    delta : float, default=0.05
        The probability with which the certificates may fail.
    random_state : int, RandomState or None, default=None
    copies : {"draws", "distinct"}, default="draws"
        With "distinct", one of several equal rows is used.

    Returns
    -------
    list of QuantisedVote
        The smallest bound comes first; it is not always that of the best vote.

    Examples
    --------
    >>> from pacboost.theory.worlds import Boxes
    >>> choices = certify_by_training_rows(*Boxes((0.3,), (1.0,)).draw(500, 0), 5, random_state=0)
    >>> best = choices[0]
    >>> best.rules, best.mistakes, round(best.bound, 3)
    (2, 4, 0.078)
    """
    rounds = positive_whole("n_estimators", n_estimators)
    bins_at_most = integer("max_bins", max_bins)
    probability("delta", delta)
    share = real_number("share_for_bins", share_for_bins)
    divided = share_apart(X, y, "share_for_bins", share, draw_seed(random_state) + CERTIFY, copies)
    assert divided.apart is not None
    assert divided.examples is not None
    assert divided.rows is not None
    options = AdaBoostClassifier()._column_options()
    schema, table = Schema.learn(divided.apart.X, options)
    apart, classes = read_examples(table, divided.apart.y)
    learned = divided.examples.once(divided.rows)
    labels = np.asarray(y)[learned]
    _refuse_other_classes(classes, labels)
    table = schema.read(Rows.of(X).take(learned))
    # classes and bins come from the rows set apart: the count of possible votes must not depend on
    # the rows that certify
    rows = label_rows(table, labels, classes, "y")
    bins = fit_bins(apart.table, bins_at_most)
    run = Run(Sample(table, rows.signs, bins=bins), Stump(), AdaBoost())
    for _ in run.up_to(rounds):
        pass
    rules, votes = merged(run.vote())
    if not rules:
        raise NotCertified("no stump is better than chance, so the vote is empty")
    base_rules, n = count_rules(bins), table.n_rows
    choices = []
    for pair in occam.search(
        votes, lambda q: mistakes(whole_vote(rules, q), rows), n, base_rules, delta
    ):
        vote = whole_vote(rules, occam.quantise(votes, pair.bits, pair.scale))
        certificate = occam.certificate(pair.mistakes, n, base_rules, pair.rules, pair.bits, delta)
        certificate = counted(certificate, divided.examples)
        estimate = mistakes(vote, apart) / apart.n_rows
        choices.append(QuantisedVote(*pair, estimate, vote, certificate, classes, schema))
    return choices


def merged(vote: Vote) -> tuple[list[StumpRule], NDArray[np.float64]]:
    """Add up the votes of equal rules; a rule and its opposite are one, with opposite votes."""
    sums: dict[StumpRule, float] = {}
    for rule, weight in zip(vote.hypotheses, vote.votes, strict=True):
        if not isinstance(rule, StumpRule):
            raise NotCertified(
                "the vote has rules that are not stumps; only votes of stumps can be counted"
            )
        unsigned, sign = (rule, 1.0) if rule.above > 0 else (rule.negated(), -1.0)
        if unsigned.is_constant:  # the same rule whichever feature it was found on
            unsigned = StumpRule.constant(-1)
        sums[unsigned] = sums.get(unsigned, 0.0) + sign * float(weight)
    nonzero = {rule: weight for rule, weight in sums.items() if weight != 0}
    return list(nonzero), np.array(list(nonzero.values()))


def whole_vote(rules: list[StumpRule], numbers: NDArray[np.int64]) -> Vote:
    """Return the vote with these whole-number votes, without rules whose vote is 0."""
    used = np.flatnonzero(numbers)
    stumps = [rules[k] if numbers[k] > 0 else rules[k].negated() for k in used]
    return Vote(stumps, np.abs(numbers[used]).astype(np.float64))


def mistakes(vote: Vote, rows: LabelledRows) -> int:
    """Count the mistakes of a vote on rows of two classes, ties included."""
    margins = vote.scores(rows.table) * rows.signs[:, 0]
    return int(np.count_nonzero(wrong_margins(margins)))


def _refuse_other_classes(classes: NDArray[Any], labels: NDArray[Any]) -> None:
    """Check the classes, which like the bins must not come from the rows that certify."""
    unknown = sorted(set(np.unique(labels).tolist()) - set(classes.tolist()))
    if classes.size == 2 and not unknown:
        return
    other = f", and {unknown[0]!r} is a label of the other rows" if unknown else ""
    raise NotCertified(
        f"the rows that give the bins have {classes.size} classes{other}; they must have both "
        "classes. Give two classes, or a larger share_for_bins"
    )
