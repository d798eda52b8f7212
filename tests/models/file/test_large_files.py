"""Large models: they come back, and reading them takes no more memory than the file allows."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pacboost.errors import FileError
from pacboost.estimators.files import load
from pacboost.hypotheses.stump import StumpRule
from pacboost.hypotheses.vote import Vote
from pacboost.hypotheses.word_list import GRID, WordList
from pacboost.models.file import format as model_file
from pacboost.models.file.document import SPARE
from pacboost.models.file.rules import MOST_STEPS
from pacboost.models.model import Model
from pacboost.sources.text import TextFeatures
from tests.models import kinds


def lists(model: Model, words: int, count: int) -> Model:
    """Lists of so many words, for as many classes as the model has."""
    generator = np.random.default_rng(0)
    rules = []
    for _ in range(count):
        steps = generator.integers(-(2**15), 2**15, size=(words + 1, model.vote.outputs))
        asked = generator.permutation(model.n_features)[:words].astype(np.int32)
        rules.append(WordList(asked, np.float64(GRID) * steps, abstains=False))
    return replace(model, vote=Vote(rules, np.ones(count), model.vote.outputs))


def vocabulary(model: Model, size: int) -> Model:
    names = tuple(sorted(f"{k:x} word" for k in range(size)))
    assert isinstance(model.text, TextFeatures)
    text = replace(model.text, vocabulary=names)
    return replace(model, names=names, n_features=size, text=text)


def many_words() -> Model:
    return vocabulary(kinds.words().model_, 500_000)


def long_lists() -> Model:
    model = vocabulary(kinds.words().model_, 20_000)
    return lists(model, 10_000, MOST_STEPS // (3 * 10_001))


def longer_lists() -> Model:
    model = vocabulary(kinds.words().model_, 20_000)
    return lists(model, 10_000, 1 + MOST_STEPS // (3 * 10_001))


def many_rounds() -> Model:
    """Fifty thousand stumps, each with its round."""
    model: Model = kinds.stumps().model_
    rounds = [replace(model.ledger.rounds[0], number=k + 1) for k in range(50_000)]
    rule = model.vote.hypotheses[0]
    assert isinstance(rule, StumpRule)
    rules = [replace(rule, above=1 - 2 * (k % 2)) for k in range(50_000)]
    vote = Vote(rules, np.full(50_000, 2.0**-20))
    return replace(model, vote=vote, ledger=replace(model.ledger, rounds=rounds))


def many_trees() -> Model:
    """Ten thousand copies of a tree with subsets of levels."""
    model: Model = kinds.trees().model_
    rules = [rule for rule in model.vote.hypotheses for _ in range(2_000)]
    return replace(model, vote=Vote(rules, np.full(len(rules), 2.0**-20)))


@pytest.mark.slow
@pytest.mark.parametrize("make", [many_words, long_lists, longer_lists, many_rounds, many_trees])
def test_large_models_come_back(make: Callable[[], Model], tmp_path: Path) -> None:
    model, path = make(), tmp_path / "large"
    model_file.save(model, path)
    model_file.load(path)  # whatever is loaded once is loaded
    tracemalloc.start()
    try:
        back = model_file.load(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak <= 2 * path.stat().st_size + SPARE
    assert model_file.model_bytes(back) == model_file.model_bytes(model)
    assert back.names == model.names


@pytest.mark.slow
def test_who_trusts_a_file_may_allow_more(tmp_path: Path) -> None:
    model, path = many_rounds(), tmp_path / "large"
    rules = [*model.vote.hypotheses] * 4
    model_file.save(replace(model, vote=Vote(rules, np.tile(model.vote.votes, 4))), path)
    with pytest.raises(FileError, match=r"allow it with load\(path, memory=10\*\*9\)"):
        load(path)
    assert len(load(path, memory=10**9).votes_) == 200_000
