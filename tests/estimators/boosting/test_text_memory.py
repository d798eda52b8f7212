"""Boosting over texts: a fit needs little memory beyond the words of the texts."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from pacboost.estimators.boosting.text import TextBoostClassifier
from tests.estimators.boosting.test_text_real import rows_of

ENTRY = 12
"""The bytes of an entry of a sparse matrix: a number, and its column."""


def invented(rows: int, classes: int) -> tuple[list[str], list[str]]:
    """Texts of sixteen words, many of them rare."""
    generator = np.random.default_rng(0)
    letters = np.array(list("aeioubcdfglmnprst"))
    sizes = np.arange(1_000) % 8 + 3
    vocabulary = ["".join(generator.choice(letters, size)) for size in sizes]
    numbers = (len(vocabulary) * generator.random((rows, 16)) ** 4).astype(int)
    texts = [" ".join(vocabulary[number] for number in row) for row in numbers]
    return texts, [str(number % classes) for number in numbers[:, 0]]


def check_memory(texts: list[str], labels: list[str]) -> None:
    model = TextBoostClassifier(n_estimators=3, random_state=0)
    model.fit(texts[::10], labels[::10])  # what is compiled stays
    tracemalloc.start()
    try:
        model.fit(texts, labels)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    entries = model.features_.transform(texts).words.size
    assert peak <= 4 * ENTRY * entries + 16 * len(texts) * len(set(labels))


@pytest.mark.parametrize("classes", [2, 20])
def test_memory_goes_with_the_words(classes: int) -> None:
    check_memory(*invented(600, classes))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["sms_spam", "clinc150", "banking77"])
def test_memory_on_real_texts(name: str) -> None:
    rows = rows_of(name, "data" if name == "sms_spam" else "train")
    label = "label" if name == "sms_spam" else "intent"
    check_memory([row["text"] for row in rows], [row[label] for row in rows])
