"""The server: who may ask, what cannot be asked, and what is said then."""

import http.client
import io
import json
import math
import re
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tarfile
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from click.testing import CliRunner

from pacboost.cli.main import main
from pacboost.errors import FileError, PacboostError
from pacboost.lab import app, files, server, stopping
from pacboost.lab.app import NAMES, Lab
from pacboost.lab.routes import ROUTES
from pacboost.sources import spelling
from tests.grids import each_value, one_in
from tests.lab.asking import LECTURE
from tests.lab.lab_browser import LabBrowser


class Visitor:
    """A program that speaks HTTP to the lab, with the cookie of a browser or without."""

    def __init__(self, lab: Lab) -> None:
        self.lab, self.cookie = lab, ""
        self.connection = http.client.HTTPConnection("127.0.0.1", lab.port, timeout=600)

    def send(
        self, method: str, path: str, body: bytes | None = None, **headers: str
    ) -> tuple[int, dict[str, str], bytes]:
        fields = {"Origin": self.lab.origin} if method == "POST" else {}
        fields |= {"Cookie": self.cookie} if self.cookie else {}
        fields |= {name.replace("_", "-"): value for name, value in headers.items()}
        sent = {name: value for name, value in fields.items() if value != "none"}
        self.connection.request(method, path, body, sent)
        answer = self.connection.getresponse()
        return answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read()

    def enter(self) -> "Visitor":
        status, headers, _ = self.send("GET", self.lab.address.removeprefix(self.lab.origin))
        assert (status, headers["location"]) == (303, "/")
        self.cookie = headers["set-cookie"].partition(";")[0]
        assert "HttpOnly" in headers["set-cookie"]
        assert "SameSite=strict" in headers["set-cookie"]
        return self

    def ask(self, name: str, asked: Any, **headers: str) -> tuple[int, Any]:
        body = asked if isinstance(asked, bytes) else json.dumps(asked).encode()
        kind = {"Content-Type": "application/json"}
        status, _, content = self.send("POST", f"/api/{name}", body, **{**kind, **headers})
        return status, json.loads(content)


@pytest.fixture
def stranger(lab_server: Lab) -> Iterator[Visitor]:
    visitor = Visitor(lab_server)
    yield visitor
    visitor.connection.close()


@pytest.fixture
def visitor(stranger: Visitor) -> Visitor:
    return stranger.enter()


