"""Names that hold across the package."""

import ast
from collections import Counter
from pathlib import Path

import pacboost


def test_no_class_name_is_defined_twice() -> None:
    source = Path(pacboost.__file__).parent
    names = Counter(
        node.name
        for path in source.rglob("*.py")
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ClassDef)
    )
    assert {name for name, count in names.items() if count > 1} == set()


def test_no_folder_is_deeper_than_two() -> None:
    source = Path(pacboost.__file__).parent
    assert max(len(path.relative_to(source).parts) for path in source.rglob("*.py")) <= 3
