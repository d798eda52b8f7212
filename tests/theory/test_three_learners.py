"""Three learners as an estimator: any learner, any number of classes, too few rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from pacboost.errors import NotCertified, OneClassWarning, ParameterError, TooFewRowsWarning
from pacboost.hypotheses.majority import Three
from pacboost.learners.growing import TreeSearch
from pacboost.learners.tree import Tree
from pacboost.models.file.format import model_bytes
from pacboost.samples.sample import Sample
from pacboost.theory.majorities import ThreeLearnerBoost
from pacboost.theory.worlds import hastie
from tests.data import real_data
from tests.worlds import noisy


def test_three_trees_beat_one() -> None:
    X, y = hastie().draw(9000, 1)
    new, truth = hastie().draw(4000, 2)
    model = ThreeLearnerBoost("tree", random_state=0).fit(X, y)
    (rule,) = model.model_.vote.hypotheses
    assert isinstance(rule, Three)
    one = DecisionTreeClassifier(max_leaf_nodes=31, random_state=0).fit(X, y)
    assert model.score(new, truth) > one.score(new, truth) + 0.02
    assert not model.report_.too_few


@pytest.mark.parametrize(
    "learner", [KNeighborsClassifier(), LogisticRegression(), GaussianNB(), "stump"]
)
def test_any_learner_will_do_with_or_without_weights(learner: Any) -> None:
    X, y = noisy(900, 4, 0)
    model = ThreeLearnerBoost(learner, certify="holdout", random_state=0).fit(X, y)
    assert model.score(X, y) > 0.6
    assert model.certificate_.value < 0.5
    assert model.certificate_.size == 180


def test_more_than_two_classes() -> None:
    data = real_data("letter", "class")
    X, y = data.table.rows(), data.labels
    model = ThreeLearnerBoost(DecisionTreeClassifier(random_state=0), random_state=0)
    model.fit(X[:12_000], y[:12_000])
    (rule,) = model.estimators_
    numbers = np.searchsorted(model.classes_, y[12_000:])
    alone = [part.inner.score(X[12_000:], numbers) for part in (rule.first, rule.second)]
    assert model.score(X[12_000:], y[12_000:]) > max(alone) + 0.03
    assert len(model.classes_) == 26


def test_too_few_rows_say_how_many_are_needed_and_nothing_is_certified() -> None:
    X, y = noisy(30, 3, 0)
    with pytest.warns(TooFewRowsWarning, match=r"30 rows .* [\d,]+ rows"):
        model = ThreeLearnerBoost(random_state=0).fit(X, y)
    assert model.predict(X).shape == (30,)
    with pytest.raises(NotCertified, match="set certify='holdout'"):
        _ = model.certificate_


class Interrupted(Tree):
    """Learns so many rules, and is then interrupted."""

    def on(self, sample: Sample) -> TreeSearch:
        self.__dict__.setdefault("learned", []).append(sample.n_rows)
        if len(self.__dict__["learned"]) > self.max_leaves - 4:
            raise KeyboardInterrupt
        return super().on(sample)


@pytest.mark.parametrize("learned", [1, 2])
def test_interrupt_keeps_the_first_rule(learned: int) -> None:
    X, y = noisy(900, 4, 0)
    model = ThreeLearnerBoost(Interrupted(4 + learned), certify="holdout", random_state=0)
    with pytest.raises(KeyboardInterrupt) as caught:
        model.fit(X, y)
    assert "the first rule" in caught.value.__notes__[0]
    assert model.ledger_.stopped == "interrupted"
    (rule,) = model.estimators_
    assert not isinstance(rule, Three)
    assert model.score(X, y) > 0.6
    assert model.certificate_.size == 180
    assert (model.report_.mistakes > 0) == (learned == 2)
    assert model.report_.needed > 0


def test_interrupt_before_the_first_rule_leaves_everything_as_it_was() -> None:
    X, y = noisy(900, 4, 0)
    model = ThreeLearnerBoost(random_state=0).fit(X, y)
    before = model_bytes(model.model_)
    with pytest.raises(KeyboardInterrupt):
        model.set_params(learner=Interrupted(4)).fit(X[:300], y[:300])
    assert model_bytes(model.model_) == before


def test_one_class_and_bad_parameters() -> None:
    X, y = noisy(60, 3, 0)
    with pytest.warns(OneClassWarning):
        assert set(ThreeLearnerBoost().fit(X, np.ones(60)).predict(X)) == {1.0}
    with pytest.raises(ParameterError, match="certify is 'train'"):
        ThreeLearnerBoost(certify="train").fit(X, y)
    with pytest.raises(ParameterError, match="learner is 'net'"):
        ThreeLearnerBoost("net").fit(X, y)
