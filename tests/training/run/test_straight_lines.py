"""Straight lines: of columns those of a ridge regression, of words of a linear SVM."""

from __future__ import annotations

import argparse
import ast
import fractions
import inspect
import logging
import math
import pathlib
import shutil
import statistics
import subprocess
import tarfile
import threading
import unittest.case
import zipfile
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from pacboost import BoostClassifier, BoostRegressor, TextBoostClassifier
from pacboost.boosters.logit import Logit
from pacboost.hypotheses.vote import Vote
from pacboost.models.file.format import model_bytes
from pacboost.samples.bins import fit_bins
from pacboost.samples.sample import Sample
from pacboost.sources.arrays import ArrayTable
from pacboost.sources.text import TextFeatures
from pacboost.training.run.straight_lines import PENALTY, all_words, lines_of


def numbers(seed: int = 0, rows: int = 200) -> tuple[NDArray[Any], NDArray[Any]]:
    generator = np.random.default_rng(seed)
    X = generator.integers(-40, 40, size=(rows, 4)).astype(float)
    X[:, 1] += X[:, 0]
    return X, X @ np.array([1.0, -2.0, 0.5, 0.0]) + generator.normal(size=rows)


def sample_of(X: NDArray[Any], y: NDArray[Any], weights: NDArray[Any] | None = None) -> Sample:
    table = ArrayTable(X)
    base = np.ones(1) if weights is None else weights
    signs = np.ones((len(y), 1), dtype=np.int8)
    return Sample(table, signs, base, bins=fit_bins(table), targets=y)


def answers(sample: Sample, X: NDArray[Any], strength: float = 1.0) -> NDArray[np.float64]:
    lines = lines_of(sample, strength, 2.0**-40)
    return Vote(lines, np.ones(len(lines)), sample.signs.shape[1]).scores(ArrayTable(X))


@pytest.mark.parametrize("weighted", [False, True])
def test_lines_add_up_to_a_ridge_regression(weighted: bool) -> None:
    X, y = numbers()
    weights = np.random.default_rng(1).integers(1, 4, len(y)).astype(float) if weighted else None
    mean = np.average(X, axis=0, weights=weights)
    spread = np.sqrt(np.average((X - mean) ** 2, axis=0, weights=weights))
    own = np.ones(len(y)) if weights is None else weights / weights.mean()
    ridge = Ridge(alpha=PENALTY).fit((X - mean) / spread, y, own)
    expected = ridge.predict((X - mean) / spread) - ridge.intercept_
    np.testing.assert_allclose(answers(sample_of(X, y, weights), X), expected, atol=1e-8)
    half = answers(sample_of(X, y, weights), X, 0.5)
    np.testing.assert_allclose(half, expected / 2, atol=1e-8)


@pytest.mark.parametrize("classes", [2, 3])
def test_lines_of_classes_are_those_of_a_ridge_regression(
    classes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = numbers()
    labels = np.digitize(y, np.quantile(y, np.arange(1, classes) / classes))
    signs = 2 * (labels[:, None] == np.arange(classes)) - 1
    sample = replace(
        sample_of(X, y),
        targets=None,
        signs=(signs[:, 1:] if classes == 2 else signs).astype(np.int8),
    )
    spread = (X - X.mean(axis=0)) / X.std(axis=0)
    curvature, scale = (0.25, 0.5) if classes == 2 else (0.5, 1.0)
    ridge = LogisticRegression(C=1 / (curvature * PENALTY), tol=1e-10, max_iter=10_000)
    slopes = ridge.fit(spread, labels).coef_
    expected = scale * spread @ (slopes - (classes > 2) * slopes.mean(axis=0)).T
    near = answers(sample, X).reshape(len(X), -1)
    assert np.corrcoef(near.ravel(), expected.ravel())[0, 1] > 0.99
    monkeypatch.setattr("pacboost.training.run.straight_lines.STEPS", 3_000)
    exact = answers(sample, X).reshape(len(X), -1)
    np.testing.assert_allclose(exact, expected, atol=1e-4)


def test_a_line_is_flat_where_nothing_is_known() -> None:
    X, y = numbers()
    X[:20, 0] = np.nan
    sample = sample_of(np.column_stack([X, np.full(len(X), 3.0)]), y)
    lines = lines_of(sample, 1.0, 2.0**-40)
    assert sorted(line.feature[0] for line in lines) == [0, 1, 2, 3]  # a constant has no slope
    nothing = np.full((1, 5), np.nan)
    far = np.array([[1e9, 0, 0, 0, 3.0], [X[:, 0][20:].max(), 0, 0, 0, 3.0]])
    assert Vote(lines, np.ones(len(lines)), 1).scores(ArrayTable(nothing)).tolist() == [0.0]
    assert len(set(Vote(lines, np.ones(len(lines)), 1).scores(ArrayTable(far)).tolist())) == 1


def test_huge_and_tiny_numbers_have_lines() -> None:
    X, y = numbers()
    plain = answers(sample_of(X, y), X)
    for factor in (2.0**110, 2.0**-110):
        other = answers(sample_of(X * factor, y), X * factor)
        np.testing.assert_allclose(other, plain, rtol=1e-9)


def test_a_sum_of_columns_begins_with_lines_and_a_product_does_not() -> None:
    X, y = numbers(2)
    new, truth = numbers(3)
    straight = BoostRegressor(random_state=0).fit(X, y)
    trees = BoostRegressor(random_state=0, monotone_constraints=[0, 0, 1, 0]).fit(X, y)
    misses = [float(np.mean((model.predict(new) - truth) ** 2)) for model in (straight, trees)]
    assert misses[0] < misses[1] / 4
    assert [len(rule.features() or ()) for rule in straight.model_.vote.hypotheses[1:4]] == [
        1,
        1,
        1,
    ]
    assert straight.feature_importances_.argmax() == 1
    crossed = BoostRegressor(random_state=0).fit(X, np.sign(X[:, 2] * X[:, 3]))
    assert max(len(rule.values) for rule in crossed.model_.vote.hypotheses) <= 31


@pytest.mark.parametrize("kind", [BoostRegressor, BoostClassifier])
def test_a_run_that_begins_with_lines_goes_the_same_way_on_any_number_of_threads(kind: Any) -> None:
    X, y = numbers(4, 1_000)
    y = y > 0 if kind is BoostClassifier else y
    one, two = (kind(random_state=0, n_jobs=k).fit(X, y) for k in (1, 2))
    assert max(len(rule.values) for rule in one.model_.vote.hypotheses) > 31
    assert model_bytes(one.model_) == model_bytes(two.model_)


# Of texts: a linear function of all words, as one round.

MODULES = (
    *(argparse, fractions, logging, pathlib, shutil, statistics, subprocess, tarfile, threading),
    *(unittest.case, zipfile),
)


@cache
def docstrings() -> tuple[list[str], list[str]]:
    """What functions of Python's own modules say they do, and which module they are of."""
    pairs = []
    for module in MODULES:
        tree = ast.parse(inspect.getsource(module))
        nodes = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))
        pairs += [(text, module.__name__) for node in nodes if (text := ast.get_docstring(node))]
    texts, names = zip(*pairs, strict=True)
    return list(texts), list(names)


