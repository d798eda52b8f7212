"""The server: who may ask, what cannot be asked, and what is said then."""

from __future__ import annotations

import http.client
import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from click.testing import CliRunner

from pacboost.cli.main import main
from pacboost.errors import FileError, PacboostError
from pacboost.lab import app as application
from pacboost.lab import files, server
from pacboost.lab.app import NAMES, Lab
from pacboost.lab.routes import ROUTES
from tests.lab.asking import LECTURE


class Visitor:
    """A program that speaks HTTP to the lab, with the cookie of a browser or without."""

    def __init__(self, lab: Lab) -> None:
        self.lab, self.cookie = lab, ""
        self.connection = http.client.HTTPConnection("127.0.0.1", lab.port, timeout=600)

    def send(
        self, method: str, path: str, body: bytes | None = None, **headers: str
    ) -> tuple[int, dict[str, str], bytes]:
        given = {"Origin": self.lab.origin} if method == "POST" else {}
        if self.cookie:
            given["Cookie"] = self.cookie
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        given |= named
        self.connection.request(
            method, path, body, {name: value for name, value in given.items() if value != "none"}
        )
        answer = self.connection.getresponse()
        return answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read()

    def enter(self) -> Visitor:
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


def test_every_question_of_the_page_is_served() -> None:
    assert set(NAMES) == set(ROUTES)


def test_the_page_loads_nothing_from_elsewhere(visitor: Visitor) -> None:
    status, headers, content = visitor.send("GET", "/")
    assert status == 200
    policy = headers["content-security-policy"]
    assert "default-src 'self'" in policy
    assert "unsafe" not in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"
    nonce = policy.partition("'nonce-")[2].partition("'")[0]
    assert f'<script type="importmap" nonce="{nonce}">' in content.decode()
    status, headers, _ = visitor.send("GET", "/page/main.js")
    assert (status, headers["content-type"].partition(";")[0]) == (200, "text/javascript")


@pytest.mark.parametrize(
    "path", ["/page/..%2fapp.py", "/page/../app.py", "/page/none.js", "/app.py", "/page/index.html"]
)
def test_no_other_file_is_given(visitor: Visitor, path: str) -> None:
    assert visitor.send("GET", path)[0] == 404


def test_questions_need_the_token(stranger: Visitor) -> None:
    status, answer = stranger.ask("run", {"run": LECTURE, "to": 1})
    assert status == 401
    assert "open the address" in answer["error"]["message"]
    assert stranger.send("GET", "/?token=guessed")[0] == 401
    assert stranger.send("POST", "/api/upload?name=a.csv", b"a,b\n")[0] == 401


def test_the_address_that_a_browser_is_started_with_works_once(stranger: Visitor) -> None:
    path = stranger.lab.address_for_once().removeprefix(stranger.lab.origin)
    assert stranger.lab.token not in path
    assert stranger.send("GET", path)[0] == 303
    assert stranger.send("GET", path)[0] == 401
    stranger.enter()  # the address of the terminal goes on working
    stranger.enter()


@pytest.mark.parametrize("method", ["GET", "POST", "HEAD", "PUT", "DELETE", "OPTIONS"])
@pytest.mark.parametrize(
    "headers",
    [{"Host": "evil.example"}, {"Host": "127.0.0.1:1"}, {"Origin": "http://evil.example"}],
)
def test_host_and_origin_are_checked_on_every_method(
    visitor: Visitor, method: str, headers: dict[str, str]
) -> None:
    status, _, _ = visitor.send(
        method, "/api/catalog", b"{}", Content_Type="application/json", **headers
    )
    assert status == 403


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
    ("run", {"run": LECTURE, "from": 1, "to": 1000}, "limit", "200 at a time"),
    ("run", {"run": {"data": {"kind": "xor", "n": 10**7}}}, "parameter", "2 to 5000"),
    ("run", {"run": {"data": {"kind": "points"}}}, "data", "both classes"),
    ("data", {"data": {"kind": "csv", "digest": "0", "name": "a.csv"}}, "link", "choose that file"),
    ("data", {"data": {"kind": "xor", "edits": {"flipped": [9999]}}}, "parameter", "no point"),
    ("edges", {"run": LECTURE, "after": "x"}, "parameter", "after is 'x'"),
    ("plan", {"question": "?"}, "parameter", "it may be holdout"),
    ("certificates", {"run": SHORT, "round": 5}, "data", "round 5 is asked for"),
    ("shatters", {"points": [[0, 0]] * 20}, "limit", "1 to 8"),
    ("offline", {"runs": []}, "limit", "1 to 4"),
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
    (b"a,b,kind\n1,2,u\n3,4,u\n", "two classes or more"),
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


def test_many_short_rows_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MOST_ROWS", 50)
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
    again = second.ask("run", {"run": run, "from": 1, "to": 9})[1]
    assert again == long
    for own in (first, second):
        own.connection.close()


def test_the_command_reads_the_file_that_it_names(tmp_path: Path) -> None:
    path = tmp_path / "flowers.csv"
    path.write_text("long,wide,kind\n1,2,a\n3,4,b\n5,6,a\n", encoding="utf-8")
    shelf, boot = server.opened(path, "kind")
    assert boot is not None
    assert boot["data"]["features"] == ["long", "wide"]
    assert list(shelf.files) == [boot["data"]["digest"]]
    with pytest.raises(FileError, match="two columns of numbers are needed"):
        server.opened(path, "long")
    with pytest.raises(FileError, match="no column 'sort'"):
        server.opened(path, "sort")


def test_the_command_says_what_is_wrong(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def ran(*words: str) -> tuple[int, str]:
        result = CliRunner().invoke(main, ["lab", "--no-browser", *words])
        return result.exit_code, result.output

    text = tmp_path / "words.csv"
    text.write_text("a,b\nx,y\nz,w\n", encoding="utf-8")
    code, said = ran(str(text))
    assert code == 2
    assert "two columns of numbers are needed" in said
    code, said = ran(str(tmp_path / "none.csv"))
    assert code == 2
    assert "none.csv" in said
    assert ran("--target", "a")[0] == 2
    monkeypatch.setattr(server, "MOST_BYTES", 5)
    code, said = ran(str(text))
    assert code == 2
    assert "Choose some thousand rows" in said


def test_the_command_serves_until_it_is_interrupted() -> None:
    order = "from pacboost.cli.main import main; main()"
    given = [sys.executable, "-c", order, "lab", "--no-browser", "--json"]
    with subprocess.Popen(given, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as ran:
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
        someone.connection.close()
        ran.send_signal(signal.SIGINT)
        assert ran.wait(timeout=600) == 0


def test_a_port_that_is_taken_is_named(lab_server: Lab) -> None:
    taken = pytest.raises(PacboostError, match=f"port {lab_server.port} cannot be used")
    with taken, server.listening(lab_server.port):
        pass


def test_the_page_without_its_packages_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    with pytest.raises(PacboostError, match=r"pip install 'pacboost\[lab\]'"):
        server.serve(browser=False)


def test_the_body_limit_is_smaller_than_what_is_dropped() -> None:
    assert application.MOST_REQUEST < files.MOST_BYTES < application.MOST_DROPPED
