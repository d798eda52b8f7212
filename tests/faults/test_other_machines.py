"""The same bytes where BLAS, NumPy and the processor compute other last bits."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest

from pacboost.numerics import same_bits
from pacboost.numerics.same_bits import erfc, solved
from tests.levels import levels_here
from tests.recorded_models import MODELS, digest

ROOT = Path(__file__).parents[2]
KINDS = (
    "erlp stump two", "total stump two", "soft stump two", "soft tree several", "brown stump two",
    "majority stump two", "projection tree many", "logit tree many", "adaboost tree many",
    "FilterBoostClassifier projection", "absolute early stopping", "trees sigmoid",
    "trees temperature", "text early stopping",
)  # fmt: skip


def nudged(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function whose results are off by one in the last bit, as a build's may be."""

    def nudging(*arguments: Any, **named: Any) -> Any:
        result = function(*arguments, **named)
        return np.nextafter(result, np.inf, **{k: v for k, v in named.items() if k == "out"})

    return nudging


@pytest.fixture
def another_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("exp", "log", "log2", "log1p", "expm1", "logaddexp"):
        monkeypatch.setattr(np, name, nudged(getattr(np, name)))
    monkeypatch.setattr(np.linalg, "solve", nudged(np.linalg.solve))


BEFORE: dict[str, str] = {}


@pytest.fixture(scope="module", autouse=True)
def computed_before() -> None:
    BEFORE.update({kind: digest(MODELS[kind]) for kind in KINDS})


@pytest.mark.usefixtures("another_numpy")
@pytest.mark.parametrize("kind", KINDS)
def test_last_bits_of_numpy_do_not_reach_a_model(kind: str) -> None:
    assert np.exp(1.0) > np.e
    assert digest(MODELS[kind]) == BEFORE[kind]


SCRIPT = """
import json, sys
from tests.recorded_models import MODELS, digest
print(json.dumps({kind: digest(MODELS[kind]) for kind in json.loads(sys.argv[1])}))
"""


def elsewhere(variables: dict[str, str], kinds: tuple[str, ...]) -> dict[str, str]:
    """Fit in a process with other environment variables."""
    environment = {
        **os.environ,
        **variables,
        "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)]),
    }
    command = [sys.executable, "-W", "ignore", "-c", SCRIPT, json.dumps(kinds)]
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, check=True, cwd=ROOT
    )
    result: dict[str, str] = json.loads(done.stdout)
    return result


@pytest.mark.slow
@pytest.mark.parametrize(
    "variables",
    [
        {"OPENBLAS_NUM_THREADS": "2"},
        {"OPENBLAS_CORETYPE": "ARMV8" if os.uname().machine == "aarch64" else "Haswell"},
        *({"PACBOOST_LEVEL": level} for level in levels_here()),
    ],
    ids=str,
)
def test_every_kind_has_the_same_bytes_elsewhere(variables: dict[str, str]) -> None:
    every = tuple(MODELS)
    assert elsewhere(variables, every) == {kind: digest(MODELS[kind]) for kind in every}


def test_our_functions_are_as_exact_as_the_library() -> None:
    random = np.random.default_rng(0)
    x = np.concatenate([random.uniform(-700, 700, 2000), random.uniform(-1, 1, 2000)])
    np.testing.assert_array_max_ulp(same_bits.exp(x), np.exp(x), 2)
    y = np.concatenate([np.exp(x), random.uniform(0.5, 2, 2000), [5e-324, 1.7e308]])
    np.testing.assert_array_max_ulp(same_bits.log(y), np.log(y), 2)
    np.testing.assert_allclose(same_bits.log2(y), np.log2(y), rtol=4e-16, atol=4e-16)
    np.testing.assert_array_max_ulp(same_bits.softplus(x), np.logaddexp(0, x), 4)
    small = np.concatenate(
        [x / 1000, random.normal(size=2000) * 1e-9, random.uniform(-0.99, 9, 2000)]
    )
    np.testing.assert_array_max_ulp(same_bits.log1p(small), np.log1p(small), 4)
    np.testing.assert_array_max_ulp(same_bits.expm1(small), np.expm1(small), 4)
    special = np.array([0.0, np.inf, -1.0, np.nan])
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(same_bits.log(special), np.log(special))
    special = np.array([-np.inf, np.inf, np.nan])
    np.testing.assert_array_equal(same_bits.exp(special), np.exp(special))


def test_the_error_function_is_as_exact_as_doubles_allow() -> None:
    with mpmath.workdps(40):
        for x in np.random.default_rng(1).uniform(-6, 26, 300).tolist():
            truth = mpmath.erfc(x)
            assert abs((float(erfc(x)) - truth) / truth) < 1e-15


def test_equations_are_solved() -> None:
    random = np.random.default_rng(2)
    for size in (1, 2, 7, 40):
        rows = random.normal(size=(size, 2 * size))
        matrix, x = rows @ rows.T, random.normal(size=(size, 2))
        np.testing.assert_allclose(solved(matrix, matrix @ x), x, rtol=1e-7, atol=1e-7)


def test_a_sum_does_not_depend_on_where_numbers_lie_in_memory() -> None:
    numbers = np.random.default_rng(3).normal(size=(1001, 3))
    apart, together = numbers[:, 1], numbers[:, 1].copy()
    assert same_bits.total(apart) == same_bits.total(together)
    assert same_bits.total(together) == pytest.approx(together.sum(), abs=1e-12)