@pytest.mark.parametrize("classes", [2, len(MODULES)])
def test_a_linear_round_is_a_support_vector_machine(
    classes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its values are those of liblinear, up to what passes leave and a grid rounds."""
    texts, names = docstrings()
    names = names if classes > 2 else [str(name < "logging") for name in names]
    _, table = TextFeatures(prefixes=(3, 4)).learn(texts)
    _, labels = np.unique(names, return_inverse=True)
    signs = np.where(labels[:, None] == np.arange(classes), 1, -1).astype(np.int8)
    signs = signs if classes > 2 else signs[:, 1:]
    prior = np.linspace(-1, 1, signs.shape[1])
    near = all_words(Sample(table, signs), 1.0, prior)
    monkeypatch.setattr("pacboost.training.run.straight_lines.PASSES", 200)
    rule = all_words(Sample(table, signs), 1.0, prior)
    rows = table.rows()
    counts = rows.sum(axis=0)
    rows *= 1 + np.log((1 + len(rows)) / (1 + counts))
    lengths = np.linalg.norm(rows, axis=1)
    svm = LinearSVC(C=2.0, tol=1e-6, max_iter=20_000).fit(rows / lengths[:, None], labels)
    usual, height = np.median(lengths), 6.0 if classes > 2 else 4.0
    share = (lengths / usual)[:, None] ** 2
    scores = height * (rows @ svm.coef_.T / usual + share * svm.intercept_) - share * prior
    scores -= scores.mean(axis=1, keepdims=True) if classes > 2 else 0
    said = rule.said(Sample(table, signs))
    np.testing.assert_allclose(said, scores, atol=0.005)
    assert np.corrcoef(near.said(Sample(table, signs)).ravel(), scores.ravel())[0, 1] > 0.999
    assert rule.largest >= np.abs(said).max()
    most = np.abs(rule.values[:-1]).max(axis=1)
    assert (np.diff(most) <= 0).all()


def test_texts_begin_linear_and_err_no_more_than_a_support_vector_machine() -> None:
    texts, names = docstrings()
    model = TextBoostClassifier(random_state=0)
    svm = make_pipeline(TfidfVectorizer(ngram_range=(1, 2)), LinearSVC())
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    ours, theirs = (cross_val_score(own, texts, names, cv=folds).mean() for own in (model, svm))
    assert ours >= theirs
    model.fit(texts, names)
    prior, linear, *_ = model.model_.vote.hypotheses
    assert (prior.asked.size, linear.every, model.ledger_.rounds[1].error < 0.1) == (0, True, True)
    for number, scores in enumerate(model.staged_decision_function(texts), 1):
        entries = model.ledger_.rounds[:number]
        wrong = np.mean(model.classes_[scores.argmax(axis=1)] != names)
        product = math.prod(entry.normaliser for entry in entries) * model.ledger_.factor
        assert wrong <= entries[-1].training_error <= product * (1 + 1e-9)


def test_without_a_linear_round_lists_alone_are_boosted() -> None:
    texts, names = docstrings()
    names = [str(name < "logging") for name in names]
    booster = Logit(learning_rate=0.1, prior=True)
    model = TextBoostClassifier(booster=booster, n_estimators=3, random_state=0).fit(texts, names)
    assert not any(rule.every for rule in model.model_.vote.hypotheses)


@pytest.mark.parametrize("classes", [2, len(MODULES)])
def test_a_linear_round_has_the_same_bytes_on_any_number_of_threads(classes: int) -> None:
    texts, names = docstrings()
    names = names if classes > 2 else [str(name < "logging") for name in names]
    models = [
        TextBoostClassifier(n_estimators=4, random_state=0, n_jobs=jobs).fit(texts, names)
        for jobs in (1, 3)
    ]
    assert len({model_bytes(model.model_) for model in models}) == 1
    earlier = TextBoostClassifier(n_estimators=2, random_state=0, warm_start=True)
    earlier.fit(texts, names).set_params(n_estimators=4).fit(texts, names)
    assert np.array_equal(earlier.decision_function(texts), models[0].decision_function(texts))
