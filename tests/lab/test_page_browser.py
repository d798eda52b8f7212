"""The page by hand: painting, scrubbing, forks, own rules, files, links, pictures to take away."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from pacboost import AdaBoostClassifier
from pacboost.lab.app import Lab
from pacboost.lab.page_files import stories
from pacboost.lab.routes import write_page
from pacboost.sources.toy import lecture_points
from tests.grids import each_value, one_in
from tests.lab.lab_browser import LabBrowser, serving

LECTURE = "{rounds: 10}"
MOONS = (
    "{lanes: [{run: {...lab.state.lanes[0].run, data: {kind: 'moons', n: 150, noise: 0.1}}, at: 0}]"
    ", rounds: 20, round: 10}"
)
EMPTY = "{lanes: [{run: {...lab.state.lanes[0].run, data: {kind: 'points'}}, at: 0}], rounds: 5}"
COUNT = "lab.run().data?.ids.length"
ROUND = "lab.state.round"


@pytest.fixture
def quiet(browser: LabBrowser, lab_server: Lab) -> Iterator[LabBrowser]:
    """Open the lab anew; at the end nothing was complained of, and nothing left the machine."""
    browser.start(lab_server, LECTURE)
    yield browser
    assert browser.complaints == []
    away = [r for r in browser.requests if not r.startswith((lab_server.origin, "data:", "blob:"))]
    assert [r for r in away if not r.startswith(("file:", "about:"))] == []


def figure(browser: LabBrowser, name: str) -> str:
    return browser.text(f"[data-figure={name}] dd")


def test_numbers_are_those_of_the_record(quiet: LabBrowser) -> None:
    X, y = lecture_points()
    ledger = AdaBoostClassifier(n_estimators=3).fit(X, y).ledger_
    for entry in ledger.rounds:
        quiet.run(f"lab.goto({entry.number})")
        for name in ("error", "edge", "vote", "normaliser"):
            assert figure(quiet, name) == f"{getattr(entry, name):.4f}"
        share = f"{100 * entry.training_error:.1f} %" if entry.training_error else "0 %"
        assert figure(quiet, "training_error") == share


def test_play_step_and_scrub(quiet: LabBrowser) -> None:
    quiet.click("#player [aria-label=Step]")
    quiet.until(f"{ROUND} === 1")
    quiet.click("#player [aria-label='Step back']")
    quiet.until(f"{ROUND} === 0")
    quiet.run("lab.speed = 20")
    quiet.click("#player .play")
    quiet.until(f"{ROUND} === 10 && !lab.playing")
    for focused in ("document.querySelector('.scrub').focus()", "document.activeElement.blur()"):
        quiet.run(focused)
        for key, number in {"Home": 0, "ArrowRight": 1, "End": 10, "ArrowLeft": 9}.items():
            quiet.press(key)
            quiet.until(f"{ROUND} === {number}")
    assert "Round 9" in quiet.text("#announcer")
    quiet.click(".more-rounds")
    quiet.until("lab.run().done >= 40")


def test_paint_move_flip_erase_and_undo(quiet: LabBrowser) -> None:
    quiet.take(EMPTY)
    assert "both classes" in quiet.text(".sentence")
    for tool, places, done in (
        ("plus", ((0.2, 0.2), (0.3, 0.3), (0.45, 0.4)), f"{COUNT} === 3"),
        ("minus", ((0.8, 0.7),), f"{COUNT} === 4 && lab.run().done && lab.run().data.label[3] < 0"),
        (
            "move",
            ((0.8, 0.7), (0.6, 0.6), (0.5, 0.9)),
            "Math.abs(lab.run().data?.y[3] - 0.9) < 0.03",
        ),
        ("flip", ((0.2, 0.2),), "lab.run().data?.label[0] === -1"),
        ("erase", ((0.2, 0.2),), f"{COUNT} === 3"),
    ):
        quiet.run(f"lab.setTool({tool!r})")
        quiet.drag(*(quiet.point(*place) for place in places))
        quiet.until(done)
    quiet.click(".undo")
    quiet.until(f"{COUNT} === 4")


def test_be_the_weak_learner(quiet: LabBrowser) -> None:
    quiet.click("[data-tool=rule]")
    quiet.until("lab.own?.rule")
    quiet.drag(quiet.point(7, 5), quiet.point(4, 5), quiet.point(1.4, 5))
    quiet.until("lab.own?.would")
    assert quiet.run("lab.own.rule.threshold") == 1.5
    assert "70.0 % of the weight" in quiet.text(".own-words")  # + lies on the other side
    assert quiet.run("document.querySelector('.commit').disabled")
    quiet.click(".swap")
    assert "30.0 % of the weight" in quiet.text(".own-words")
    quiet.click(".commit")
    quiet.until(f"{ROUND} === 1 && lab.run().at(1)?.own")
    assert "your rule" in quiet.text(".sentence")
    assert figure(quiet, "vote") == "0.4236"


def test_forks_stand_side_by_side(quiet: LabBrowser) -> None:
    quiet.take(MOONS)
    quiet.click(".lane .fork")
    quiet.until("document.querySelectorAll('.lane').length === 2")
    quiet.choose("#booster", "logit")
    quiet.loaded()
    same, other = quiet.run(
        "[0, 1].map(k => lab.run(k).rounds.slice(0, 10).map("
        "one => [one.shape.feature, one.shape.threshold]))"
    )
    assert same == other  # the fork keeps the rules of the first ten rounds
    assert quiet.run("lab.run(0).at(10).vote !== lab.run(1).at(10).vote")
    quiet.run("lab.setTab('compare')")
    assert "LogitBoost" in quiet.text("#panel-compare")
    quiet.click(".lane:nth-child(2) .close")
    quiet.until("document.querySelectorAll('.lane').length === 1")


def test_a_link_holds_everything(quiet: LabBrowser, lab_server: Lab) -> None:
    quiet.take(MOONS)
    quiet.run("lab.flipPoint(3)")
    quiet.loaded()
    quiet.click(".lane .fork")
    quiet.run("lab.setMethod('learner', {name: 'tree', parameters: {max_leaves: 4}})")
    quiet.run("lab.setTab('weights')")
    quiet.loaded()
    everything = "[lab.state, lab.runs().map(run => run.rounds.map(one => one.error))]"
    before = quiet.run(everything)
    quiet.click("#link")
    link = quiet.run("document.querySelector('#link-text').value")
    assert link.startswith(lab_server.origin)
    quiet.visit(link)
    assert quiet.run(everything) == before
    assert quiet.run("location.href") == link


def test_a_broken_link_is_named_and_the_page_goes_on(quiet: LabBrowser, lab_server: Lab) -> None:
    quiet.visit(lab_server.origin + "/#s=eyJ2IjoxLCJsYW5lc")
    assert "This link is broken" in quiet.text("#notices")
    assert quiet.run("lab.run().done") == 10


def test_a_file_of_ones_own(quiet: LabBrowser, tmp_path: Path) -> None:
    rows = [f"{k % 7},{k % 5},{k / 9:.2f},{'yes' if k % 7 > 3 else 'no'}" for k in range(90)]
    path = tmp_path / "own.csv"
    path.write_text("a,b,c,answer\n" + "\n".join(rows))
    quiet.choose_file("#csv-file", path)
    quiet.until("lab.state.lanes[0].run.data.kind === 'csv'")
    quiet.loaded()
    assert quiet.run("lab.run().data.names") == ["a", "b"]
    assert quiet.run("lab.run().at(1).training_error") == 0
    quiet.until("document.querySelector('#csv-feature-1 option')")
    quiet.choose("#csv-feature-1", "c")
    quiet.loaded()
    assert quiet.run("lab.run().data.names") == ["a", "c"]


@pytest.mark.parametrize(
    ("content", "words"), [("a,b\nx,y\nz,w\n", "number"), ("a,b,t\n1,2,x\n3,4,x\n", "class")]
)
def test_a_bad_file_is_named_and_the_page_goes_on(
    browser: LabBrowser, lab_server: Lab, tmp_path: Path, content: str, words: str
) -> None:
    browser.start(lab_server, LECTURE)
    (tmp_path / "bad.csv").write_text(content)
    browser.choose_file("#csv-file", tmp_path / "bad.csv")
    browser.until("document.querySelector('#notices .error')")
    assert words in browser.text("#notices")
    browser.run("lab.goto(3)")
    assert figure(browser, "training_error") == "0 %"


def test_ten_million_rows_are_refused_before_they_are_sent(quiet: LabBrowser) -> None:
    quiet.run(
        "{const list = new DataTransfer();"
        " list.items.add(new File([new Uint8Array(40_000_000)], 'large.csv'));"
        " const input = document.querySelector('#csv-file'); input.files = list.files;"
        " input.dispatchEvent(new Event('change'))}"
    )
    quiet.until("document.querySelector('#notices .error')")
    assert "40,000,000 bytes" in quiet.text("#notices")


def test_a_recording_works_without_a_server(
    quiet: LabBrowser, lab_server: Lab, tmp_path: Path
) -> None:
    quiet.take(MOONS)
    expected = quiet.run("lab.run().rounds.map(one => one.vote)")
    quiet.run(
        "import('lab/api.js').then(({offline}) => offline({title: 'Two moons', state: lab.state,"
        " runs: [{run: lab.run().spec, rounds: 20}], surface: 32}))"
        ".then(page => {window.page = page})"
    )
    quiet.until("window.page")
    path = tmp_path / "recording.html"
    path.write_text(quiet.run("window.page"), encoding="utf-8")
    quiet.visit(path.as_uri())
    assert [r for r in quiet.requests if not r.startswith("data:")] == [path.as_uri()]
    assert quiet.run("lab.run().rounds.map(one => one.vote)") == expected
    assert quiet.run(ROUND) == 10
    quiet.run("document.querySelector('.scrub').focus()")
    quiet.press("End")
    assert "Round 20" in quiet.text(".sentence")
    quiet.click("#code")
    quiet.until("document.querySelector('#code-text')")
    assert "import" in quiet.text("#code-text")


def test_a_page_written_from_python_shows_all_rounds(quiet: LabBrowser, tmp_path: Path) -> None:
    runs = [
        ({"data": {"kind": "lecture"}, "booster": {"name": n}}, 14) for n in ("adaboost", "mada")
    ]
    write_page(tmp_path / "two.html", runs, "Two boosters")
    quiet.visit((tmp_path / "two.html").as_uri())
    assert quiet.run("[lab.state.round, lab.last, document.title]") == [14, 14, "Two boosters"]
    assert quiet.run("document.querySelectorAll('.lane').length") == 2
    assert "MadaBoost" in quiet.text("#panel-compare")
    assert quiet.run("document.querySelector('#tab-planner').hidden")


def test_code_and_files_to_take_away(quiet: LabBrowser) -> None:
    quiet.run("lab.goto(3)")
    quiet.click("#code")
    quiet.until("document.querySelector('#code-text')")
    assert "AdaBoost" in quiet.text("#code-text")
    quiet.run("document.querySelector('#dialog').close()")
    for title, kind in {
        "PNG": "image/png", "SVG picture": "image/svg+xml", "SVG errors": "image/svg+xml",
        "CSV rounds": "text/csv", "CSV points": "text/csv",
    }.items():  # fmt: skip
        quiet.run("labLastDownload = null")
        quiet.click("#save")
        quiet.click(f"[data-save='{title}']")
        quiet.until("window.labLastDownload")
        opened = quiet.run("labLastDownload")
        assert opened["type"] == kind
        assert opened["size"] > 200


@each_value
@pytest.mark.parametrize("tab", ["certificates", "weights", "filtering", "planner", "instruments"])
@pytest.mark.parametrize("width", [1280, 390])
def test_every_panel_fits_light_and_dark(
    browser: LabBrowser, lab_server: Lab, tab: str, width: int
) -> None:
    if tab == "certificates":
        browser.start(lab_server, MOONS, width=width, dark=width == 390)
    browser.run(f"lab.setTab({tab!r})")
    browser.wait_frames()
    assert browser.run(f"!document.querySelector('#panel-{tab}').hidden")
    assert browser.run("document.documentElement.scrollWidth <= window.innerWidth")
    assert browser.complaints == []


def test_the_theme_can_be_changed(quiet: LabBrowser) -> None:
    ground = "getComputedStyle(document.body).backgroundColor"
    before = quiet.run(ground)
    quiet.click("#theme")
    assert quiet.run(ground) != before


def test_the_instruments_answer(quiet: LabBrowser) -> None:
    for name in ("pac", "shatters", "measure"):
        quiet.run(f"lab.setTab('instruments'); lab.panel('instruments').open('{name}')")
        quiet.click(f"#run-{name}")
        quiet.until(f"!document.querySelector('#run-{name}').disabled")
        assert len(quiet.text(f"#instrument-{name} .statement")) > 30


def test_the_planner_answers(quiet: LabBrowser) -> None:
    quiet.run("lab.setTab('planner')")
    quiet.until("document.querySelector('.plan-answer b')")
    quiet.choose("#plan-question", "rectangle")
    quiet.until("document.querySelector('.plan-answer').innerText.includes('box')")


STORIES = {
    "toy": ["wrong on 30.0 % of the weight", "wrong on 21.4 %", "right on all points"],
    "exponential": ["exp(−2Σγ²)"],
    "margins": ["The least margin is", "0 since round"],
    "noise": ["label was turned", "BrownBoost"],
    "filtering": ["kept", "of fresh ones"],
    "elevator": ["cancel out", "no ride collects more", "the promise is broken"],
    "bagging": ["Rules that are too simple want boosting"],
    "examples": ["boxes were too wrong"],
    "certificate": ["refuses", "lies below it"],
}


def test_the_stories_that_the_command_knows() -> None:
    assert sorted(stories()) == sorted(STORIES)


def test_the_command_opens_a_story(tmp_path: Path) -> None:
    with serving() as lab, LabBrowser(tmp_path) as opened:
        lab.boot = {"story": "elevator"}
        opened.visit(lab.address, height=720)
        opened.until("labGuide.now().story === 'elevator' && labGuide.now().ready")
        share = "document.querySelector('#story').offsetHeight / innerHeight"
        assert opened.run(share) < 0.35
        assert opened.complaints == []


@pytest.fixture(scope="module")
def story_browser(
    tmp_path_factory: pytest.TempPathFactory, lab_server: Lab
) -> Iterator[LabBrowser]:
    with LabBrowser(tmp_path_factory.mktemp("chromium")) as opened:
        opened.visit(lab_server.address)
        yield opened


@one_in(2)
@pytest.mark.parametrize("story", STORIES)
def test_a_story_is_played_through(story_browser: LabBrowser, story: str) -> None:
    story_browser.complaints.clear()
    story_browser.click("#stories")
    story_browser.click(f".stories [data-item={story}]")
    story_browser.until(f"labGuide.now().story === {story!r}")
    words_shown = ""
    for step in range(9):
        story_browser.until(f"labGuide.now().step === {step} && labGuide.now().ready")
        story_browser.loaded()
        if story_browser.run("Boolean(document.querySelector('#story .help'))"):
            story_browser.click("#story .help")
        story_browser.until("!document.querySelector('#story .next').disabled")
        story_browser.loaded()
        story_browser.until("!document.querySelector('#story .text').innerText.includes('…')")
        words_shown += story_browser.text("#story .text")
        story_browser.click("#story .next")
        if story_browser.run("labGuide.now().story") is None:
            break
    assert [words for words in STORIES[story] if words not in words_shown] == []
    assert [words for words in ("undefined", "NaN") if words in words_shown] == []
    assert story_browser.complaints == []


def test_challenges_mark_themselves(story_browser: LabBrowser) -> None:
    story_browser.click("#stories")
    story_browser.click(".challenges [data-item=overfit]")
    story_browser.loaded()
    state = "document.querySelector('.challenge-state').dataset.done"
    assert story_browser.run(state) == "false"
    story_browser.run("lab.setMethod('learner', {name: 'tree', parameters: {max_leaves: 16}})")
    story_browser.run(
        "lab.setData({kind: 'gaussians', n: 60, noise: 0.25, seed: 1}, {fresh: true})"
    )
    story_browser.until(f"{state} === 'true'")
    assert "Solved: from" in story_browser.text(".challenge-state")


def test_six_points_may_be_consistent_and_wrong(story_browser: LabBrowser) -> None:
    story_browser.click("#stories")
    story_browser.click(".challenges [data-item=consistent]")
    story_browser.loaded()
    state = "document.querySelector('.challenge-state').dataset.done"
    assert story_browser.run(state) == "false"
    story_browser.run("lab.setData({seed: 18})")
    story_browser.until(f"{state} === 'true'")
    assert "50.1 % wrong on fresh points" in story_browser.text(".challenge-state")


def test_three_stumps_suffice(story_browser: LabBrowser) -> None:
    """Painting counts: a stripe of plus between minus, twelve points."""
    story_browser.click("#stories")
    story_browser.click(".challenges [data-item=three]")
    story_browser.run(
        "lab.paintPoints([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12].map("
        "k => [k / 13, k % 5 / 5, k > 4 && k < 9 ? 1 : -1]))"
    )
    story_browser.until("document.querySelector('.challenge-state').dataset.done === 'true'")
    assert story_browser.complaints == []


def test_the_first_visit_invites(
    story_browser: LabBrowser, lab_server: Lab, tmp_path: Path
) -> None:
    story_browser.visit(lab_server.origin + "/")
    assert "weak learner" in story_browser.text("#story")
    story_browser.click("#story .begin")
    story_browser.until("labGuide.now().story === 'toy'")
