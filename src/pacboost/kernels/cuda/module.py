"""Compile the .cu files for the GPU at hand, once in a process; CuPy keeps them on disk.

``--fmad=false``: a fused multiply-add rounds once where the CPU rounds twice.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
OPTIONS = ("--fmad=false", "--std=c++17", f"-I{FOLDER}")


def source_of(file: str) -> str:
    """Give the text of a .cu file."""
    return (FOLDER / file).read_text(encoding="utf-8")


@cache
def row_kernel(name: str) -> Any:
    """Give a kernel that passes over rows."""
    return _rows().get_function(name)


@cache
def _rows() -> Any:
    import cupy

    return cupy.RawModule(code=source_of("rows.cu"), options=OPTIONS)


@cache
def encode_kernel(name: str) -> Any:
    """Give a kernel that turns numbers into codes, or reads codes back."""
    return _encode().get_function(name)


@cache
def _encode() -> Any:
    import cupy

    return cupy.RawModule(code=source_of("encode.cu"), options=OPTIONS)


@cache
def predict_kernel() -> Any:
    """Give the kernel that walks rows down trees."""
    import cupy

    return cupy.RawKernel(source_of("predict.cu"), "score", options=OPTIONS)


@cache
def forest_kernel(name: str) -> Any:
    """Give a kernel that grows forests."""
    return _forest().get_function(name)


@cache
def _forest() -> Any:
    import cupy

    return cupy.RawModule(code=source_of("forest.cu"), options=OPTIONS)


@cache
def tree_kernel() -> Any:
    """Give the kernel whose blocks grow a tree together."""
    import cupy

    code = source_of("grow_tree.cu")
    return cupy.RawKernel(code, "grow_tree", options=OPTIONS, enable_cooperative_groups=True)
