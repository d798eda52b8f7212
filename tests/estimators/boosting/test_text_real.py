"""Real texts: answers keep their certificates, and words rank labels."""

from __future__ import annotations

import csv
import gzip

import numpy as np
import pytest

import pacboost
from pacboost import TextBoostClassifier
from tests.data import HOME


def rows_of(name: str, part: str) -> list[dict[str, str]]:
    """Read a set, or skip the test and say why."""
    path = HOME / name / f"{part}.csv.gz"
    if not path.exists():
        pytest.skip(f"needs the data set {name}; set PACBOOST_DATA to the folder that has it")
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.slow
def test_answers_on_banking77_keep_their_word() -> None:
    train, test = rows_of("banking77", "train"), rows_of("banking77", "test")
    model = TextBoostClassifier(
        n_estimators=200, learning_rate=0.4, certify="holdout", calibrate="temperature",
        random_state=0,
    )  # fmt: skip
    model.fit([row["text"] for row in train], [row["intent"] for row in train])
    sure = pacboost.choose_threshold(model, target_error=0.05)
    answers = sure.answer([row["text"] for row in test])
    wrong = [a.label != row["intent"] for a, row in zip(answers, test, strict=True) if a.label]
    assert sure.certificate_.value <= 0.05
    assert np.mean(wrong) < sure.certificate_.value
    assert 0.4 < len(wrong) / len(test) < 0.9
    assert model.calibration_error_ is not None
    assert model.calibration_error_ < 0.06


@pytest.mark.slow
def test_words_rank_the_tags_of_bibtex() -> None:
    def entries(part: str) -> tuple[list[str], np.ndarray]:
        rows = rows_of("ml_bibtex", part)
        texts = [" ".join(k for k, v in row.items() if k[0] == "x" and v != "0") for row in rows]
        return texts, np.array([[v != "0" for k, v in row.items() if k[0] == "y"] for row in rows])

    (texts, tags), (fresh, true) = entries("train"), entries("test")
    model = TextBoostClassifier(ngrams=(1, 1), n_estimators=40, learning_rate=0.3, random_state=0)
    found = pacboost.theory.ranking(model.fit(texts, tags.astype(int)), fresh, true.astype(int))
    assert found.one_error < 0.5
    assert found.average_precision > 0.45
    assert found.ranking_loss < 0.12
    assert found.hamming_loss < true.mean()  # that of saying no to every tag
