"""Kernels, the parts that they are made of, and kernels called by their address."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numba import float64, int64
from numba.types import UniTuple

from pacboost.kernels.runtime import jit
from pacboost.kernels.runtime.entry import address_of, caller
from pacboost.kernels.runtime.lean_compiler import LEAN, LeanCompiler, PartLibrary, QuickFlags

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


def test_options_are_equal_if_they_were_set_alike() -> None:
    first, second = QuickFlags(), QuickFlags()
    first.nrt = second.nrt = True
    assert first == second.copy()
    assert hash(first) == hash(second.copy())
    second.nrt = False
    assert first != second
    assert first != "flags"


@only_lean
def test_passes_that_kernels_do_not_need_are_left_out() -> None:
    @jit.kernel
    def one() -> int:
        return 1

    assert one() == 1
    compiled: Any = one
    (form,) = compiled.overloads.values()
    (times,) = form.metadata["pipeline_times"].values()
    names = " ".join(times)
    assert "plain_lowering" in names
    assert "inline_closure_likes" not in names
    assert issubclass(compiled._compiler.pipeline_class, LeanCompiler)
