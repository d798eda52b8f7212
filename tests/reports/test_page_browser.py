"""The page in a real browser: it is quiet, fetches nothing, fits a phone, and its slider moves."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from pacboost import AdaBoostClassifier, TextBoostClassifier
from tests.reports.browser import Browser

RNG = np.random.default_rng(0)
X = RNG.normal(size=(400, 5))
Y = np.where(X[:, 0] + X[:, 1] * X[:, 2] > 0, "a rather long name of a class", "</script><b>no")
BARS = "[...document.querySelectorAll('rect.bar')].map(bar => +bar.getAttribute('height'))"
STAGE = "document.querySelector('.stage').textContent"


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with Browser(tmp_path_factory.mktemp("chromium")) as found:
        yield found


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    model = AdaBoostClassifier(n_estimators=30, certify="holdout", random_state=0)
    path = tmp_path_factory.mktemp("page") / "report.html"
    model.fit(X[:300], Y[:300]).report(path, X[300:], Y[300:])
    return path


@pytest.mark.parametrize("width", [1280, 800, 360])
def test_it_is_quiet_fetches_nothing_and_fits(browser: Browser, page: Path, width: int) -> None:
    browser.open(page, width=width, dark=width == 800)
    assert browser.run("document.querySelectorAll('main section').length") >= 8
    assert browser.run("document.documentElement.scrollWidth <= window.innerWidth")
    drawn = "document.querySelector('#rounds svg .tick').getBoundingClientRect().height"
    assert browser.run(drawn) > 9  # letters are legible on phones, too
    assert browser.complaints == []
    assert [r for r in browser.requests if not r.startswith("data:")] == [page.as_uri()]


def test_the_slider_moves_the_bars(browser: Browser, page: Path) -> None:
    browser.open(page)
    assert browser.run(STAGE) == "30"
    last = browser.run(BARS)
    browser.run("document.querySelector('.slider input').focus()")
    browser.press("Home")
    assert browser.run(STAGE) == "1"
    first = browser.run(BARS)
    assert first != last
    assert sum(height > 0 for height in first) == 2  # one rule: every row is at -1 or 1
    browser.press("End")
    assert browser.run(STAGE) == "30"
    assert browser.run(BARS) == pytest.approx(last, abs=0.02)
    assert browser.complaints == []


def test_play_goes_through_the_rounds_and_pauses(browser: Browser, page: Path) -> None:
    browser.open(page)
    browser.run("window.setInterval = tick => {window.tick = tick; return 1}")  # no clock but ours
    browser.run("document.querySelector('.play').click()")
    assert browser.run("document.querySelector('.play').textContent") == "Pause"
    assert browser.run(STAGE) == "1"
    browser.run("tick()")
    assert browser.run(STAGE) == "2"
    browser.run("document.querySelector('.play').click()")
    assert browser.run("document.querySelector('.play').textContent") == "Play"
    browser.run("document.querySelector('.play').click()")
    while browser.run("document.querySelector('.play').textContent") == "Pause":
        browser.run("tick()")
    assert browser.run(STAGE) == "30"


def test_the_theme_can_be_changed(browser: Browser, page: Path) -> None:
    ground = "getComputedStyle(document.body).backgroundColor"
    browser.open(page, dark=True)
    dark = browser.run(ground)
    browser.run("document.querySelector('.theme').click()")
    light = browser.run(ground)
    assert dark != light
    browser.open(page)
    assert browser.run(ground) == light


def test_the_pointer_reads_the_curves(browser: Browser, page: Path) -> None:
    browser.open(page)
    browser.run("document.querySelector('#rounds').scrollIntoView({behavior: 'instant'})")
    box = "document.querySelector('#rounds svg').getBoundingClientRect()"
    x, y = (browser.run(f"{box}.{side}") for side in ("right - 12", "top + 50"))
    browser.ask("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
    assert browser.run("document.querySelector('.reading').textContent").startswith("round 30: ")


def test_the_page_of_texts(browser: Browser, tmp_path: Path) -> None:
    texts = [f"<b>{word}</b> the card {k}" for k in range(30) for word in ("lost", "new", "top up")]
    model = TextBoostClassifier(n_estimators=10, random_state=0).fit(
        texts, ["lost", "new", "more"] * 30
    )
    browser.open(model.report(tmp_path / "a.html", texts, ["lost", "new", "more"] * 30), width=360)
    assert "lost" in browser.run("document.querySelector('.words-grid').textContent")
    assert browser.run("document.querySelectorAll('main b b').length") == 0
    assert browser.run("document.documentElement.scrollWidth <= window.innerWidth")
    assert browser.complaints == []


def test_what_did_not_come_with_the_page_does_not_run(browser: Browser, page: Path) -> None:
    browser.open(page)
    browser.run(
        "{const own = document.createElement('script'); own.textContent = 'window.ran = true';"
        "document.body.append(own); fetch('https://example.org/').catch(() => {})}"
    )
    assert browser.run("window.ran === undefined")
    assert len(browser.complaints) >= 2  # both are reported, so a quiet page is a good sign
