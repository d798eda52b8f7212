"""The spine: the files that lead through a fit are few, short and plain (docs/spine.md)."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "pacboost"
PAGE = (ROOT / "docs" / "spine.md").read_text(encoding="utf-8")
FILES = re.findall(r"^\| `src/pacboost/([a-z_/]+\.py)` \|", PAGE, flags=re.MULTILINE)
MAX_FILES, MAX_LINES = 16, 3_200
MAX_FUNCTION_LINES, MAX_PARAMETERS = 60, 8
FEATURES = {"cuda", "cluster", "text", "sparse", "copies", "sketch", "oracles", "theory", "lab"}

LONG_FUNCTIONS: set[tuple[str, str]] = set()
MANY_PARAMETERS: set[tuple[str, str]] = set()
IMPORTS_OF_FEATURES = {
    ("estimators/boosting/certifying.py", "pacboost.samples.sketch"),
    ("estimators/boosting/fit.py", "pacboost.samples.sketch"),
    ("hypotheses/vote.py", "pacboost.sources.sparse"),
    ("models/model.py", "pacboost.samples.sketch"),
    ("models/model.py", "pacboost.sources.text"),
}
FUNCTION_FIELDS: set[tuple[str, str]] = set()
"""What remains to be mended: these sets may only shrink."""


def tree_of(file: str) -> ast.Module:
    return ast.parse((SOURCE / file).read_text(encoding="utf-8"))


def functions(file: str) -> Iterator[ast.FunctionDef]:
    for node in ast.walk(tree_of(file)):
        if isinstance(node, ast.FunctionDef):
            yield node


def body_lines(function: ast.FunctionDef) -> int:
    """The lines of a function without its docstring."""
    assert function.end_lineno is not None
    lines = function.end_lineno - function.lineno + 1
    first = function.body[0]
    if ast.get_docstring(function) is not None:
        assert first.end_lineno is not None
        lines -= first.end_lineno - first.lineno + 1
    return lines


def parameter_count(function: ast.FunctionDef) -> int:
    """The parameters of a function, without self."""
    arguments = function.args
    names = [a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
    return len([name for name in names if name not in ("self", "cls")])


def test_the_list_is_short() -> None:
    assert 0 < len(FILES) == len(set(FILES)) <= MAX_FILES
    lines = [len((SOURCE / file).read_text(encoding="utf-8").splitlines()) for file in FILES]
    assert sum(lines) <= MAX_LINES


@pytest.mark.parametrize(
    "kind", ["long functions", "many parameters", "imports of features", "function fields"]
)
def test_what_remains_to_be_mended_only_shrinks(kind: str) -> None:
    offenders, allowed = {
        "long functions": (long_functions, LONG_FUNCTIONS),
        "many parameters": (many_parameters, MANY_PARAMETERS),
        "imports of features": (imports_of_features, IMPORTS_OF_FEATURES),
        "function fields": (function_fields, FUNCTION_FIELDS),
    }[kind]
    assert set(offenders()) == allowed


def long_functions() -> Iterator[tuple[str, str]]:
    for file in FILES:
        for function in functions(file):
            if body_lines(function) > MAX_FUNCTION_LINES:
                yield file, function.name


def many_parameters() -> Iterator[tuple[str, str]]:
    for file in FILES:
        for function in functions(file):
            if parameter_count(function) > MAX_PARAMETERS:
                yield file, function.name


def imports_of_features() -> Iterator[tuple[str, str]]:
    """Imports of modules that are named after a feature."""
    for file in FILES:
        for node in ast.walk(tree_of(file)):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("pacboost"):
                module = node.module or ""
                names = [module, *(f"{module}.{alias.name}" for alias in node.names)]
                for name in names:
                    if FEATURES & set(name.split(".")):
                        yield file, name
                        break


def function_fields() -> Iterator[tuple[str, str]]:
    """Fields of classes whose type is a function."""
    for file in FILES:
        for node in ast.walk(tree_of(file)):
            if isinstance(node, ast.ClassDef):
                for field in node.body:
                    if isinstance(field, ast.AnnAssign) and "Callable" in ast.unparse(
                        field.annotation
                    ):
                        yield file, ast.unparse(field.target)


def test_files_lead_from_fit_to_a_certificate() -> None:
    assert {"fit/roles.py", "fit/fit.py", "fit/trial.py", "training/run/loop.py"} <= set(FILES)


def diffs() -> list[str]:
    return re.findall(r"```diff\n(.*?)```", PAGE, flags=re.DOTALL)


@pytest.mark.parametrize("number", range(3))
def test_worked_changes_are_of_todays_code(number: int) -> None:
    """All lines that a change removes or leaves are in the file, and it touches at most two."""
    assert len(diffs()) == 3
    parts = re.split(r"^--- a/(\S+)\n\+\+\+ b/\S+\n", diffs()[number], flags=re.MULTILINE)[1:]
    assert 2 <= len(parts) <= 4
    for path, change in zip(parts[::2], parts[1::2], strict=True):
        text = (ROOT / path).read_text(encoding="utf-8")
        changed = text
        for piece in re.split(r"^@@\n", change, flags=re.MULTILINE)[1:]:
            lines = piece.splitlines()
            old = "".join(f"{line[1:]}\n" for line in lines if line[:1] in (" ", "-"))
            new = "".join(f"{line[1:]}\n" for line in lines if line[:1] in (" ", "+"))
            assert changed.count(old) == 1, old
            changed = changed.replace(old, new)
        compile(changed, path, "exec")
