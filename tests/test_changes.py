"""The pages of docs/extending are true, and a change is as small as they say.

Whoever adds a booster, a bound or a command should not have to search for the files that know of
it. So each page is applied to a copy of the package, and what it runs, runs there.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from pacboost.kernels.native import native
from tests.diffs import applied, diffs
from tests.markdown import DOCS, HOUSE

ALLOWED = {
    "default": 1, "candidate": 1, "role": 1, "booster": 2, "measure": 1, "loss": 1, "column": 2,
    "learner": 3, "option": 3, "number": 2, "bound": 1, "command": 1,
}  # fmt: skip
"""The largest number of source files that each change may touch."""
PAGES = sorted(page for page in (DOCS / "extending").glob("*.md") if page.stem != "index")
COPY = re.compile(r"^<!-- copy: (skeletons/\S+) to (src/\S+) -->$", re.MULTILINE)
RUN = re.compile(r"^<!-- not run: after the change -->\n```python\n(.*?)^```$", re.M | re.S)
EACH = """
import json, os, sys
import pandas, scipy.optimize, scipy.sparse, scipy.stats, sklearn.isotonic, sklearn.tree
for folder, program in json.load(sys.stdin):
    if not os.fork():
        os.chdir(f"{folder}/elsewhere")
        sys.path.insert(0, f"{folder}/src")
        exec(program, {"__name__": "__main__"})
        print("\\ndone")
        sys.exit()
    if os.wait()[1]:
        sys.exit(folder)
"""
"""Runs each program in a process of its own that has loaded all but the changed package."""


def changed_files(page: str, folder: Path) -> dict[str, str]:
    """Return the source files that a page adds or changes, by their paths, as they are then."""
    files = {path: (folder / skeleton).read_text("utf-8") for skeleton, path in COPY.findall(page)}
    for path, hunks in diffs(page):
        source = files[path] if path in files else (HOUSE / path).read_text(encoding="utf-8")
        files[path] = applied(source, hunks)
    return files


def copied(files: dict[str, str], folder: Path) -> None:
    """Write a package with other files: links to all that stays, and compiled code beside it."""
    kernels = Path("src/pacboost/kernels")
    folders = {parent for path in [*files, str(kernels / "x")] for parent in Path(path).parents}
    for place in sorted(folders - {Path()}):
        (folder / place).mkdir()
        for entry in (HOUSE / place).iterdir():
            path = entry.relative_to(HOUSE)
            if path not in folders and str(path) not in files:
                (folder / path).symlink_to(entry)
    for module in Path(native.__file__).parent.glob("native_*"):  # perhaps in the environment
        if not (folder / kernels / module.name).exists():
            shutil.copy(module, folder / kernels)
    for name, source in files.items():
        (folder / name).write_text(source, encoding="utf-8")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_changes_touch_few_files_and_work(tmp_path: Path) -> None:
    orders = []
    for page in PAGES:
        text, folder = page.read_text(encoding="utf-8"), tmp_path / page.stem
        files = changed_files(text, page.parent)
        assert 0 < len(files) <= ALLOWED[page.stem], page
        assert all((HOUSE / path).exists() for path, _ in diffs(text))
        assert not any((HOUSE / path).exists() for _, path in COPY.findall(text))
        (folder / "elsewhere").mkdir(parents=True)
        copied(files, folder)
        programs = RUN.findall(text)
        assert programs, page
        orders.append([str(folder), "\n".join(programs)])
    # without ``site``, which would put the sources of this clone before every other path
    libraries = sysconfig.get_path("purelib"), sysconfig.get_path("platlib")
    done = subprocess.run(
        [sys.executable, "-S", "-c", EACH],
        input=json.dumps(orders), env={**os.environ, "PYTHONPATH": os.pathsep.join(libraries)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.split().count("done") == len(orders)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_program_needs_its_change(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the change the program fails: it would not notice a change that does nothing."""
    monkeypatch.chdir(tmp_path)
    program = "\n".join(RUN.findall(page.read_text(encoding="utf-8")))
    with pytest.raises((Exception, SystemExit)):
        exec(program, {"__name__": "__main__"})


def test_every_skeleton_is_on_a_page() -> None:
    shown = {there for page in PAGES for there, _ in COPY.findall(page.read_text("utf-8"))}
    there = {f"skeletons/{file.name}" for file in (DOCS / "extending" / "skeletons").glob("*.py")}
    assert shown == there


def test_pages_are_in_the_table() -> None:
    table = (DOCS / "extending" / "index.md").read_text(encoding="utf-8")
    listed = dict(re.findall(r"\]\((\w+)\.md\) \| (\d) \|$", table, re.MULTILINE))
    assert listed == {page.stem: str(ALLOWED[page.stem]) for page in PAGES}
