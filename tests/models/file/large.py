"""Large models, made of small ones: with many rules, or many words."""

from dataclasses import replace

import numpy as np

from pacboost.hypotheses.vote import Vote
from pacboost.hypotheses.word_list import GRID, WordList
from pacboost.models.model import Model
from pacboost.models.schema import Schema
from pacboost.sources.text import TextFeatures


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
    return replace(model, schema=Schema(size, names, text=text))


def repeated(model: Model, count: int) -> Model:
    """Return a model with this many copies of its first rules and rounds."""
    rules = [*model.vote.hypotheses] * (count // len(model.vote))
    rounds = [replace(model.ledger.rounds[0], number=k + 1) for k in range(len(rules))]
    vote = Vote(rules, np.full(len(rules), 2.0**-20), model.vote.outputs)
    return replace(model, vote=vote, ledger=replace(model.ledger, rounds=rounds))
