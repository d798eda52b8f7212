"""AdaBoost.MH over words, by hand: what each kind of rule may say, and its two theorems.

Hamming loss ≤ ∏ Z_t, and with one label a row error ≤ (K/2) ∏ Z_t, on every prefix of rounds
(Schapire and Singer 1999, 2000), for word rules that are real-valued or discrete, and that abstain
where the word is absent or not.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from pacboost.boosters.adaboost import AdaBoost
from pacboost.estimators.boosting.boost import BoostClassifier
from pacboost.estimators.boosting.text import TextBoostClassifier
from pacboost.hypotheses.word_list import WordList
from pacboost.learners.words import Words
from pacboost.samples.sample import Sample
from pacboost.sources.arrays import ArrayTable
from pacboost.sources.sparse import words_of
from pacboost.training.run.loop import Run
from tests.training.run.prefixes import signs_of
from tests.word_samples import word_samples

MANY = settings(max_examples=40, deadline=None)
RULES = [Words(1, None), Words(1, None, abstain=False), Words(4, 3), Words(4, 3, abstain=False)]
KINDS = [AdaBoost(), AdaBoost(confidence_rated=True), AdaBoost(0.3, confidence_rated=True)]
SLACK = 1e-6


def staged(sample: Sample, learner: Words, booster: AdaBoost) -> list[tuple[float, np.ndarray]]:
    """After each round ∏ Z_t, as the loop has it, and the scores, added up here."""
    run = Run(sample, learner, booster, seed=3)
    scores = np.zeros(sample.signs.shape)
    found, product = [], 1.0
    for done, _ in zip(run, range(10), strict=False):
        rule = done.hypothesis
        assert isinstance(rule, WordList)
        product *= done.entry.normaliser
        scores = scores + rule.values[rule.cells(sample)]
        found.append((product, scores))
    return found


def mean(sample: Sample, costs: Any) -> float:
    return float(np.average(costs, weights=np.broadcast_to(sample.base, len(costs))))


@given(word_samples(), st.sampled_from(KINDS), st.sampled_from(RULES))
@MANY
def test_one_label_a_row(sample: Sample, booster: AdaBoost, learner: Words) -> None:
    for product, scores in staged(sample, learner, booster):
        wrong = sample.signs * scores <= 0
        assert mean(sample, wrong.mean(axis=1)) <= product + SLACK
        if sample.labels is not None:
            own = scores[np.arange(sample.n_rows), sample.labels]
            error = (scores >= own[:, None]).sum(axis=1) > 1
            assert mean(sample, error) <= scores.shape[1] / 2 * product + SLACK


@given(word_samples(several=True), st.sampled_from(KINDS), st.sampled_from(RULES))
@MANY
def test_several_labels_a_row(sample: Sample, booster: AdaBoost, learner: Words) -> None:
    for product, scores in staged(sample, learner, booster):
        assert mean(sample, (sample.signs * scores <= 0).mean(axis=1)) <= product + SLACK


def test_the_product_alone_does_not_bound_the_error() -> None:
    """Eight labels that follow no word: Hamming loss is small, and most rows are wrong."""
    generator = np.random.default_rng(0)
    labels = generator.integers(8, size=60)
    table = words_of(ArrayTable((generator.random((60, 5)) < 0.5).astype(float)))
    sample = Sample(table, signs_of(labels, 8), labels=labels, answers=tuple("abcdefgh"))
    for product, scores in staged(sample, Words(1, None, abstain=False), KINDS[1]):
        error = float(np.mean(scores.argmax(axis=1) != labels))
        assert product < error <= 4 * product


TEXTS = ["my card is lost", "card stolen", "top up by card", "top up", "what rate", "rate today"]
LABELS = ["lost", "lost", "top-up", "top-up", "rate", "rate"]


@pytest.mark.parametrize("abstain", [True, False])
@pytest.mark.parametrize("real", [True, False])
def test_every_kind_of_rule_can_be_had(abstain: bool, real: bool) -> None:
    """A discrete rule says the same of all classes, for or against; a silent one nothing at all."""
    model = TextBoostClassifier(
        length=1,
        candidates=None,
        abstain=abstain,
        booster=AdaBoost(confidence_rated=real),
        n_estimators=5,
        random_state=0,
        times=None,
        beginning=None,
        shares=None,
        prefixes=None,
    )
    model.fit(TEXTS * 4, LABELS * 4)
    sizes = []
    for rule in model.model_.vote.hypotheses:
        assert isinstance(rule, WordList)
        assert (not rule.values[-1].any()) == abstain
        sizes.append(np.unique(np.abs(rule.values[rule.values != 0])).size)
    assert (max(sizes) > 1) == real
    assert model.score(TEXTS, LABELS) > 0.5


@pytest.mark.parametrize("held", [np.asarray, sparse.csr_array])
def test_any_table_has_boostexters_rules(held: Any) -> None:
    """Texts, and a table with a column for each of their words, give the same vote."""
    model = TextBoostClassifier(length=1, candidates=None, booster="adaboost", learning_rate=1.0)
    model.set_params(n_estimators=8).fit(TEXTS, LABELS)
    table = held(model.features_.transform(TEXTS).rows())
    booster = AdaBoost(confidence_rated=True)
    same = BoostClassifier(booster, Words(1, None), n_estimators=8).fit(table, LABELS)
    assert np.array_equal(same.decision_function(table), model.decision_function(TEXTS))
