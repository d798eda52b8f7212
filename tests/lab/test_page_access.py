"""Everybody can use the page: axe-core finds nothing, keys suffice, pictures have words."""

from __future__ import annotations

import io
import shutil
import subprocess
import tarfile
from collections.abc import Iterator

import pytest

from pacboost.lab.app import Lab
from tests.lab.lab_browser import LabBrowser

AXE = "axe-core@4.14.0"
STATES = {
    "the lecture": "{rounds: 5, round: 3}",
    "two runs": "{lanes: [0, 1].map(() => ({run: {...lab.state.lanes[0].run,"
    " data: {kind: 'moons'}}, at: 0})), rounds: 10, round: 10, tab: 'compare'}",
}
CHECK = """axe.run(%s, {resultTypes: ['violations']}).then(found => found.violations.map(
  one => one.id + ': ' + one.nodes.slice(0, 3).map(node => node.html.slice(0, 160)).join(' | ')))"""


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory, lab_server: Lab) -> Iterator[LabBrowser]:
    with LabBrowser(tmp_path_factory.mktemp("chromium")) as found:
        yield found


@pytest.fixture(scope="module")
def axe(pytestconfig: pytest.Config) -> str:
    """Fetch axe-core by npm, once; it is no part of the project."""
    assert pytestconfig.cache is not None
    folder = pytestconfig.cache.mkdir("axe-core")
    packed = folder / f"{AXE.replace('@', '-')}.tgz"
    npm = shutil.which("npm")
    if not packed.exists():
        if npm is None:
            pytest.skip("needs npm to fetch axe-core")
        fetch = [npm, "pack", AXE, "--silent"]
        done = subprocess.run(fetch, cwd=folder, capture_output=True, timeout=600, check=False)
        if done.returncode or not packed.exists():
            pytest.skip(f"npm cannot fetch {AXE} here")
    with tarfile.open(fileobj=io.BytesIO(packed.read_bytes())) as archive:
        found = archive.extractfile("package/axe.min.js")
        assert found is not None
        return found.read().decode()


def violations(browser: LabBrowser, axe: str, part: str = "document") -> list[str]:
    if not browser.run("typeof axe === 'object'"):
        browser.ask("Runtime.evaluate", expression=axe)
    answer = browser.ask(
        "Runtime.evaluate", expression=CHECK % part, awaitPromise=True, returnByValue=True
    )
    found: list[str] = answer["result"]["value"]
    return found


@pytest.mark.parametrize(("state", "dark"), [("the lecture", False), ("two runs", True)])
def test_axe_finds_nothing(
    browser: LabBrowser, lab_server: Lab, axe: str, state: str, dark: bool
) -> None:
    browser.start(lab_server, STATES[state], dark=dark)
    assert violations(browser, axe) == []


def test_axe_finds_nothing_in_panels_and_dialogs(
    browser: LabBrowser, lab_server: Lab, axe: str
) -> None:
    browser.start(lab_server, STATES["the lecture"], width=390)
    for tab in ("weights", "planner", "filtering", "instruments"):
        browser.run(f"lab.setTab({tab!r})")
        browser.wait_frames()
        assert (tab, violations(browser, axe, "'#more'")) == (tab, [])
    browser.run("labGuide.begin('toy')")
    assert violations(browser, axe, "'#story'") == []
    browser.click("#stories")
    assert violations(browser, axe, "'#dialog'") == []


def test_the_tree_of_names(browser: LabBrowser, lab_server: Lab) -> None:
    """Chromium's own tree for screen readers: whatever can be used or seen has a name."""
    browser.start(lab_server, STATES["the lecture"])
    browser.until("document.querySelector('canvas.stage').ariaLabel.includes('Heaviest')")
    browser.ask("Accessibility.enable")
    nodes = browser.ask("Accessibility.getFullAXTree")["nodes"]
    wanted = ("button", "slider", "combobox", "image", "img", "tab", "checkbox", "textbox")
    found = [node for node in nodes if not node["ignored"] and node["role"]["value"] in wanted]
    assert len(found) > 30
    assert [
        node["backendDOMNodeId"] for node in found if not node.get("name", {}).get("value")
    ] == []
    pictures = [
        node["name"]["value"] for node in found if node["role"]["value"] in ("image", "img")
    ]
    assert any("10 points" in words and "Heaviest" in words for words in pictures)


def test_keys_alone_paint_and_cut(browser: LabBrowser, lab_server: Lab) -> None:
    browser.start(lab_server, "{rounds: 3}")
    browser.run("lab.setTool('plus'); document.querySelector('canvas.stage').focus()")
    for key in ("ArrowRight", "ArrowRight", " "):
        browser.press(key)
    browser.until("lab.run().data?.ids.length === 11")
    browser.loaded()
    browser.run("lab.setTool('rule')")
    browser.until("lab.own?.rule")
    browser.run("document.querySelector('canvas.stage').focus()")
    before = browser.run("lab.own.rule.threshold")
    for _ in range(8):
        browser.press("ArrowRight")
    assert browser.run("lab.own.rule.threshold") != before
    browser.press(" ")
    browser.until("lab.own?.would")
    assert browser.complaints == []
