"""Which cases of a grid quick runs try: marks above the ``parametrize`` of a test.

All other cases are slow:

>>> @each_value
... @pytest.mark.parametrize("rows", [10, 20, 30])
... @pytest.mark.parametrize("learner", ["tree", "stump"])
... def test_fit(learner, rows): ...
>>> [case.id for case in test_fit.pytestmark[0].args[1] if not case.marks]
['tree-10', 'tree-30', 'stump-20']
"""

from collections.abc import Callable, Collection, Sequence
from itertools import product
from typing import Any

import pytest

Case = tuple[int, ...]
"""The place of each value in its list, the list nearest to the test first."""


def each_value(test: Any) -> Any:
    """Try cases until every value has occurred, those of the diagonal first."""
    return _with_one_list(test, _covering)


def one_in(number: int) -> Callable[[Any], Any]:
    """Try the first case of each ``number``."""
    return lambda test: _with_one_list(test, lambda cases: cases[::number])


def _covering(cases: Sequence[Case]) -> set[Case]:
    axes = [sorted(set(axis)) for axis in zip(*cases, strict=True)]
    longest = max(map(len, axes))
    chosen = {tuple(axis[k % len(axis)] for axis in axes) for k in range(longest)}
    missing = {value for case in cases for value in enumerate(case)}
    missing.difference_update(*map(enumerate, chosen))
    for case in cases:
        if not missing.isdisjoint(enumerate(case)):
            chosen.add(case)
            missing.difference_update(enumerate(case))
    return chosen


def _with_one_list(test: Any, choose: Callable[[Sequence[Case]], Collection[Case]]) -> Any:
    lists = [mark for mark in test.pytestmark if mark.name == "parametrize"]
    test.pytestmark = [mark for mark in test.pytestmark if mark.name != "parametrize"]
    names, values = zip(*(_read(*mark.args, **mark.kwargs) for mark in lists), strict=True)
    places = list(product(*(range(len(some)) for some in values)))
    cases = [[some[k] for some, k in zip(values, case, strict=True)] for case in places]
    quick = choose([at for at, case in zip(places, cases, strict=True) if not _is_slow(case)])
    grid = []
    for at, case in zip(places, cases, strict=True):
        marks = [mark for one in case for mark in one.marks]
        if at not in quick:
            marks.append(pytest.mark.slow)
        found = [value for one in case for value in one.values]
        grid.append(pytest.param(*found, marks=marks, id="-".join(one.id for one in case)))
    return pytest.mark.parametrize([name for some in names for name in some], grid)(test)


def _is_slow(case: Sequence[Any]) -> bool:
    return any(mark.name == "slow" for one in case for mark in one.marks)


def _read(names: Any, values: Any, ids: Any = None) -> tuple[list[str], list[Any]]:
    """Return the names and the parameters of a list, with ids like those that pytest makes."""
    names = names.replace(" ", "").split(",") if isinstance(names, str) else list(names)
    made = [one if hasattr(one, "marks") else _parameter(names, one) for one in values]
    if ids is None or callable(ids):
        pairs = [zip(names, one.values, strict=True) for one in made]
        words = ["-".join(_word(*pair, k, ids) for pair in pairs[k]) for k in range(len(made))]
    else:
        words = list(ids)
    return names, [
        pytest.param(*one.values, marks=one.marks, id=one.id or word)
        for one, word in zip(made, words, strict=True)
    ]


def _parameter(names: Sequence[str], value: Any) -> Any:
    return pytest.param(*(value if len(names) > 1 else [value]))


def _word(name: str, value: Any, place: int, ids: Callable[[Any], Any] | None) -> str:
    value = ids(value) if ids else value
    if value is None or isinstance(value, str | int | float | bool):
        return str(value)
    return str(getattr(value, "__name__", f"{name}{place}"))
