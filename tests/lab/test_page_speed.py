"""The page is small and quick: its size, its first paint, and what a frame of scrubbing costs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import resources
from pathlib import Path

import pytest

from pacboost.lab.app import Lab
from tests.lab.lab_browser import LabBrowser

PAGE = Path(str(resources.files("pacboost.lab"))) / "page"
FILES = sorted(path for path in PAGE.iterdir() if path.suffix in {".js", ".css", ".html"})
FRAMES = 120
SCRUB = f"""(async () => {{
  for (let k = 0; k < {FRAMES}; k++) {{
    lab.goto(1 + k % 60);
    await new Promise(done => requestAnimationFrame(done));
  }}
}})()"""


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LabBrowser]:
    with LabBrowser(tmp_path_factory.mktemp("chromium")) as found:
        yield found


def test_the_page_is_small_and_names_no_other_place() -> None:
    assert len(FILES) > 20
    assert sum(path.stat().st_size for path in FILES) < 300_000
    for path in FILES:
        text = path.read_text(encoding="utf-8")
        assert set(re.findall(r"https?://[^\"'` ]+", text)) <= {"http://www.w3.org/2000/svg"}
        assert len(text.splitlines()) <= 330


def test_first_paint(browser: LabBrowser, lab_server: Lab) -> None:
    browser.visit(lab_server.address)
    times = []
    for _ in range(3):
        browser.visit(lab_server.origin + "/")
        times.append(
            browser.run("performance.getEntriesByName('first-contentful-paint')[0].startTime")
        )
    assert min(times) < 1000


def main_thread(process: int) -> float:
    """Sum the seconds that main threads of the browser's renderers have worked."""
    total = 0
    for folder in Path("/proc").iterdir():
        try:
            line = (folder / "cmdline").read_text()
            words = (folder / "stat").read_text().rpartition(")")[2].split()
            if "--type=renderer" not in line or int(words[2]) != process:
                continue
            own = (folder / "task" / folder.name / "stat").read_text().rpartition(")")[2].split()
            total += int(own[11]) + int(own[12])
        except OSError:
            continue
    return total / 100


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="reads times of threads in /proc")
def test_scrubbing_leaves_time_for_sixty_frames_a_second(
    browser: LabBrowser, lab_server: Lab
) -> None:
    """The main thread works less than 16.7 ms for a frame of 1,000 points, not counting waits."""
    run = "{...lab.state.lanes[0].run, data: {kind: 'moons', n: 1000, noise: 0.1}}"
    browser.start(lab_server, f"{{lanes: [{{run: {run}, at: 0}}], rounds: 60}}")
    browser.settle(1.0)
    before = main_thread(browser._process)
    browser.ask("Runtime.evaluate", expression=SCRUB, awaitPromise=True)
    spent = main_thread(browser._process) - before
    assert spent > 0
    assert spent / FRAMES < 1 / 60
