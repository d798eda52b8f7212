"""The linear round of texts: the function of words of a linear SVM."""

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
from functools import cache

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from pacboost import TextBoostClassifier
from pacboost.boosters.logit import Logit
from pacboost.models.file.format import model_bytes
from pacboost.samples.sample import Sample
from pacboost.sources.text import TextFeatures
from pacboost.training.run.linear_words import all_words

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
    near = all_words(Sample(table, signs), prior)
    monkeypatch.setattr("pacboost.training.run.linear_words.PASSES", 200)
    rule = all_words(Sample(table, signs), prior)
    rows = table.rows()
    counts = rows.sum(axis=0)
    rows *= 1 + np.log((1 + len(rows)) / (1 + counts))
    lengths = np.linalg.norm(rows, axis=1)
    svm = LinearSVC(C=2.0, tol=1e-6, max_iter=20_000).fit(rows / lengths[:, None], labels)
    usual, height = np.median(lengths), 6.0 if classes > 2 else 4.0
    share = (1 + (lengths / usual)[:, None] ** 2) / 3  # about 2/3 of lengths / usual
    scores = height * (rows @ svm.coef_.T / usual + share * svm.intercept_) - prior
    scores -= scores.mean(axis=1, keepdims=True) if classes > 2 else 0
    said = rule.said(Sample(table, signs))
    np.testing.assert_allclose(said, scores, atol=0.005)
    assert np.corrcoef(near.said(Sample(table, signs)).ravel(), scores.ravel())[0, 1] > 0.999
    assert rule.largest >= np.abs(said).max()
    most = np.abs(rule.values[:-1]).max(axis=1)
    assert (np.diff(most) <= 0).all()


def test_texts_begin_linear_and_err_about_as_little_as_a_support_vector_machine() -> None:
    texts, names = docstrings()
    model = TextBoostClassifier(random_state=0)
    svm = make_pipeline(TfidfVectorizer(ngram_range=(1, 2)), LinearSVC())
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    ours, theirs = (cross_val_score(own, texts, names, cv=folds).mean() for own in (model, svm))
    assert ours >= theirs - 0.01  # of 600 texts, less than a standard error
    model.fit(texts, names)
    prior, linear, *_ = model.model_.vote.hypotheses
    assert (prior.asked.size, linear.every, model.ledger_.rounds[1].error < 0.1) == (0, True, True)
    for number, scores in enumerate(model.staged_decision_function(texts), 1):
        entries = model.ledger_.rounds[:number]
        wrong = np.mean(model.classes_[scores.argmax(axis=1)] != names)
        product = math.prod(entry.normaliser for entry in entries) * model.ledger_.factor
        assert wrong <= entries[-1].training_error <= product * (1 + 1e-9)


def zipf_texts(n: int, seed: int) -> tuple[list[str], list[int]]:
    """Texts of very different lengths, of 30 classes: the largest has a third, others few rows."""
    world, draw = np.random.default_rng(0), np.random.default_rng(seed)
    chances, topics = 1 / np.arange(1, 31) ** 1.5, world.integers(50, 1500, (30, 12))
    words = 1 / np.arange(1, 1501)
    classes = draw.choice(30, n, p=chances / chances.sum())
    texts = []
    for number in classes:
        length = int(np.clip(draw.lognormal(3.2, 0.9), 4, 400))
        text, own = draw.choice(1500, length, p=words / words.sum()), draw.random(length) < 0.2
        text[own] = draw.choice(topics[number], own.sum())
        texts.append(" ".join(f"w{word}" for word in text))
    return texts, classes.tolist()


def test_rare_classes_are_found_as_often_as_by_a_support_vector_machine() -> None:
    """With the whole intercept, or a prior that long texts do not make up for, few would be."""
    errors = np.zeros(2)
    for seed in (0, 1):
        texts, labels = zipf_texts(1500, seed)
        fresh, true = zipf_texts(1500, seed + 100)
        svm = make_pipeline(TfidfVectorizer(ngram_range=(1, 2)), LinearSVC())
        for number, own in enumerate((TextBoostClassifier(random_state=0), svm)):
            errors[number] += np.mean(own.fit(texts, labels).predict(fresh) != true)
    assert errors[0] <= 1.07 * errors[1]


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
