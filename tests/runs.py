"""How many runs a simulation has: few in the quick suite, more in ``make slow``.

``make worlds`` gives each world of the attacks 300 runs, or ``RUNS=1000``.
"""

import os
from collections.abc import Callable
from typing import Any

import pytest

RUNS = int(os.environ.get("PACBOOST_RUNS", "0"))


def several_runs(quick: int, many: int) -> Callable[[Callable[..., None]], Any]:
    """Return a test its number of ``runs``, once with each number.

    The few have to be enough for the test to reject its broken twin, or a bound that fails almost
    always, as those that the test was written against did.
    """
    numbers = [RUNS] if RUNS else [quick, pytest.param(many, marks=pytest.mark.slow)]
    runs = pytest.mark.parametrize("runs", numbers)
    return lambda test: pytest.mark.world(runs(test))
