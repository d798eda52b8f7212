"""A first fit says that it compiles, if somebody waits for it."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numba import float64, int64
from numba.core import event
from numba.types import UniTuple

from pacboost.kernels.runtime import compile_helper, jit
from pacboost.kernels.runtime.entry import address_of, caller
from pacboost.kernels.runtime.jit import CompileNote
from pacboost.kernels.runtime.lean_compiler import LEAN, PartLibrary
from pacboost.kernels.runtime.threads import using
from pacboost.numerics import interactive


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jit, "_said", False)


@pytest.mark.usefixtures("fresh")
@pytest.mark.parametrize("reader", ["terminal", "notebook", "nobody"])
def test_a_person_reads_it_once(reader: str, monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Terminal() if reader == "terminal" else io.StringIO()
    monkeypatch.setattr(sys, "stderr", screen)
    if reader == "notebook":
        shell = types.SimpleNamespace(kernel=object())
        module = types.SimpleNamespace(get_ipython=lambda: shell)
        monkeypatch.setitem(sys.modules, "IPython", module)
        assert interactive.in_notebook()
    for function in (test_a_person_reads_it_once, None):  # kernels of others are not announced
        heard = types.SimpleNamespace(data={"dispatcher": types.SimpleNamespace(py_func=function)})
        CompileNote().on_start(heard)
    assert screen.getvalue() == ""
    jit.say_to_a_person()
    jit.say_to_a_person()
    assert screen.getvalue() == ("" if reader == "nobody" else jit.NOTE + "\n")


PROGRAM = """
import sys
import numpy as np
sys.stderr.isatty = lambda: True
from pacboost.estimators.boosting.adaboost import AdaBoostClassifier
AdaBoostClassifier(n_estimators=1, n_jobs=1).fit(np.arange(8.0)[:, None], np.arange(8) > 3)
"""


@pytest.mark.slow
def test_a_fit_announces_what_it_compiles_and_not_what_it_loads(tmp_path: Path) -> None:
    def stderr() -> str:
        return subprocess.run(
            [sys.executable, "-c", PROGRAM],
            env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)},
            check=True, capture_output=True, text=True,
        ).stderr  # fmt: skip

    assert stderr().count(jit.NOTE) == 1
    assert jit.NOTE not in stderr()


# The first fit of an installation: a second process compiles half, and the fit finds it.

FIT = """
import numpy as np
from numba.core import event

class Compiled(event.Listener):
    def on_start(self, found):
        print(found.data["dispatcher"].py_func.__name__)
    def on_end(self, found):
        pass

event.register("numba:compile", Compiled())
from pacboost import BoostClassifier
from pacboost.kernels.runtime import compile_helper
compile_helper.start(compile_helper.TREES)
X = np.random.default_rng(0).normal(size=(700, 2))
model = BoostClassifier(n_estimators=2, early_stopping=False).fit(X, X[:, 0] > 0)
print("fitted")
compile_helper._helper.wait()
model.predict(X), model.predict(X[:3])
"""
FIT_STUMPS = FIT.replace("TREES", "STUMPS").replace("BoostClassifier", "AdaBoostClassifier")
FIT_STUMPS = FIT_STUMPS.replace(", early_stopping=False", "")


INTERRUPTED = """
import signal, sys
class Pressed:
    def find_spec(self, name, *_):
        if name == "numba.core.typing.templates":
            sys.meta_path.remove(self)
            signal.raise_signal(signal.SIGINT)
sys.meta_path.insert(0, Pressed())
try:
    from pacboost import AdaBoostClassifier
except KeyboardInterrupt:
    from pacboost import AdaBoostClassifier
    print(AdaBoostClassifier(n_estimators=2).fit([[0], [1], [2]], [0, 1, 0]).predict([[1]]))
