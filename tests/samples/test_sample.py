"""Samples: what they hold and make on demand, signs of classes, and fingerprints of the rows."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.tree import DecisionTreeClassifier

from pacboost import AdaBoostClassifier, BoostClassifier, BoostRegressor, TextBoostClassifier
from pacboost.samples.sample import signs_of
from tests.worlds import noisy


@given(st.lists(st.integers(0, 1), min_size=1, max_size=20))
def test_two_classes_have_one_column(numbers: list[int]) -> None:
    signs, labels = signs_of(np.array(numbers), 2)
    assert labels is None
    assert signs.dtype == np.int8
    assert signs[:, 0].tolist() == [2 * number - 1 for number in numbers]


@given(st.integers(3, 9), st.integers(0, 2**32))
def test_more_classes_have_a_column_each(classes: int, seed: int) -> None:
    numbers = np.random.default_rng(seed).integers(classes, size=30)
    signs, labels = signs_of(numbers, classes)
    assert labels is not None
    assert labels.tolist() == numbers.tolist()
    assert signs.shape == (30, classes)
    assert (signs.sum(axis=1) == 2 - classes).all()
    assert signs.argmax(axis=1).tolist() == numbers.tolist()


X, Y = noisy(200, 3, seed=1)


def of(model: Any, *rows: Any) -> str:
    fingerprint: str = model.fit(*rows).model_.fingerprint
    assert len(fingerprint) == 64
    return fingerprint


@pytest.mark.filterwarnings("ignore::pacboost.errors.RareClassWarning")
def test_other_rows_have_other_fingerprints() -> None:
    moved, turned = X.copy(), Y.copy()
    moved[7, 1], turned[3] = 9.0, 1 - turned[3]
    black_box = AdaBoostClassifier(DecisionTreeClassifier(max_depth=1), 3, random_state=0)
    for model in (BoostClassifier(n_estimators=2), AdaBoostClassifier(n_estimators=2), black_box):
        assert of(model, X, Y) == of(model, X, Y)
        known = {
            of(model, X, Y),
            of(model, moved, Y),
            of(model, X, turned),
            of(model, X, Y, X[:, 0] ** 2),
        }
        assert len(known) == 4
    trees = BoostRegressor(n_estimators=2, random_state=0)
    assert of(trees, X, X[:, 0]) != of(trees, X, X[:, 1])


def test_words_and_sparse_rows() -> None:
    texts = ["a card", "lost it", "a cat", "lost card"] * 5
    model = TextBoostClassifier(n_estimators=2)
    assert of(model, texts, Y[:20]) != of(model, texts[::-1], Y[:20])
    stumps = BoostClassifier(n_estimators=2, learner="stump")
    matrix = sparse.csr_matrix(np.where(X > 0, X, 0))
    assert of(stumps, matrix, Y) != of(stumps, matrix[::-1], Y)
