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


def test_a_folder_of_the_large_rooms_shows_at_most_a_dozen_names() -> None:
    source = Path(pacboost.__file__).parent
    folders = [
        folder
        for room in ("estimators", "cli", "training", "models")
        for folder in (source / room, *(source / room).rglob("*"))
        if (folder / "__init__.py").is_file() and folder.name != "commands"  # a catalogue is flat
    ]
    assert len(folders) > 20
    crowded = {
        str(folder.relative_to(source)): len(names)
        for folder in folders
        if len(names := [path for path in folder.iterdir() if not path.name.startswith("_")]) > 12
    }
    assert crowded == {}
