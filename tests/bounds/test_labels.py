"""Labels and column names that look like formats are written as they are."""

from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import pacboost
from pacboost.bounds import holdout, measured, wording
from pacboost.bounds.certificate import Certificate
from pacboost.bounds.estimates import in_words
from pacboost.bounds.held_out import HeldOut

# A format with a width of gigabytes, names that no format has, and words of our own sentences.
LABELS = ["{x}", "{:>1500000000}", "{0}", "%s %(x)d", "{", "}}", " like these", "it "]


def counted(*classes: str, n_missed: int) -> HeldOut:
    """180 rows are of the first class and 20 of each other class, with mistakes on the first."""
    labels = np.repeat(classes, [180] + [20] * (len(classes) - 1))
    predictions = np.where(np.arange(labels.size) >= labels.size - n_missed, classes[0], labels)
    held_out = HeldOut.of(labels, predictions, np.array(classes))
    assert held_out is not None
    return held_out


@pytest.mark.parametrize("label", LABELS)
def test_a_label_stands_in_claims_unchanged(label: str) -> None:
    inputs = {"k": 97, "n": 100, "delta": 0.05, "claims": 1}
    details = {"class": label, "group": label}
    certificate = measured.certificate("recall", "rates.rate_lower", inputs, size=100, **details)
    moved = certificate.under(contamination=0.02)
    for one in (certificate, moved, Certificate.from_json(moved.to_json())):
        for text in (one.claim, str(wording.sentence(one))):
            assert text.startswith(f"Of the new examples in group '{label}' of class '{label}', ")
            assert len(text) < 300


@pytest.mark.parametrize("label", LABELS)
def test_a_gap_names_what_a_file_holds_unchanged(label: str) -> None:
    inputs = {"parts": [[3, 100], [5, 50]], "delta": 0.05, "claims": 4}
    gap = measured.certificate("gap", "rates.gap_upper", inputs, size=150, of="error")
    altered = replace(gap, details={"of": label, "class": label})
    assert altered.claim.startswith(f"The {label} of class '{label}' differs by at most ")


@pytest.mark.parametrize("label", LABELS)
def test_notes_name_rare_classes_unchanged(label: str) -> None:
    two = ["most", label]
    bounded = in_words(holdout.certificate(5, 200, 0.05), counted(*two, n_missed=5), two)
    assert f"of the rare class '{label}' (" in bounded
    estimated = in_words(holdout.certificate(25, 200, 0.05), counted(*two, n_missed=20), two)
    assert f"'{label}' (an estimate from 20" in estimated
    three = [*two, "other"]
    several = in_words(holdout.certificate(45, 220, 0.05), counted(*three, n_missed=40), three)
    assert f"% of '{label}' (20 rows)" in several


@pytest.mark.parametrize("label", LABELS[:4])
def test_a_model_with_such_labels_and_columns_is_saved_and_loaded(
    label: str, tmp_path: Path
) -> None:
    def rows(seed: int) -> tuple[pd.DataFrame, np.ndarray]:
        values = np.random.default_rng(seed).normal(size=(600, 2))
        return pd.DataFrame(values, columns=[label, "other"]), np.where(
            values[:, 0] > 1.2, label, "usual"
        )

    model = pacboost.BoostClassifier(n_estimators=5, certify="holdout", random_state=0)
    model.fit(*rows(0))
    chosen = pacboost.choose_threshold(model, *rows(1), recall=0.8, positive=label)
    estimators: list[Any] = [model, chosen]
    for number, estimator in enumerate(estimators):
        path, page = tmp_path / f"{number}.pacb", tmp_path / f"{number}.html"
        estimator.save(path)
        loaded = pacboost.load(path)
        assert loaded.certificate_ == estimator.certificate_
        assert loaded.predict(rows(2)[0]).tolist() == estimator.predict(rows(2)[0]).tolist()
        loaded.report(page)
        assert label in unescape(page.read_text())
    assert f"for class '{label}'" in chosen.sentence_
    names = [str(name) for name in model.classes_]
    assert f"'{label}'" in in_words(model.certificate_, model.model_.held_out, names)
    assert any(label in rule for rule in model.rules())
    assert label in str(model.explain(rows(2)[0][:1]))
