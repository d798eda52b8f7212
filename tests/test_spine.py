"""The spine: the files that lead through a fit are few, short and plain (docs/spine.md)."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.public import estimators

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "pacboost"
PAGE = (ROOT / "docs" / "spine.md").read_text(encoding="utf-8")
FILES = re.findall(r"^\| `src/pacboost/([a-z_/]+\.py)` \|", PAGE, flags=re.MULTILINE)
MAX_FILES, MAX_LINES = 16, 3_200
MAX_FUNCTION_LINES, MAX_PARAMETERS = 60, 8
MAX_ANCESTORS = 3
MIXINS = ("CallbackSupportMixin", "Boosted", "TrialParameters")
"""One that scikit-learn 1.9 has, one of a single method, and one of fields alone."""
FEATURES = (
    "cuda", "cluster", "remote", "text", "words", "sparse", "copies", "sketch.py", "straight_lines",
    "pairs", "oracles", "lab", "theory",
)  # fmt: skip

LONG_FUNCTIONS: set[tuple[str, str]] = set()
MANY_PARAMETERS: set[tuple[str, str]] = set()
IMPORTS_OF_FEATURES: set[tuple[str, str]] = set()
FUNCTION_FIELDS: set[tuple[str, str]] = set()
MORE_ANCESTORS = {"MajorityOfBoosters", "BaggedBoost", "SubsampledBoost", "ThreeLearnerBoost"}
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
    """Imports, when a spine file is loaded, of modules that are named after a feature.

    A function may import a feature where a table, a recipe or an option asks for it.
    """
    for file in FILES:
        for module in loaded_modules(tree_of(file)):
            if any(feature in f"{module}.py" for feature in FEATURES):
                yield file, module


def loaded_modules(tree: ast.Module) -> Iterator[str]:
    """The modules of ours that are imported at the top of a file."""
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("pacboost"):
            assert node.module is not None
            for path in (node.module, *(f"{node.module}.{alias.name}" for alias in node.names)):
                if (ROOT / "src" / f"{path.replace('.', '/')}.py").exists():
                    yield path


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


@pytest.mark.parametrize(("name", "kind"), estimators().items())
def test_an_estimator_has_at_most_three_ancestors_of_ours(name: str, kind: type) -> None:
    ours = [base.__name__ for base in kind.__mro__[1:] if base.__module__.startswith("pacboost.")]
    ours = [name for name in ours if name not in MIXINS]
    assert len(ours) <= MAX_ANCESTORS + (name in MORE_ANCESTORS), ours