def test_a_browser_in_the_terminal_gets_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Such a browser returns when it is closed, and before that it waits for the page."""
    served, answered = threading.Event(), list[bool]()

    def open_in_the_terminal(address: str) -> bool:
        answered.append(served.wait(20))
        return True

    def serve(self: app.Server, sockets: list[socket.socket]) -> None:
        served.set()
        while not answered:
            time.sleep(0.01)

    monkeypatch.setattr("webbrowser.open", open_in_the_terminal)
    monkeypatch.setattr(server, "warm_up", lambda: None)
    monkeypatch.setattr(app.Server, "run", serve)
    server.serve()
    assert answered == [True]


def test_a_story_opens_the_page_and_an_unknown_one_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    served = list[app.Lab]()
    monkeypatch.setattr(server, "warm_up", lambda: None)
    monkeypatch.setattr(app.Server, "__init__", lambda self, lab: served.append(lab))
    monkeypatch.setattr(app.Server, "run", lambda self, sockets: None)
    server.serve(browser=False, story="elevator")
    server.serve(browser=False)
    assert [lab.boot for lab in served] == [{"story": "elevator"}, None]
    result = CliRunner().invoke(main, ["lab", "--story", "lift", "--no-browser"])
    assert result.exit_code == 2
    assert "elevator" in result.output


def test_large_files_are_read_without_a_copy_of_the_spelling_for_every_cell(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    copies = list[int]()

    def counted(*arguments: Any, **changes: Any) -> Any:
        copies.append(1)
        return replace(*arguments, **changes)

    monkeypatch.setattr(spelling, "replace", counted)
    lines = [f"{k},{k / 7},{'yes' if k % 2 else 'no'}" for k in range(1000)]
    read = files.read_file("a.csv", "\n".join(["a,b,c", *lines]).encode())
    assert read.numbers["b"].tolist() == [k / 7 for k in range(1000)]
    assert read.numbers["c"].tolist() == [k % 2 for k in range(1000)]
    assert len(copies) < 50


def test_every_question_of_the_page_is_served() -> None:
    assert set(NAMES) == set(ROUTES)


def test_the_page_loads_nothing_from_elsewhere(visitor: Visitor) -> None:
    status, headers, content = visitor.send("GET", "/")
    assert status == 200
    policy = headers["content-security-policy"]
    assert "default-src 'self'" in policy
    assert "unsafe" not in policy
    sent = (headers["x-content-type-options"], headers["x-frame-options"])
    assert sent == ("nosniff", "DENY")
    nonce = policy.partition("'nonce-")[2].partition("'")[0]
    assert f'<script type="importmap" nonce="{nonce}">' in content.decode()
    status, headers, _ = visitor.send("GET", "/page/main.js")
    assert (status, headers["content-type"].partition(";")[0]) == (200, "text/javascript")


@pytest.mark.parametrize(
    "path",
    [
        "/page/..%2fapp.py", "/page/../app.py", "/page/none.js", "/app.py", "/page/index.html",
        f"/page/{'a' * 300}.js",
    ],
)  # fmt: skip
def test_no_other_file_is_given(visitor: Visitor, path: str) -> None:
    assert visitor.send("GET", path)[0] == 404


def test_questions_need_the_token(stranger: Visitor) -> None:
    status, answer = stranger.ask("run", {"run": LECTURE, "to": 1})
    assert status == 401
    assert "open the address" in answer["error"]["message"]
    assert stranger.send("GET", "/?token=guessed")[0] == 401
    assert stranger.send("POST", "/api/upload?name=a.csv", b"a,b\n")[0] == 401


def test_the_address_that_a_browser_is_started_with_works_once(stranger: Visitor) -> None:
    with stranger.lab.redirect_file() as file:
        assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
        content = file.read_text(encoding="utf-8")
        assert "token" not in file.as_uri()
    assert not file.exists()
    assert stranger.lab.token not in content
    address = re.search(r"url=http://[^/]*(/[^\"]*)", content)
    assert address is not None
    assert stranger.send("GET", address[1])[0] == 303
    assert stranger.send("GET", address[1])[0] == 401
    assert stranger.send("GET", "/?token=")[0] == 401
    stranger.enter()  # the address of the terminal goes on working
    stranger.enter()


@each_value
@pytest.mark.parametrize("method", ["GET", "POST", "HEAD", "PUT", "DELETE", "OPTIONS"])
@pytest.mark.parametrize(
    "headers",
    [{"Host": "evil.example"}, {"Host": "127.0.0.1:1"}, {"Origin": "http://evil.example"}],
)
def test_host_and_origin_are_checked_on_every_method(
    visitor: Visitor, method: str, headers: dict[str, str]
) -> None:
    status, answered, _ = visitor.send(
        method, "/api/catalog", b"{}", Content_Type="application/json", **headers
    )
    assert status == 403
    assert answered["x-content-type-options"] == "nosniff"


def test_a_question_without_origin_or_as_a_form_is_refused(visitor: Visitor) -> None:
    assert visitor.ask("catalog", {}, Origin="none")[0] == 403
    assert visitor.ask("catalog", {}, Content_Type="text/plain")[0] == 403
    assert visitor.ask("catalog", {})[0] == 200


TREE = {"name": "tree", "parameters": {"max_leaves": 12, "max_depth": 9}}
SHORT = {**LECTURE, "learner": TREE}
BROKEN: list[tuple[str, Any, str, str]] = [
    ("run", b"{", "link", "not JSON"),
    ("run", b"[" * 100_000, "link", "not JSON"),
    ("run", [], "link", "not a JSON object"),
    ("run", {"run": 7}, "link", "run is 7"),
    ("run", {"run": {"data": {"kind": "nothing"}}, "to": 1}, "parameter", "it may be lecture"),
    ("run", {"run": {**LECTURE, "booster": {"name": "x"}}}, "parameter", "it may be adaboost"),
    ("run", {"run": LECTURE, "to": 10**9}, "parameter", "0 to 2000"),
    ("run", {"run": LECTURE, "from": 1, "to": 1000}, "limit", "at most 200"),
    ("run", {"run": {"data": {"kind": "xor", "n": 10**7}}}, "parameter", "2 to 5000"),
    ("run", {"run": {"data": {"kind": "points"}}}, "data", "both classes"),
    ("data", {"data": {"kind": "csv", "digest": "0", "name": "a.csv"}}, "link", "choose that file"),
    ("data", {"data": {"kind": "xor", "edits": {"flipped": [9999]}}}, "parameter", "no point"),
    ("edges", {"run": LECTURE, "after": "x"}, "parameter", "after is 'x'"),
    ("plan", {"question": "?"}, "parameter", "it may be holdout"),
    ("certificates", {"run": SHORT, "round": 5}, "data", "round 5 is requested"),
    ("shatters", {"points": [[0, 0]] * 20}, "limit", "1 to 8"),
    ("offline", {"runs": []}, "limit", "1 to 4"),
    ("run", {"run": {"data": {"kind": "xor", "noise": math.nan}}}, "link", "not JSON"),
    ("run", b'{"run": {"data": {"kind": "lecture", "n": 1e999}}}', "link", "not JSON"),
    ("offline", {"runs": [{"run": LECTURE, "rounds": 1}], "title": "\ud800"}, "link", "not JSON"),
    ("run", {"run": {"data": {"kind": ["xor"]}}}, "parameter", "it may be lecture"),
    ("run", {"run": {"data": {"kind": "xor", "n": 10**400}}}, "parameter", "2 to 5000"),
    ("plan", {"question": ["holdout"]}, "parameter", "it may be holdout"),
    ("filtering", {"data": {"kind": {}}}, "parameter", "cannot draw new points"),
]


@pytest.mark.parametrize(("name", "asked", "kind", "words"), BROKEN)
def test_bad_input_is_answered_in_words(
    visitor: Visitor, name: str, asked: Any, kind: str, words: str
) -> None:
    status, answer = visitor.ask(name, asked)
    assert status == 400
    assert answer["error"]["kind"] == kind
    assert words in answer["error"]["message"]
    assert visitor.ask("run", {"run": LECTURE, "to": 1})[0] == 200  # and the lab goes on


FILES: list[tuple[bytes, str]] = [
    (b"a,b,kind\nx,y,u\nz,w,v\n", "has 0 columns of numbers"),
    (b"a,b,kind\n1,2,u\n3,4,u\n", "2 to 50 classes"),
    (b"a,b,kind\n", "0 rows"),
    (b"", "empty"),
    (b"\x00\x01\x02", "not a text file"),
    (b"a,b,kind\n1,2,u\n3,4\n", "line 3"),
]


@pytest.mark.parametrize(("content", "words"), FILES)
def test_a_file_that_cannot_be_drawn_is_refused_in_words(
    visitor: Visitor, content: bytes, words: str
) -> None:
    status, _, answer = visitor.send("POST", "/api/upload?name=own.csv", content)
    assert status == 400
    message = json.loads(answer)["error"]["message"]
    assert words in message
    assert "standard input" not in message


def test_a_file_of_one_s_own_is_read_divided_and_boosted(visitor: Visitor) -> None:
    lines = [f"{i % 17},{i % 5},{i},{'yes' if i % 17 > 8 else 'no'}" for i in range(200)]
    content = "\n".join(["a,b,c,kind", *lines]).encode()
    status, _, answer = visitor.send("POST", "/api/upload?name=own.csv", content)
    file = json.loads(answer)
    assert status == 200
    assert file["rows"] == 200
    assert file["suggest"]["features"] == ["a", "b"]
    assert visitor.ask("levels", {"digest": file["digest"], "target": "kind"})[1] == {
        "levels": [["no", 108], ["yes", 92]]
    }
    run = {"data": {**file["suggest"], "features": ["b", "c"]}}
    status, page = visitor.ask("run", {"run": run, "from": 1, "to": 5})
    assert status == 200
    assert page["rounds"][-1]["test"]["n"] == 60
    assert visitor.ask("catalog", {})[1]["files"][-1]["name"] == "own.csv"


def test_ten_million_rows_are_refused(visitor: Visitor) -> None:
    content = b"a,b,c\n" + b"1,2,u\n" * 10_000_000
    status, _, answer = visitor.send("POST", "/api/upload?name=big.csv", content)
    assert status == 413
    assert "up to 32 MB" in json.loads(answer)["error"]["message"]


def test_half_a_million_columns_are_refused_at_once(visitor: Visitor) -> None:
    header = ",".join(f"c{i}" for i in range(500_000))
    started = time.monotonic()
    content = f"{header}\n{'1,' * 499_999}1\n".encode()
    status, _, answer = visitor.send("POST", "/api/upload?name=wide.csv", content)
    assert status == 400
    assert "500,000 columns" in json.loads(answer)["error"]["message"]
    assert time.monotonic() - started < 60


def test_many_short_rows_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MAX_ROWS", 50)
    with pytest.raises(PacboostError, match="more than 50 rows"):
        files.read_file("long.csv", b"a,b,c\n" + b"1,2,u\n" * 100)


def test_a_bug_is_answered_and_does_not_end_the_server(
    visitor: Visitor, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(lab: Any, asked: Any) -> Any:
        raise RuntimeError("oh")

    monkeypatch.setitem(ROUTES, "plan", broken)
    status, answer = visitor.ask("plan", {})
    assert (status, answer["error"]["kind"]) == (500, "internal")
    assert "RuntimeError: oh" in answer["error"]["message"]
    assert visitor.ask("catalog", {})[0] == 200


def test_two_tabs_do_not_disturb_each_other(lab_server: Lab) -> None:
    first, second = Visitor(lab_server).enter(), Visitor(lab_server).enter()
    run = {"data": {"kind": "rings", "n": 60}}
    long = first.ask("run", {"run": run, "from": 1, "to": 9})[1]
    other = {**run, "data": {"kind": "rings", "n": 60, "edits": {"flipped": [0]}}}
    second.ask("run", {"run": other, "from": 1, "to": 3})
    repeated = second.ask("run", {"run": run, "from": 1, "to": 9})[1]
    assert repeated == long
    for tab in (first, second):
        tab.connection.close()


@pytest.fixture
def endless(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Make one question take for ever, and note how it went on."""
    events: list[str] = []

    def answered(session: Any, asked: Any) -> Any:
        events.append("begun")
        try:
            while True:
                stopping.check()
                time.sleep(0.01)
        finally:
            events.append("ended")

    monkeypatch.setitem(ROUTES, "pac", answered)
    return events


