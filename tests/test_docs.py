"""What is written holds: links lead somewhere, files that are named exist, examples run."""

import contextlib
import io
import re
import shutil
import subprocess
from concurrent.futures import ProcessPoolExecutor
from inspect import ismodule
from multiprocessing import get_context
from pathlib import Path

import pytest

import pacboost
from pacboost.sources.toy import write_calls
from tests.data import HOME
from tests.markdown import (
    DOCS,
    HOUSE,
    dead_links,
    links,
    pages,
    python_blocks,
    shown_commands,
    tables,
)
from tests.record_pages import as_shown, folder_of_commands, output_of

MAPS = (DOCS / "lectures.md", DOCS / "proofs" / "index.md")
DATA = {
    "text.md": ("banking77", "ml_bibtex"),
    "decisions-you-can-defend.md": ("kddcup99", "credit_default"),
}
"""Sets that the examples of a page read, as folders where they run."""
PACKAGES = {"export.md": "onnx"}
"""What an example needs beyond what tests need anyway."""
SLOW = {"text.md", "larger_than_memory.md"}


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(HOUSE)))
def test_links_lead_somewhere(page: Path) -> None:
    assert list(dead_links(page)) == []


def test_dead_links_are_found(tmp_path: Path) -> None:
    page = tmp_path / "made_up.md"
    page.write_text(
        "# A page\n\n[fine](#a-page), [fine too](made_up.md#a-page), [elsewhere](https://a.b/c.md)\n"
        "`[code](is/no.link)`\n\n[gone](gone.md), [no\nheading](#gone), ![no picture](gone.png)\n"
    )
    assert [dead.split(": ")[1] for dead in dead_links(page)] == ["gone.md", "#gone", "gone.png"]


@pytest.mark.parametrize("page", MAPS, ids=lambda page: page.stem)
def test_named_files_exist(page: Path) -> None:
    """Every line of a map says which file holds it or which page shows it, and what guards it."""
    lines = 0
    for head, *rows in tables(page.read_text(encoding="utf-8")):
        if head[-1] != "guarded by":
            continue
        for row in rows:
            code, tests = paths(" ".join(row[:-1])), paths(row[-1])
            assert tests, f"{row[0]}: what guards it?"
            assert [f for f in code if not (HOUSE / "src" / "pacboost" / f).exists()] == []
            assert [f for f in tests if not (HOUSE / "tests" / f).exists()] == []
            lines += 1
    assert lines


def test_pictures_are_shown() -> None:
    shown = {there for page in pages() for _, there, _ in links(page)}
    pictures = {picture for picture in DOCS.rglob("*.png") if "_build" not in picture.parts}
    assert pictures <= shown, pictures - shown
    drawn = {script.with_suffix(".png") for script in (DOCS / "gallery").glob("*.py")}
    assert drawn == {picture for picture in pictures if picture.parent.name == "gallery"}


def test_every_proof_is_listed() -> None:
    listed = re.findall(
        r"^\| \[\w+\]\((\w+)\.md\)", MAPS[1].read_text(encoding="utf-8"), re.MULTILINE
    )
    assert sorted([*listed, "index"]) == sorted(page.stem for page in MAPS[1].parent.glob("*.md"))


def test_every_public_name_has_its_page() -> None:
    text = (DOCS / "api.md").read_text(encoding="utf-8")
    listed = re.findall(r"^   (\w+)$", text, re.MULTILINE)
    rooms = (pacboost, pacboost.boosters, pacboost.learners, pacboost.theory)
    names = {name for room in rooms for name in room.__all__}
    modules = {name for room in rooms for name in room.__all__ if ismodule(getattr(room, name))}
    assert sorted(listed) == sorted(names - modules - {"PacboostError"})
    assert text.count(":toctree: api") >= 6  # a page for each class, with its methods


def test_every_name_of_the_theory_has_a_line() -> None:
    (table,) = tables((DOCS / "instruments.md").read_text(encoding="utf-8"))
    listed = [name for row in table[1:] for name in re.findall(r"`(\w+)`", row[0])]
    assert sorted(listed) == sorted(pacboost.theory.__all__)


def test_the_readme_is_short_and_says_when_to_use_something_else() -> None:
    text = (HOUSE / "README.md").read_text(encoding="utf-8")
    assert len(text.split()) < 1750
    assert len(text.splitlines()) <= 110
    order = ("certify(model", "sentence_)", "Use something else if", "## Install")
    assert sorted(order, key=text.index) == list(order)
    tasks = {page.stem for page in (DOCS / "tasks").glob("*.md")}
    assert {"messy_data", "recall", "huge_files", "production"} <= tasks


