"""``pacboost doctor``: check the installation."""

from __future__ import annotations

import platform
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import click

from pacboost import __version__
from pacboost.cli import options
from pacboost.cli.group import the_answer_is_no

REQUIRED = ("numpy", "scipy", "numba", "scikit-learn", "narwhals", "rich", "click")
EXTRAS = {
    "pandas": ("frames", "reads pandas tables"),
    "polars": ("frames", "reads polars tables"),
    "pyarrow": ("parquet", "reads Parquet files, and files larger than memory"),
    "duckdb": ("sql", "boosts from DuckDB"),
    "matplotlib": ("plots", "draws"),
    "onnx": ("onnx", "exports to ONNX"),
    "starlette": ("lab", "serves the lab"),
    "uvicorn": ("lab", "serves the lab"),
}


@click.command(epilog=options.example("pacboost doctor"))
@options.as_json
def command(as_json: bool) -> None:
    """Check versions, cores, the cache of compiled code, and optional packages.

    The exit code is 1 if something does not work.
    """
    from pacboost.cli.output import print_json, print_parts, working
    from pacboost.reports.text import grid

    with working("checking the installation"):
        found = list(findings())
    well = all(one.well for one in found)
    if as_json:
        print_json({"well": well, "findings": [vars(one) for one in found]})
    else:
        marks = {True: "ok", False: "FAILS", None: "–"}
        print_parts(grid([(f"{marks[f.mark]:>5}  {f.name}", f.words) for f in found]))
        print_parts(
            "",
            "Everything works." if well else "Something does not work: see the lines marked FAILS.",
        )
    if not well:
        raise the_answer_is_no()


@dataclass(frozen=True)
class Finding:
    """The result of one check."""

    name: str
    well: bool
    words: str
    mark: bool | None = True
    """None for an optional package that is not installed."""


def findings() -> Iterator[Finding]:
    """Run the checks, one after the other."""
    yield Finding(
        "pacboost",
        True,
        f"{__version__}, Python {platform.python_version()}, "
        f"{platform.system()} {platform.machine()}",
    )
    yield from map(_required, REQUIRED)
    yield _kernels()
    yield _cache()
    yield _gpu()
    for name, (extra, use) in EXTRAS.items():
        yield _extra(name, extra, use)


def _required(name: str) -> Finding:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return Finding(name, True, version(name))
    except PackageNotFoundError:
        return Finding(name, False, f"is missing: pip install {name}", mark=False)


def _extra(name: str, extra: str, use: str) -> Finding:
    from importlib.metadata import version

    if find_spec(name) is None:
        words = f"not installed ({use}): pip install 'pacboost[{extra}]'"
        return Finding(name, True, words, mark=None)
    return Finding(name, True, f"{version(name)} ({use})")


def _gpu() -> Finding:
    """Return which GPU there is, or what is missing to use one."""
    from pacboost.kernels.cuda.device import describe, what_is_missing

    missing = what_is_missing()
    words = f"none is used: {missing}" if missing else describe()
    return Finding("GPU", True, words, mark=None if missing else True)


def _kernels() -> Finding:
    """Fit three rounds on ten points, for which the votes are known."""
    started = time.perf_counter()
    try:
        from pacboost.estimators.boosting.adaboost import AdaBoostClassifier
        from pacboost.parallel.cores import cores
        from pacboost.sources.toy import ten_points

        X, y = ten_points()
        model = AdaBoostClassifier(n_estimators=3).fit(X, y)
        right = [f"{vote:.4f}" for vote in model.votes_] == ["0.4236", "0.6496", "0.9229"]
    except Exception as problem:  # any error is a finding
        return Finding("compiled code", False, f"{type(problem).__name__}: {problem}", mark=False)
    seconds = time.perf_counter() - started
    if not right:
        return Finding("compiled code", False, f"a known fit gave {model.votes_}", mark=False)
    words = f"works on {cores()} cores; a first fit took {seconds:.1f} s"
    return Finding("compiled code", True, words)


def _cache() -> Finding:
    """Check that the folder of the compiled code can be written to."""
    try:
        from pacboost.kernels.bins import encode

        place = encode.stats.cache_path  # type: ignore[attr-defined]
        if place is None:
            raise OSError("neither the folder of the package nor the user's is writable")
        folder = Path(place)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except (ImportError, OSError) as problem:
        words = f"cannot be written, so every run compiles again ({problem}). Set NUMBA_CACHE_DIR"
        return Finding("cache", False, words, mark=False)
    size = sum(file.stat().st_size for file in folder.glob("*.nb?"))
    return Finding("cache", True, f"{folder}, {size / 1e6:.0f} MB")
