"""Compile ahead, in a process of its own, what a first fit of trees needs last.

Compiling takes one core and some fifteen seconds, once for an installation, and a fit asks for its
kernels one after the other. If another process starts with those that come late, both meet in the
middle: what is compiled goes to the cache on disk, where the fit finds it.
"""

from __future__ import annotations

from typing import Any

from numba.core.sigutils import normalize_signature

from pacboost.kernels import best_split, grow, plain_split, routing, walk

LATE: tuple[tuple[Any, str], ...] = (
    (
        best_split.scan,
        "(i8[:,:,::1], i8[:,::1], u1[::1], i8, i8, f8[::1], f8[::1], i8[::1], u1[::1])",
    ),
    (plain_split.scan, "(i8[:,::1], i8[:,::1], u1[::1], i8, i8, f8[::1], i8[::1])"),
    (grow.narrow, "(i8[:,:,:,::1], i8, i8[::1], f8[:,::1], i8, i8)"),
    (
        grow.record,
        "(i8[:,::1], i8[:,::1], u1[:,::1], f8[::1], i8, i8, i8[:,::1], u1[:,::1], f8[::1], "
        "i8[:,::1], i8[::1])",
    ),
    (routing.sides, "(i8[::1], i8[::1], u1[::1], i8, u1[::1])"),
    (routing.part, "(u8[::1], u8, u1[::1], u4[::1], u4[::1], u4[::1])"),
    (routing.part_to_ends, "(u8[::1], u8, u1[::1], u4[::1], u4[::1])"),
    (grow.count, "(u8[:,::1], i8, u4[::1], i8[:,::1], i8[:,:,::1], i8, i8)"),
    (walk.score, "(u1[:,::1], i4[:,::1], u1[:,::1], i8, i8[:,::1], f8[:,::1], i8, f8[:,::1])"),
    (walk.leaves, "(u1[:,::1], i4[:,::1], u1[:,::1], i8, i8, u1[::1])"),
    (routing.label, "(u4[::1], i8[::1], i8[::1], i8, i8, u1[::1])"),
)
"""Kernels and the types of their arguments; the dearest of those that come late is first."""


def compile_late_ones() -> None:
    """Compile them into the cache; one that is there already is only looked up."""
    for kernel, signature in LATE:
        kernel.compile(types(signature))


def types(signature: str) -> tuple[Any, ...]:
    """Read the types of arguments; the cache looks them up in this form, not as text."""
    arguments: tuple[Any, ...] = normalize_signature(signature)[0]
    return arguments


if __name__ == "__main__":
    compile_late_ones()
