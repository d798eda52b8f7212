"""Every story is played through by its buttons, and says numbers that the engine gave."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pacboost.lab.app import Lab
from tests.lab.lab_browser import LabBrowser

STORIES = {
    "toy": ["wrong on 30.0 % of the weight", "wrong on 21.4 %", "right on all points"],
    "exponential": ["exp(−2Σγ²)"],
    "margins": ["The least margin is", "0 since round"],
    "noise": ["label was turned", "BrownBoost"],
    "filtering": ["kept", "of fresh ones"],
    "bagging": ["Rules that are too simple want boosting"],
    "examples": ["boxes were too wrong"],
    "certificate": ["refuses", "lies below it"],
}


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory, lab_server: Lab) -> Iterator[LabBrowser]:
    with LabBrowser(tmp_path_factory.mktemp("chromium")) as found:
        found.visit(lab_server.address)
        yield found


@pytest.mark.parametrize("story", STORIES)
def test_a_story_is_played_through(browser: LabBrowser, story: str) -> None:
    browser.complaints.clear()
    browser.click("#stories")
    browser.click(f".stories [data-item={story}]")
    browser.until(f"labGuide.now().story === {story!r}")
    said = ""
    for step in range(9):
        browser.until(f"labGuide.now().step === {step} && labGuide.now().ready")
        browser.loaded()
        if browser.run("Boolean(document.querySelector('#story .help'))"):
            browser.click("#story .help")
        browser.until("!document.querySelector('#story .next').disabled")
        browser.loaded()
        browser.until("!document.querySelector('#story .text').innerText.includes('…')")
        said += browser.text("#story .text")
        browser.click("#story .next")
        if browser.run("labGuide.now().story") is None:
            break
    for words in STORIES[story]:
        assert words in said
    assert "undefined" not in said
    assert "NaN" not in said
    assert browser.complaints == []


def test_there_are_eight_stories(browser: LabBrowser) -> None:
    browser.click("#stories")
    listed = browser.run(
        "[...document.querySelectorAll('.stories [data-item]')].map(item => item.dataset.item)"
    )
    browser.run("document.querySelector('#dialog').close()")
    assert listed == list(STORIES)


def test_challenges_mark_themselves(browser: LabBrowser) -> None:
    browser.click("#stories")
    browser.click(".challenges [data-item=overfit]")
    browser.loaded()
    state = "document.querySelector('.challenge-state').dataset.done"
    assert browser.run(state) == "false"
    browser.run("lab.setMethod('learner', {name: 'tree', parameters: {max_leaves: 16}})")
    browser.run("lab.setData({kind: 'gaussians', n: 60, noise: 0.25, seed: 1}, {fresh: true})")
    browser.until(f"{state} === 'true'")
    assert "Solved: from" in browser.text(".challenge-state")


def test_three_stumps_suffice(browser: LabBrowser) -> None:
    """Painting counts: a stripe of plus between minus, twelve points."""
    browser.click("#stories")
    browser.click(".challenges [data-item=three]")
    browser.run(
        "lab.paintPoints([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12].map("
        "k => [k / 13, k % 5 / 5, k > 4 && k < 9 ? 1 : -1]))"
    )
    browser.until("document.querySelector('.challenge-state').dataset.done === 'true'")
    assert browser.complaints == []


def test_the_first_visit_invites(browser: LabBrowser, lab_server: Lab, tmp_path: Path) -> None:
    browser.visit(lab_server.origin + "/")
    assert "weak learner" in browser.text("#story")
    browser.click("#story .begin")
    browser.until("labGuide.now().story === 'toy'")
