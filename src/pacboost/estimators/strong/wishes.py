"""A requested recall or precision: the threshold is chosen by the certifying rows.

The vote is fixed before they are looked at, and they are drawn at random, so that the theorems of
docs/proofs/thresholds.md hold. A fifth of the rows is set apart, whatever the labels are.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace

from pacboost.bounds import wording
from pacboost.bounds.decision import ThresholdDecision
from pacboost.bounds.family import Family
from pacboost.bounds.wording import Statement
from pacboost.errors import NotCertified, ParameterError
from pacboost.estimators.decisions.choosing import positive_class
from pacboost.estimators.parameters.values import Values
from pacboost.estimators.strong.labelled import LabelledData
from pacboost.fit.noticing import counted
from pacboost.fit.roles import Roles
from pacboost.hypotheses.hypothesis import Hypothesis, Valued
from pacboost.hypotheses.stump import StumpRule
from pacboost.hypotheses.tree import TreeRule
from pacboost.hypotheses.vote import Vote
from pacboost.hypotheses.word_list import WordList
from pacboost.models.model import Model
from pacboost.numerics.checks import probability
from pacboost.questions.thresholds import ThresholdChoice
from pacboost.questions.verdict import Verdict


def read_wishes(
    recall: float | None, precision: float | None, epsilon: float | None
) -> tuple[str, float] | None:
    """Return the requested measure and its value, if it is not an error; None if there is none.

    >>> read_wishes(0.95, None, None), read_wishes(None, None, 0.1)
    (('recall', 0.95), None)
    """
    given = {"recall": recall, "precision": precision, "epsilon": epsilon}
    asked = [name for name, wish in given.items() if wish is not None]
    if len(asked) > 1:
        raise ParameterError(
            f"{' and '.join(asked)} were given; the certifying rows can certify one of them",
            parameter=asked[-1],
        )
    if not asked or asked[0] == "epsilon":
        return None
    name = asked[0]
    return name, probability(name, given[name])


def decided(
    model: Model, data: LabelledData, roles: Roles, wish: tuple[str, float], asked: Values
) -> ThresholdDecision:
    """Choose the threshold by certifying rows; raise if no threshold is certified."""
    labels, delta = data.labels[roles.certify], asked.delta
    if labels.ndim > 1:
        raise NotCertified("rows have several labels, and a threshold is chosen for one class")
    if not labels.size:
        raise NotCertified("no rows were set apart to choose the threshold by")
    label = positive_class(model.classes, asked.positive)
    place = model.classes.tolist().index(label)
    scores = model.vote.scores(model.schema.read(data.take(roles.certify)))
    score = model.probabilities(scores)[:, place]
    choice = ThresholdChoice.of(score, labels == label, label, delta)
    decision = choice.decide(*wish)
    others = Family(tuple(counted(other, roles.examples) for other in decision.others), delta)
    return replace(
        decision, certificate=counted(decision.certificate, roles.examples), others=others
    )


def verdict_of(decision: ThresholdDecision, delta: float) -> Verdict:
    """Return the verdict if the requested rate is certified."""
    head = wording.sentence(decision.certificate)
    note, value = decision.details, decision.certificate.value
    return Verdict(decision.sentence, True, None, delta, value, headline=head, note=note)


def missed(wish: tuple[str, float], reason: NotCertified, delta: float) -> Verdict:
    """Return the verdict if no threshold is certified, with what is missing."""
    head = Statement(f"No threshold is certified for {wish[0]} {wish[1]:g}: {reason}.", "", "")
    return Verdict(str(head), False, None, delta, 1.0, str(reason), headline=head)


# Proper or improper: does the vote lie in the class of rules that the weak learner answers with?
#
# A vote of many rules mostly does not. That is why boosting can be stronger than its learner, and
# why its result is called improper in the PAC model. It does if at most one of its rules tells rows
# apart, or if all that do ask one and the same question: a single rule then decides as the vote
# does.


def is_proper(vote: Vote) -> bool:
    """Check whether one rule of the learner makes the same decisions as the vote.

    >>> import numpy as np
    >>> stumps = [StumpRule(0, 2.5, 2, +1, -1), StumpRule(0, 2.5, 2, +1, -1)]
    >>> is_proper(Vote(stumps, np.ones(2)))
    True
    >>> stumps[1] = StumpRule(0, 3.5, 3, -1, -1)
    >>> is_proper(Vote(stumps, np.ones(2)))
    False
    """
    asked = [questions for rule in vote.hypotheses if (questions := _questions(rule))]
    return len(asked) <= 1 or len(frozenset().union(*asked)) == 1


def _questions(rule: Hypothesis) -> frozenset[Hashable]:
    """Return the conditions that a rule tests; none if it is constant."""
    if isinstance(rule, Valued):
        return _questions(rule.rule)
    if isinstance(rule, StumpRule):
        return frozenset() if rule.is_constant else frozenset([(rule.feature, rule.threshold)])
    if isinstance(rule, WordList):
        return frozenset(rule.asked.tolist())
    if isinstance(rule, TreeRule):
        subsets = [rule.members[k].tobytes() if k >= 0 else b"" for k in rule.member]
        columns = (rule.feature.tolist(), rule.cut.tolist(), rule.missing_left.tolist(), subsets)
        return frozenset(zip(*columns, strict=True))
    return frozenset([id(rule)])
