"""``pacboost doctor``: check the installation."""

from __future__ import annotations

import platform
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec

import click

from pacboost import __version__
from pacboost.cli import options
from pacboost.cli.group import THE_ANSWER_IS_NO

REQUIRED = ("numpy", "scipy", "scikit-learn", "narwhals", "rich", "click")
EXTRAS = {
    "pyarrow": ("files", "reads Parquet and Feather files, and larger text files"),
    "pandas": ("frames", "reads pandas tables"),
    "polars": ("frames", "reads polars tables"),
    "duckdb": ("sql", "boosts from DuckDB"),
    "matplotlib": ("plots", "draws"),
    "onnx": ("onnx", "exports to ONNX"),
    "starlette": ("lab", "serves the lab"),
    "uvicorn": ("lab", "serves the lab"),
}


@click.command(epilog=options.example("pacboost doctor"))
@options.as_json
def command(as_json: bool) -> None:
    """Check versions, cores, compiled code, and optional packages.

    The exit code is 1 if something does not work.
    """
    from pacboost.cli.output import answer, working
    from pacboost.reports.text import grid

    with working("checking the installation"):
        checked = list(findings())
    well = all(mark is not False for _, mark, _ in checked)
    marks = {True: "ok", False: "FAILS", None: "–"}
    entries = [
        {"name": name, "well": mark is not False, "words": words, "mark": mark}
        for name, mark, words in checked
    ]
    shown = grid([(f"{marks[mark]:>5}  {name}", words) for name, mark, words in checked])
    last = "Everything works." if well else "Something does not work: see the lines marked FAILS."
    answer(as_json, {"well": well, "findings": entries}, shown, "", last)
    if not well:
        sys.exit(THE_ANSWER_IS_NO)


Finding = tuple[str, bool | None, str]
"""What was checked, whether it works (None: an optional part is absent), and a description."""


def findings() -> Iterator[Finding]:
    """Run the checks, one after the other."""
    machine = f"{platform.system()} {platform.machine()}"
    yield "pacboost", True, f"{__version__}, Python {platform.python_version()}, {machine}"
    for name in REQUIRED:
        try:
            yield name, True, version(name)
        except PackageNotFoundError:
            yield name, False, f"is missing: pip install {name}"
    yield _kernels()
    yield _gpu()
    for name, (extra, use) in EXTRAS.items():
        if find_spec(name) is None:
            yield name, None, f"not installed ({use}): pip install 'pacboost[{extra}]'"
        else:
            yield name, True, f"{version(name)} ({use})"


def _gpu() -> Finding:
    from pacboost.kernels.device import describe, what_is_missing

    missing = what_is_missing()
    return ("GPU", None, f"none is used: {missing}") if missing else ("GPU", True, describe())


def _kernels() -> Finding:
    """Fit three rounds on ten points, for which the votes are known."""
    name = "compiled code"
    try:
        from pacboost.estimators.boosting.adaboost import AdaBoostClassifier
        from pacboost.kernels.native import native
        from pacboost.parallel.cores import cores
        from pacboost.sources.toy import lecture_points

        X, y = lecture_points()
        model = AdaBoostClassifier(n_estimators=3).fit(X, y)
        # ½ ln of 7/3, 11/3 and 19/3: the errors 3/10, 3/14 and 3/22 of the lecture's ten points
        right = [f"{vote:.4f}" for vote in model.votes_] == ["0.4236", "0.6496", "0.9229"]
    except Exception as problem:  # any error is a finding
        return name, False, f"{type(problem).__name__}: {problem}"
    if not right:
        return name, False, f"a known fit gave {model.votes_}"
    level = native.__name__.rpartition("_")[2]
    return name, True, f"a known fit is right; compiled for {level}, {cores()} cores"
