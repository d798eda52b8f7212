"""Arrays that lie on a GPU: rows stay there, all else comes to the CPU where it enters."""

import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from pacboost.models.answers import asked
from pacboost.numerics.memory import in_host_memory, lies_on_gpu
from pacboost.sources.explained_errors import explains_input


class OnCard:
    __cuda_array_interface__ = None

    def __init__(self, numbers: np.ndarray) -> None:
        self.numbers = numbers

    def get(self) -> np.ndarray:
        return self.numbers


@pytest.fixture(autouse=True)
def a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cupy", SimpleNamespace(asarray=lambda array: array))


def test_labels_come_to_the_cpu_and_rows_stay() -> None:
    @explains_input
    def seen(X: Any, y: Any, model: Any = None, *, groups: Any = None) -> Any:
        return X, y, model, groups

    card = OnCard(np.arange(3))
    for result in (
        seen(card, card, card, groups=card),
        seen(X=card, y=card, model=card, groups=card),
    ):
        assert [value is card for value in result] == [True, False, True, False]
        assert result[1] is result[3] is card.numbers


def test_answers_of_a_model_come_to_the_cpu() -> None:
    model = SimpleNamespace(predict=lambda X: OnCard(X + 1), predict_proba=lambda X: [0.5])
    assert asked(model, np.zeros(2)).tolist() == [1.0, 1.0]
    assert asked(model, np.zeros(2), "predict_proba").tolist() == [0.5]


def test_what_is_no_array_stays_as_it_is() -> None:
    text = SimpleNamespace(__dlpack_device__=lambda: 1 / 0)  # a column of text raises
    for value in (None, "y", [1, 2], text, np.ones(2)):
        assert not lies_on_gpu(value)
        assert in_host_memory(value) is value
    assert lies_on_gpu(SimpleNamespace(__dlpack_device__=lambda: (2, 0)))
