"""Metrics against scikit-learn's."""

import numpy as np
import pytest
from sklearn import metrics as reference

from pacboost.errors import ParameterError
from pacboost.samples.sample import Sample
from pacboost.sources.arrays import ArrayTable
from pacboost.training.metrics import METRICS, metric


def some_scores() -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(0)
    signs = np.where(generator.random(400) < 0.4, 1, -1).astype(np.int8)
    return signs, np.round(signs + generator.normal(size=400), 1)


def measured(name: str, signs: np.ndarray, scores: np.ndarray) -> float:
    """Measure scores of two classes."""
    sample = Sample(ArrayTable(np.zeros((signs.size, 1))), signs[:, None])
    return METRICS[name](sample, scores[:, None])


def test_auc() -> None:
    signs, scores = some_scores()
    assert measured("auc", signs, scores) == pytest.approx(reference.roc_auc_score(signs, scores))


def test_log_loss() -> None:
    signs, scores = some_scores()
    wanted = reference.log_loss(signs, 1 / (1 + np.exp(-2 * scores)))
    assert measured("log_loss", signs, scores) == pytest.approx(wanted)


@pytest.mark.parametrize(
    ("name", "signs", "scores", "expected"),
    [
        ("error", [1, -1, 1, -1], [1.0, -1, 0, 0], 0.5),  # ties are wrong
        ("exponential_loss", [1, -1], [1.0, 1.0], np.cosh(1)),
    ],
)
def test_values(name: str, signs: list[int], scores: list[float], expected: float) -> None:
    value = measured(name, np.array(signs, dtype=np.int8), np.array(scores))
    assert value == pytest.approx(expected)


def test_unknown_names_are_refused_with_the_list() -> None:
    with pytest.raises(ParameterError, match="log_loss, auc"):
        metric("f1")


def test_auc_of_one_class_is_refused() -> None:
    with pytest.raises(ParameterError, match="one class"):
        measured("auc", np.ones(3, dtype=np.int8), np.arange(3.0))