"""


def test_ctrl_c_while_the_compiler_is_loaded_waits_until_it_is() -> None:
    """Half of numba would stay in ``sys.modules``, and no later fit of the process would work."""
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.returncode) == ("[1]\n", 0), done.stderr


def test_ctrl_c_while_a_kernel_is_compiled_waits_until_it_is() -> None:
    class Pressed(event.Listener):  # type: ignore[misc]
        def on_start(self, found: Any) -> None:
            signal.raise_signal(signal.SIGINT)

        def on_end(self, found: Any) -> None:
            pass

    compiled: Any = jit._compiled(lambda x: x + x)
    with pytest.raises(KeyboardInterrupt), event.install_listener("numba:compile", Pressed()):
        compiled(3)
    assert (len(compiled.overloads), compiled(3)) == (1, 6)


@pytest.fixture
def nothing_compiled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(jit, "_said", False)
    monkeypatch.setattr(compile_helper, "_helper", None)
    return tmp_path


def test_a_note_is_written_and_the_second_process_can_be_ended(
    nothing_compiled: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    compile_helper.start(compile_helper.TREES)
    assert compile_helper.at_work()
    compile_helper.stop()
    assert not compile_helper.at_work()
    assert capsys.readouterr().err.startswith("Note: compiling once for this machine")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("program", "here", "there"),
    [(FIT, "log_costs", "grow_tree"), (FIT_STUMPS, "masses", "largest_edges")],
)
def test_the_fit_compiles_nothing_that_the_second_process_has_compiled(
    tmp_path: Path, program: str, here: str, there: str
) -> None:
    ready = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", program], env=ready, check=True, capture_output=True, text=True
    )
    compiled, later = done.stdout.split("fitted")
    assert here in compiled
    assert there not in compiled
    assert "give_values" not in compiled  # the first fit does without: training/run/quick.py
    assert program is not FIT or later.split() == []


@pytest.mark.parametrize("count", [1, 2])
def test_one_thread_has_no_second_process(
    nothing_compiled: Path, monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    started: list[int] = []
    monkeypatch.setattr(compile_helper, "person_waits", lambda: True)
    monkeypatch.setattr(compile_helper, "start", lambda rules: started.append(count))
    with using(count):
        compile_helper.start_for_a_person(compile_helper.TREES)
    assert started == ([] if count == 1 else [2])


# Kernels, the parts that they are made of, and kernels called by their address.

only_lean = pytest.mark.skipif(not LEAN, reason="other versions of numba compile in their own way")


@pytest.fixture(autouse=True)
def _nothing_on_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jit, "keep_on_disk", lambda compiled: None)


@only_lean
def test_a_part_is_linked_into_the_kernels_that_call_it_and_python_may_call_a_kernel() -> None:
    @jit.part_of_kernels
    def twice(x: float) -> float:
        return 2 * x

    @jit.kernel
    def above(x: float) -> float:
        return twice(x) + 1.0

    @jit.kernel
    def sums(values: Any) -> float:
        total = 0.0
        for k in range(values.size):
            total += above(values[k]) + twice(values[k])
        return total

    compiled: Any = sums
    assert sums(np.array([1.0, 2.0])) == 2 * 2 * 3.0 + 2
    assert above(3.0) == 7.0
    (form,) = compiled.overloads.values()
    assert not isinstance(form.library, PartLibrary)
    part: Any = twice
    (form,) = part.overloads.values()
    assert isinstance(form.library, PartLibrary)
    assert form.library.get_pointer_to_function(form.fndesc.llvm_func_name) == 0


def test_a_kernel_can_be_called_by_its_address() -> None:
    kinds = (float64[::1], int64)

    @jit.kernel
    def ends(values: Any, place: int) -> tuple[float, float]:
        return values[0], values[place]

    ends_at = caller(UniTuple(float64, 2), kinds)

    @jit.kernel
    def difference(address: int, values: Any) -> float:
        first, last = ends_at(address, values[1:], values.size - 2)
        return float(last - first)

    address = address_of(ends, kinds)
    assert address == address_of(ends, kinds) > 0
    assert difference(address, np.array([1.0, 2.0, 5.0])) == 3.0
    compiled: Any = difference
    (form,) = compiled.overloads.values()
    assert "ends" not in " ".join(
        function.name for function in form.library.get_defined_functions()
    )
