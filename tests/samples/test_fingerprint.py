"""The fingerprint of the rows: other rows, labels or weights, another fingerprint."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.tree import DecisionTreeClassifier

from pacboost import AdaBoostClassifier, BoostClassifier, BoostRegressor, TextBoostClassifier, load
from tests.worlds import noisy

X, Y = noisy(200, 3, seed=1)


def of(model: Any, *rows: Any) -> str:
    fingerprint: str = model.fit(*rows).model_.fingerprint
    assert len(fingerprint) == 64
    return fingerprint


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
    trees = BoostRegressor(n_estimators=2)
    assert of(trees, X, X[:, 0]) != of(trees, X, X[:, 1])


def test_words_and_sparse_rows() -> None:
    texts = ["a card", "lost it", "a cat", "lost card"] * 5
    model = TextBoostClassifier(n_estimators=2)
    assert of(model, texts, Y[:20]) != of(model, texts[::-1], Y[:20])
    stumps = BoostClassifier(n_estimators=2, learner="stump")
    matrix = sparse.csr_matrix(np.where(X > 0, X, 0))
    assert of(stumps, matrix, Y) != of(stumps, matrix[::-1], Y)


def test_files_keep_it(tmp_path: Path) -> None:
    model = BoostClassifier(n_estimators=2).fit(X, Y)
    model.save(tmp_path / "model")
    assert load(tmp_path / "model").model_.fingerprint == model.model_.fingerprint
