"""A first fit says that it compiles, if somebody waits for it."""

import io
import operator
import os
import signal
import subprocess
import sys
import types
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest
from numba.core.compiler import Flags
from numba.core.registry import cpu_target
from numba.extending import intrinsic

from pacboost.kernels.runtime import compile_note, disk_cache, jit
from pacboost.numerics import interactive

private = pytest.mark.skipif(
    not jit.HAS_ENTRIES, reason="other versions of numba compile in their own way"
)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compile_note, "_said", set())


@private
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
        jit.compiler.CompileListener().on_start(heard)
    assert screen.getvalue() == ""
    compile_note.say_to_a_person()
    compile_note.say_to_a_person()
    assert screen.getvalue() == ("" if reader == "nobody" else compile_note.NOTE + "\n")


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

    assert stderr().count(compile_note.NOTE) == 1
    assert compile_note.NOTE not in stderr()


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
    pressed: list[int] = []

    @intrinsic  # type: ignore[untyped-decorator]
    def press(typing: Any, x: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            signal.raise_signal(signal.SIGINT)
            pressed.append(1)
            return values[0]

        return x(x), generate

    compiled: Any = jit.kernel(lambda x: press(x) + x)
    with pytest.raises(KeyboardInterrupt):
        compiled(3)
    assert (pressed, len(compiled.overloads), compiled(3)) == ([1], 1, 6)


@pytest.fixture(autouse=True)
def _nothing_on_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disk_cache, "is_safe", lambda folder: False)


@private
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
    assert not isinstance(form.library, jit.compiler.PartLibrary)
    part: Any = twice
    (form,) = part.overloads.values()
    assert isinstance(form.library, jit.compiler.PartLibrary)
    assert form.library.get_pointer_to_function(form.fndesc.llvm_func_name) == 0


@private
def test_options_and_operators_of_kernels_are_those_of_numba() -> None:
    flags = Flags()
    flags.nrt, flags.error_model = True, "numpy"
    ours = jit.compiler.KernelFlags(flags)
    assert ours.values() == flags.values()
    assert (ours == flags, hash(ours) == hash(flags)) == (True, True)
    flags.nrt = False
    assert ours != flags

    original = cpu_target.typing_context
    typing = jit.compiler.typing_of_kernels(original)
    assert typing is jit.compiler.typing_of_kernels(original)
    numbers = numba.types.int64, numba.types.uint8
    for operation in (operator.add, operator.lt, operator.getitem):
        args = numbers if operation is not operator.getitem else (numba.int64[::1], numbers[0])
        found = typing.resolve_value_type(operation).get_call_type(typing, args, {})
        again = typing.resolve_value_type(operation).get_call_type(typing, args, {})
        assert found is again
        assert found == original.resolve_value_type(operation).get_call_type(original, args, {})
    assert typing.resolve_value_type(min) is original.resolve_value_type(min)
