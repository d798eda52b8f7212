"""The oldest versions that pyproject.toml admits, as constraints for pip.

python -m tests.oldest > oldest.txt
"""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
EXTRAS = ("files", "frames", "sql", "onnx", "dask", "lab", "plots", "test")
"""What users and the tests need; tools for developers may be of any version."""


def requirements() -> Iterator[tuple[str, str]]:
    """Return the name of every dependency, and what is asked of its version."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    asked = [*project["dependencies"]]
    for extra in EXTRAS:
        asked += project["optional-dependencies"][extra]
    for requirement in asked:
        name, version = re.fullmatch(r"([\w.-]+)(?:\[[\w,]+\])?(.*)", requirement).groups()  # type: ignore[union-attr]
        if name != "pacboost":
            yield name, version


def constraints() -> list[str]:
    """Return a constraint for every dependency."""
    return sorted(
        {
            f"{name}=={version.partition(',')[0].removeprefix('>=')}"
            for name, version in requirements()
        }
    )


if __name__ == "__main__":
    print("\n".join(constraints()))  # noqa: T201
