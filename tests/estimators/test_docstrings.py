"""Every parameter of every estimator is documented by itself: type, default, meaning."""

from __future__ import annotations

import inspect
import re
from typing import Any

import pytest

from tests.public import estimators

KINDS: list[Any] = list(estimators().values())


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
    assert len(KINDS) > 15
    assert sorted(documented) == sorted(known)
    for name, (head, body) in documented.items():
        default = repr(known[name].default).replace("'", '"')
        assert head.endswith(f"default={default}"), f"{name} : {head}"
        assert body.strip(), f"{name} has no meaning"
        assert not re.search(r"as in \w+(Boost|Classifier|Regressor)", body), f"{name}: elsewhere"
    section = (inspect.getdoc(kind) or "").split("Parameters\n----------\n")[1].split("\n\n")[0]
    heads = [line for line in section.splitlines() if not line.startswith(" ")]
    assert [line for line in heads if line.split(" : ")[0] not in known] == []
