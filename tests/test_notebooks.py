"""The notebooks are those of the pages that they are written from, whose examples are tested."""

import importlib.util
import json
from types import ModuleType

import pytest

from tests.markdown import DOCS, HOUSE, python_blocks

NOTEBOOKS = HOUSE / "examples" / "notebooks"


@pytest.fixture(scope="module")
def make() -> ModuleType:
    path = HOUSE / "examples" / "make_notebooks.py"
    spec = importlib.util.spec_from_file_location("make_notebooks", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_notebooks_are_up_to_date(make: ModuleType) -> None:
    """`python examples/make_notebooks.py` writes them anew."""
    for name, page in make.PAGES.items():
        assert (NOTEBOOKS / f"{name}.ipynb").read_text(encoding="utf-8") == make.written(page)
    assert {path.stem for path in NOTEBOOKS.glob("*.ipynb")} == set(make.PAGES)


def test_cells_are_the_blocks_that_are_tested(make: ModuleType) -> None:
    for name, page in make.PAGES.items():
        cells = json.loads((NOTEBOOKS / f"{name}.ipynb").read_text(encoding="utf-8"))["cells"]
        code = [cell["source"][0] for cell in cells if cell["cell_type"] == "code"]
        blocks = list(python_blocks((DOCS / f"{page}.md").read_text(encoding="utf-8")))
        assert code == [block.code.rstrip("\n") for block in blocks]
        outputs = [cell["outputs"] for cell in cells if cell["cell_type"] == "code"]
        assert [bool(output) for output in outputs] == [b.printed is not None for b in blocks]