def wait_for(events: list[str], word: str) -> None:
    until = time.monotonic() + 60
    while word not in events:
        assert time.monotonic() < until, f"not {word}"
        time.sleep(0.01)


def test_a_question_that_takes_long_blocks_nobody_and_ends_with_its_page(
    lab_server: Lab, endless: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    first, second = Visitor(lab_server).enter(), Visitor(lab_server).enter()
    headers = {"Origin": lab_server.origin, "Cookie": first.cookie}
    headers["Content-Type"] = "application/json"
    first.connection.request("POST", "/api/pac", b"{}", headers)
    wait_for(endless, "begun")
    second.connection.timeout = 60
    assert second.ask("run", {"run": LECTURE, "to": 1})[0] == 200
    first.connection.close()
    wait_for(endless, "ended")
    assert second.ask("run", {"run": LECTURE, "to": 2})[0] == 200
    second.connection.close()
    assert capfd.readouterr().err == ""


def test_headers_have_to_come_in_time(lab_server: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pacboost.lab.app.HEADER_SECONDS", 0.2)
    with socket.create_connection(("127.0.0.1", lab_server.port), timeout=60) as slow:
        slow.sendall(b"GET / HTTP/1.1\r\n")
        assert slow.recv(1) == b""  # closed
    with socket.create_connection(("127.0.0.1", lab_server.port), timeout=60) as other:
        other.sendall(b"no HTTP at all\r\n\r\n")
        assert b"x-frame-options" in other.recv(1000)


def test_the_command_reads_the_file_that_it_names(tmp_path: Path) -> None:
    path = tmp_path / "flowers.csv"
    path.write_text("long,wide,kind\n1,2,a\n3,4,b\n5,6,a\n", encoding="utf-8")
    shelf, boot = server.opened(path, "kind")
    assert boot is not None
    assert boot["data"]["features"] == ["long", "wide"]
    assert list(shelf.files) == [boot["data"]["digest"]]
    with pytest.raises(FileError, match="the lab needs two"):
        server.opened(path, "long")
    with pytest.raises(FileError, match="no column 'sort'"):
        server.opened(path, "sort")


def test_the_command_says_what_is_wrong(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def check(reason: str, *words: str) -> None:
        result = CliRunner().invoke(main, ["lab", "--no-browser", *words])
        assert result.exit_code == 2
        assert reason in result.output

    text = tmp_path / "words.csv"
    text.write_text("a,b\nx,y\nz,w\n", encoding="utf-8")
    check("the lab needs two", str(text))
    check("none.csv", str(tmp_path / "none.csv"))
    check("", "--target", "a")
    monkeypatch.setattr(server, "MAX_BYTES", 5)
    check("random sample", str(text))


SLOW = {
    "data": {"kind": "gaussians", "n": 5000, "noise": 0.3},
    "booster": {"name": "lp"},
    "learner": {"name": "tree", "parameters": {"max_leaves": 64, "max_depth": 12}},
}  # fmt: skip


@one_in(2)
@pytest.mark.parametrize("signalled", [signal.SIGINT, signal.SIGTERM])
def test_the_command_ends_at_once_while_it_answers(signalled: signal.Signals) -> None:
    order = "from pacboost.cli.main import main; main()"
    command = [sys.executable, "-c", order, "lab", "--no-browser", "--json"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as ran:
        assert ran.stdout is not None
        address = json.loads(ran.stdout.readline())["address"]
        lab = Lab(int(urlsplit(address).port or 0))
        lab.token = address.partition("token=")[2]
        someone = Visitor(lab)
        until = time.monotonic() + 600
        while True:  # the address is printed a moment before the server listens
            try:
                someone.enter()
                break
            except ConnectionError:
                assert time.monotonic() < until
                someone.connection.close()
                time.sleep(0.05)
        assert someone.send("GET", "/")[0] == 200
        headers = {"Origin": lab.origin, "Cookie": someone.cookie}
        headers["Content-Type"] = "application/json"
        with socket.create_connection(("127.0.0.1", lab.port)) as leaving:
            lines = [f"{name}: {value}" for name, value in headers.items()]
            named = ["POST /api/run HTTP/1.1", f"Host: 127.0.0.1:{lab.port}", *lines]
            leaving.sendall("\r\n".join([*named, "Content-Length: 9", "", "{"]).encode())
        body = json.dumps({"run": SLOW, "round": 2000}).encode()
        someone.connection.request("POST", "/api/certificates", body, headers)
        time.sleep(1)
        ran.send_signal(signalled)
        assert ran.wait(timeout=60) == (0 if signalled is signal.SIGINT else -signalled)
        someone.connection.close()
        assert ran.stderr is not None
        assert ran.stderr.read() == ""


def test_a_port_that_is_taken_is_named(lab_server: Lab) -> None:
    taken = pytest.raises(PacboostError, match=f"port {lab_server.port} cannot be used")
    with taken, server.listening(lab_server.port):
        pass


def test_the_page_without_its_packages_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "pacboost.lab.app")
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    with pytest.raises(PacboostError, match=r"pip install 'pacboost\[lab\]'"):
        server.serve(browser=False)


AXE = "axe-core@4.14.0"
STATES = {
    "the lecture": "{rounds: 5, round: 3}",
    "two runs": "{lanes: [0, 1].map(() => ({run: {...lab.state.lanes[0].run,"
    " data: {kind: 'moons'}}, at: 0})), rounds: 10, round: 10, tab: 'compare'}",
}
CHECK = """axe.run(%s, {resultTypes: ['violations']}).then(found => found.violations.map(
  one => one.id + ': ' + one.nodes.slice(0, 3).map(node => node.html.slice(0, 160)).join(' | ')))"""


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
        script = archive.extractfile("package/axe.min.js")
        assert script is not None
        return script.read().decode()


def violations(browser: LabBrowser, axe: str, part: str = "document") -> list[str]:
    if not browser.run("typeof axe === 'object'"):
        browser.ask("Runtime.evaluate", expression=axe)
    answer = browser.ask(
        "Runtime.evaluate", expression=CHECK % part, awaitPromise=True, returnByValue=True
    )
    rules: list[str] = answer["result"]["value"]
    return rules


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
    steps = {f"lab.setTab({tab!r})": "#more" for tab in ("weights", "planner", "filtering")}
    steps |= {"lab.setTab('instruments')": "#more", "labGuide.begin('toy')": "#story"}
    steps["document.querySelector('#stories').click()"] = "#dialog"
    for step, part in steps.items():
        browser.run(step)
        browser.wait_frames()
        assert (step, violations(browser, axe, repr(part))) == (step, [])


def test_the_tree_of_names(browser: LabBrowser, lab_server: Lab) -> None:
    """Chromium's own tree for screen readers: whatever can be used or seen has a name."""
    browser.start(lab_server, STATES["the lecture"])
    browser.until("document.querySelector('canvas.stage').ariaLabel.includes('Heaviest')")
    browser.ask("Accessibility.enable")
    nodes = browser.ask("Accessibility.getFullAXTree")["nodes"]
    roles = ("button", "slider", "combobox", "image", "img", "tab", "checkbox", "textbox")
    controls = [node for node in nodes if not node["ignored"] and node["role"]["value"] in roles]
    names = [node.get("name", {}).get("value") for node in controls]
    assert len(names) > 30
    assert all(names)
    assert any("10 points" in name and "Heaviest" in name for name in names)


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


PAGE = Path(str(resources.files("pacboost.lab"))) / "page"
FILES_PAGE_SIZE = sorted(path for path in PAGE.iterdir() if path.suffix in {".js", ".css", ".html"})


def test_the_page_is_small_and_names_no_other_place() -> None:
    assert len(FILES_PAGE_SIZE) > 20
    assert sum(path.stat().st_size for path in FILES_PAGE_SIZE) < 300_000
    for path in FILES_PAGE_SIZE:
        text = path.read_text(encoding="utf-8")
        assert set(re.findall(r"https?://[^\"'` ]+", text)) <= {"http://www.w3.org/2000/svg"}
        assert len(text.splitlines()) <= 330
