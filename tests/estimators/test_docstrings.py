"""Every parameter of the main classes is documented by itself: type, default, meaning."""

from __future__ import annotations

import inspect
import re
from typing import Any

import pytest

from pacboost import (
    AdaBoostClassifier,
    BoostClassifier,
    BoostRegressor,
    FilterBoostClassifier,
    RandomForestClassifier,
    StrongClassifier,
)

KINDS = (
    AdaBoostClassifier, BoostClassifier, BoostRegressor, FilterBoostClassifier, StrongClassifier,
    RandomForestClassifier,
)  # fmt: skip


def entries(kind: Any) -> dict[str, tuple[str, str]]:
    """The type and the text of every parameter in the docstring."""
    text = inspect.getdoc(kind) or ""
    part = text.split("Parameters\n----------\n")[1].split("\n\n")[0]
    found = re.findall(r"^(\w+) : (.*)\n((?:    .*(?:\n|$))*)", part + "\n", re.MULTILINE)
    return {name: (head, body) for name, head, body in found}


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_parameter_is_documented_by_itself(kind: Any) -> None:
    known = inspect.signature(kind).parameters
    documented = entries(kind)
    assert sorted(documented) == sorted(known)
    for name, (head, body) in documented.items():
        default = repr(known[name].default).replace("'", '"')
        assert head.endswith(f"default={default}"), f"{name} : {head}"
        assert body.strip(), f"{name} has no meaning"
