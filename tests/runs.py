"""How many runs a simulation has: few in the quick suite, all of them in ``make slow``."""

from collections.abc import Callable
from typing import Any

import pytest


def several_runs(quick: int, many: int) -> Callable[[Callable[..., None]], Any]:
    """Return a test its number of ``runs``, once with each number.

    The few have to be enough for the test to reject its broken twin, or a bound that fails almost
    always, as those that the test was written against did.
    """
    return pytest.mark.parametrize("runs", [quick, pytest.param(many, marks=pytest.mark.slow)])
