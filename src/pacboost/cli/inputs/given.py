"""Options of the command line as parameters of an estimator."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from pacboost.estimators.parameters.table import PARAMS


def given(kind: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of a class that options with their names have set.

    >>> given("BoostClassifier", {"quality": "fast", "derive": None, "epsilon": 0.1, "seed": 3,
    ... "jobs": 1})["quality"]
    'fast'
    """
    named = {name: arguments.get(name) for name in (p.name for p in PARAMS if kind in p.of)}
    named |= {"random_state": arguments["seed"], "n_jobs": arguments["jobs"]}
    # progress is for people: nothing of it goes into a file or a pipe
    named["verbose"] = sys.stderr.isatty()
    return {name: value for name, value in named.items() if value is not None}
