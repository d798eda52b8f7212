"""Random tests that can be repeated, any order of tests, and a table of how often bounds failed."""

import gc
import inspect
import random
import signal
from collections.abc import Generator, Iterator
from functools import partialmethod
from pathlib import Path
from typing import Any

import pytest
from _pytest.doctest import DoctestModule
from click.testing import CliRunner, Result

from pacboost.models import calibration
from pacboost.samples import sample
from tests import examples
from tests.bounds.coverage import COUNTS, HEADER

collect_ignore = ["kernels/cuda_on_cpu"]  # a program with a stand-in for CuPy

if "mix_stderr" in inspect.signature(CliRunner).parameters:  # before click 8.2
    CliRunner.__init__ = partialmethod(CliRunner.__init__, mix_stderr=False)  # type: ignore
    Result.output = property(lambda result: result.stdout + result.stderr)  # type: ignore


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--order", help="'reversed', or a number by which tests are put in any order")


def pytest_configure(config: pytest.Config) -> None:
    """Try the same random examples in every quick run, and new ones in ``make slow``."""
    examples.choose(slow=is_slow(config))
    gc.disable()  # until all tests are collected, which makes millions of objects that stay


def pytest_collection_finish() -> None:
    """Collect garbage again, but do not look through what was made so far."""
    gc.freeze()
    gc.enable()


def pytest_unconfigure() -> None:
    gc.unfreeze()  # what stays frozen when Python ends is taken for a leak by compiled modules


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path: Path) -> Generator[None, list[Any], list[Any]]:
    """Look for examples in docstrings only of files that have some."""
    collected = yield
    some = file_path.suffix == ".py" and ">>> " in file_path.read_text(encoding="utf-8")
    return [one for one in collected if some or not isinstance(one, DoctestModule)]


def is_slow(config: pytest.Config) -> bool:
    """Check whether slow tests were asked for."""
    asked = str(config.getoption("markexpr"))
    return "slow" in asked and "not slow" not in asked


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    order = config.getoption("order")
    if order == "reversed":
        items.reverse()
    elif order is not None:
        random.Random(int(order)).shuffle(items)


@pytest.fixture
def isotonic_from_few_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let estimators fit isotonic curves to fewer rows than they would."""
    monkeypatch.setattr(calibration, "ROWS_FOR_ISOTONIC", 0)


@pytest.fixture(autouse=True, scope="session")
def hear_interrupts() -> Iterator[None]:
    """Let Ctrl-C raise, also where the tests were started with it ignored, as by ``nohup … &``.

    Python then installs no handler, and neither do the processes that tests start, so tests that
    interrupt themselves would wait for ever.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if not COUNTS:
        return
    terminalreporter.section("coverage of bounds on worlds with known risk")
    terminalreporter.write_line(HEADER)
    for count in sorted(COUNTS, key=lambda count: (count.twin, count.name)):
        terminalreporter.write_line(str(count))


@pytest.fixture(scope="module")
def keep_sparse() -> Iterator[None]:
    """Learn from sparse tables of any size as from those that are not small."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sample, "MAX_DENSE_COLUMNS", -1)
        yield