def paths(cell: str) -> list[str]:
    """Name the Python files that a cell names."""
    return re.findall(r"`([\w/]+\.py)`", cell)


def examples() -> list[object]:
    """Return the pages that have examples, those that take long marked as slow."""
    documented = [page for page in pages() if list(python_blocks(page.read_text(encoding="utf-8")))]
    return [
        pytest.param(
            page,
            id=str(page.relative_to(HOUSE)),
            marks=[pytest.mark.slow] if page.name in SLOW else [],
        )
        for page in documented
    ]


@pytest.mark.parametrize("page", examples())
def test_examples_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The blocks of a page run one after the other, and print what the page says they print."""
    if page.name in PACKAGES:
        pytest.importorskip(PACKAGES[page.name])
    for name in DATA.get(page.name, ()):
        if not (HOME / name).exists():
            pytest.skip(f"needs the data set {name}; set PACBOOST_DATA to the folder that has it")
        (tmp_path / name).symlink_to(HOME / name)
    monkeypatch.chdir(tmp_path)
    if page.name == "larger_than_memory.md":  # the memory of its process is what it is about
        with ProcessPoolExecutor(1, get_context("spawn")) as alone:
            alone.submit(run_examples, page).result()
    else:
        run_examples(page)


def run_examples(page: Path) -> None:
    names: dict[str, object] = {"__name__": "example"}
    for block in python_blocks(page.read_text(encoding="utf-8")):
        place = f"{page.name}:{block.line}"
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            exec(compile(block.code, place, "exec"), names)
        if block.printed is not None:
            assert words(output.getvalue()) == words(block.printed), place


CONSOLE = ("index.md", "start.md", "cli.md")
"""The pages whose commands run on the files of ``examples``; others show commands on any file."""


@pytest.mark.parametrize("name", CONSOLE)
def test_commands_print_what_pages_say(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``python -m tests.record_pages docs/start.md`` writes a page anew."""
    folder_of_commands(tmp_path)
    monkeypatch.chdir(tmp_path)
    compared = 0
    for shown in shown_commands((DOCS / name).read_text(encoding="utf-8")):
        output = output_of(shown.command)
        if shown.printed.strip():
            assert words(as_shown(shown, output)) == words(shown.printed), shown.command
            compared += 1
    assert compared


def words(text: str) -> list[str]:
    """Split what was printed; fingerprints, which any other bit of a ledger changes, are alike."""
    return re.sub(r"\b[0-9a-f]{16}\b", "fingerprint", text).split()


def test_files_of_commands_are_there() -> None:
    """A reader who copies a command of the first pages has the file that it fits."""
    for page in ("index", "start", "cli", "text"):
        fits = re.findall(r"pacboost fit ([\w/]+\.csv)", (DOCS / f"{page}.md").read_text("utf-8"))
        named = {name for name in fits if name != "rows.csv"}  # which stands for any
        assert [name for name in named if not (HOUSE / "examples" / name).exists()] == []
        assert named


def test_files_of_examples_are_what_their_programs_make(tmp_path: Path) -> None:
    write_calls(tmp_path)
    content = (HOUSE / "examples" / "calls.csv").read_bytes()
    assert (tmp_path / "calls.csv").read_bytes() == content


def test_pages_are_listed_in_the_words_of_users() -> None:
    index = (DOCS / "index.md").read_text(encoding="utf-8")
    for words in ("Recall, precision and other rates", "Regression", "Monitoring", "Glossary"):
        (page,) = re.findall(rf"^{words} <(.+)>$", index, re.MULTILINE)
        assert (DOCS / f"{page}.md").read_text(encoding="utf-8").startswith(f"# {words}")
    assert index.index(":caption: Tasks") < index.index(":caption: Models and certificates")


@pytest.mark.parametrize(
    "word",
    ["time series", "imbalanced", "MAE", "OpenMP", "polars", "serverless", "high cardinality"],
)
def test_a_search_finds_the_words_of_other_libraries(word: str) -> None:
    tasks = [page.read_text(encoding="utf-8") for page in (DOCS / "tasks").glob("*.md")]
    assert any(word in text for text in tasks)


def test_a_search_finds_tasks_before_methods() -> None:
    """The site's own script ranks two pages that fit a search equally well."""
    program = shutil.which("node")
    if program is None:
        pytest.skip("needs node to run the script that ranks pages")
    ranks = "['tasks/recall', 'api/certify'].map(page => Scorer.score([page, '', '', null, 15]))"
    script = (DOCS / "_static" / "search.js").read_text(encoding="utf-8")
    output = subprocess.run([program, "-p", f"{script}; {ranks}.join()"], capture_output=True,
                          text=True, check=True).stdout  # fmt: skip
    task, method = map(int, output.split(","))
    assert task > method
