"""The web application: a page, its files, and the requests of the page.

It serves one person on this machine. The host of every request must be this machine, and its origin
the page; requests for data need the token that the terminal printed, which the first visit turns
into a cookie.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import secrets
import socket
import threading
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from pacboost.errors import DataError, FileError, PacboostError, ParameterError
from pacboost.lab.files import MAX_BYTES, Shelf, read_file, too_large
from pacboost.lab.page_files import asset, html_page
from pacboost.lab.spec import LimitError, LinkError
from pacboost.lab.stopping import STOP, Ended

if TYPE_CHECKING:
    from pacboost.lab.session import LabSession

MAX_REQUEST_BYTES = 4 * 2**20
MAX_DROPPED_BYTES = 2**30
HEADER_SECONDS, BODY_SECONDS = 10, 120
MAX_SESSIONS, SESSION_SECONDS = 3, 1.0
"""Maximum number of caches, and the time a request waits for a free one before it adds another."""
HOSTS = ("127.0.0.1", "localhost")
METHODS = ("GET", "POST", "HEAD")
KINDS: tuple[tuple[type[PacboostError], str], ...] = (
    (LinkError, "link"), (LimitError, "limit"), (DataError, "data"), (FileError, "data"),
    (ParameterError, "parameter"),
)  # fmt: skip
NO_TOKEN = (
    "this browser has no token for the server: open the address that the terminal shows, which "
    "includes the token"
)

REDIRECT = """<!doctype html>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0;url=%s">
<title>pacboost lab</title>
"""


def failure(kind: str, message: str, status: int) -> JSONResponse:
    """Return an error as JSON."""
    return JSONResponse({"error": {"kind": kind, "message": message}}, status)


class Guard:
    """Rejects all requests that do not come from the page on this machine."""

    def __init__(self, app: ASGIApp, port: int) -> None:
        self._app = app
        self._hosts = {name if port == 80 else f"{name}:{port}" for name in HOSTS}
        self._origins = {f"http://{host}" for host in self._hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check method, Host and Origin of every request."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return
        why = self._why_not(Request(scope))
        app = failure("access", why, 403) if why else self._app

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *HEADERS]
            await send(message)

        with suppress(ClientDisconnect):
            await app(scope, receive, with_headers)

    def _why_not(self, request: Request) -> str:
        if request.method not in METHODS:
            return f"the method {request.method} is not used here"
        if request.headers.get("host", "") not in self._hosts:
            return "this address is for programs on this machine only"
        origin = request.headers.get("origin")
        if origin is not None and origin not in self._origins:
            return "another page may not use this server"
        if origin is None and request.method == "POST":
            return "a request without an origin does not come from the page"
        return ""


HEADERS = [
    (b"x-content-type-options", b"nosniff"), (b"referrer-policy", b"no-referrer"),
    (b"x-frame-options", b"DENY"), (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"), (b"cache-control", b"no-store"),
]  # fmt: skip


NAMES = (
    "catalog", "levels", "data", "run", "surface", "edges", "weigh", "certificates", "code",
    "filtering", "plan", "pac", "shatters", "measure",
)  # fmt: skip
"""Names of the routes; routes.py is loaded with the first request, so the page need not wait."""


class AnswerThread(threading.Thread):
    """A request on its own thread, which stops at its next check once nobody waits for it."""

    def __init__(self, answer: Callable[[], Response]) -> None:
        super().__init__(daemon=True)
        self.answer, self.result = answer, Future[Response]()
        self._stop_event = threading.Event()
        self.start()

    def run(self) -> None:
        STOP.set(self._stop_event)
        with suppress(Ended):
            response = self.answer()
            if self.result.set_running_or_notify_cancel():
                self.result.set_result(response)

    def end(self) -> None:
        """Ask the thread to stop unless it has answered; its waiters continue at once."""
        if self.result.cancel():
            self._stop_event.set()


class Connection(H11Protocol):
    """A connection that closes if the header of a request takes too long."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._look(self)

    def _look(self, earlier: object) -> None:
        """Close unless a request has begun since the last check."""
        idle = self.cycle is None or self.cycle.response_complete
        if idle and earlier is self.cycle:
            self.transport.close()
        if not self.transport.is_closing():
            self.loop.call_later(HEADER_SECONDS, self._look, self.cycle if idle else self)

    def send_400_response(self, msg: str) -> None:
        """Reject input that is not HTTP, with the headers of every response."""
        headers = [*HEADERS, (b"content-length", b"0"), (b"connection", b"close")]
        lines = [b"HTTP/1.1 400 Bad Request", *(b": ".join(pair) for pair in headers)]
        self.transport.write(b"\r\n".join(lines) + b"\r\n\r\n")
        self.transport.close()


class Server(uvicorn.Server):
    """The server of a lab."""

    def __init__(self, lab: Lab) -> None:
        self.lab = lab
        config = uvicorn.Config(
            lab.app(), http=Connection, ws="none", log_level="critical", access_log=False,
            lifespan="off", server_header=False, timeout_graceful_shutdown=2,
        )  # fmt: skip
        super().__init__(config)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End open requests first."""
        for job in list(self.lab.jobs):
            job.end()
        await super().shutdown(sockets)


class Lab:
    """The state of a server: its token, and caches of runs, each for one request at a time."""

    def __init__(
        self, port: int, files: Shelf | None = None, boot: dict[str, Any] | None = None
    ) -> None:
        self.port, self.token = port, secrets.token_urlsafe(24)
        self.files = files or Shelf()
        self.boot = boot
        self.jobs: set[AnswerThread] = set()
        self._caches: asyncio.LifoQueue[list[LabSession]] = asyncio.LifoQueue()
        self._caches.put_nowait([])
        self._more_caches = MAX_SESSIONS - 1
        self._single_use_token = ""
        asked = {"upload": self._upload, "offline": self._offline}
        asked |= {name: self._asking(name) for name in NAMES}
        self.routes = [
            Route("/", self._page),
            Route("/page/{name}", self._asset),
            Route("/favicon.ico", lambda request: Response(status_code=204)),
            *(Route(f"/api/{name}", answer, methods=["POST"]) for name, answer in asked.items()),
        ]

    @property
    def origin(self) -> str:
        """The address without the token."""
        return f"http://{HOSTS[0]}:{self.port}"

    @property
    def address(self) -> str:
        """The address to open."""
        return f"{self.origin}/?token={self.token}"

    def app(self) -> ASGIApp:
        """Return the application behind its guard."""
        return Guard(Starlette(routes=self.routes), self.port)

    @contextmanager
    def redirect_file(self) -> Iterator[Path]:
        """Write a page that leads to the lab, which only this user can read.

        Other users can see the arguments of the browser, so it is started with the path of this
        file instead of the token. The token in the file works once.
        """
        self._single_use_token = secrets.token_urlsafe(24)
        address = f"{self.origin}/?token={self._single_use_token}"
        with TemporaryDirectory(prefix="pacboost-lab-") as folder:  # of mode 0700
            path = Path(folder) / "lab.html"
            path.write_text(REDIRECT % address, encoding="utf-8")
            yield path

    def _opens(self, token: str) -> bool:
        if _equal(token, self._single_use_token):
            self._single_use_token = ""
            return True
        return _equal(token, self.token)

    @property
    def _cookie(self) -> str:
        return f"pacboost_lab_{self.port}"  # cookies do not depend on the port

    def _has_token(self, request: Request) -> bool:
        return _equal(request.cookies.get(self._cookie, ""), self.token)

    async def _page(self, request: Request) -> Response:
        """Return the page; with the token, set the cookie and redirect without the token."""
        token = request.query_params.get("token")
        if token is None:
            nonce = secrets.token_urlsafe(16)
            policy = (
                "default-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
                f"script-src 'self' 'nonce-{nonce}'; base-uri 'none'; form-action 'none'; "
                "frame-ancestors 'none'; object-src 'none'"
            )
            return HTMLResponse(html_page(nonce), headers={"Content-Security-Policy": policy})
        if not self._opens(token):
            return failure("access", NO_TOKEN, 401)
        response = RedirectResponse("/", status_code=303)
        response.set_cookie(self._cookie, self.token, httponly=True, samesite="strict", path="/")
        return response

    async def _asset(self, request: Request) -> Response:
        file = asset(request.path_params["name"])
        if file is None:
            return failure("access", "there is no file of this name", 404)
        content, kind = file
        return Response(content, media_type=kind)

    def _asking(self, name: str) -> Any:
        async def endpoint(request: Request) -> Response:
            def answered(session: LabSession, asked: dict[str, Any]) -> Response:
                from pacboost.lab.routes import ROUTES

                return JSONResponse(ROUTES[name](session, asked))

            return await self._answered(request, answered)

        return endpoint

    async def _offline(self, request: Request) -> Response:
        def written(session: LabSession, asked: dict[str, Any]) -> Response:
            from pacboost.lab.page_files import whole_page
            from pacboost.lab.routes import recorded

            name = 'attachment; filename="pacboost-lab.html"'
            content = whole_page(recorded(session, asked))
            return HTMLResponse(content, headers={"Content-Disposition": name})

        return await self._answered(request, written)

    async def _upload(self, request: Request) -> Response:
        if not self._has_token(request):
            return failure("access", NO_TOKEN, 401)
        name = request.query_params.get("name", "the file")[:200]
        content = await _body(request, MAX_BYTES)
        if content is None:
            size = int(request.headers.get("content-length", MAX_BYTES + 1))
            return failure("limit", too_large(name, size), 413)

        def shelved() -> Response:
            file = read_file(name, content)
            file.suggestion()  # raises if nothing in it can be drawn
            return JSONResponse(self.files.add(file).info())

        return await self._done(request, shelved)

    async def _answered(
        self, request: Request, answer: Callable[[LabSession, dict[str, Any]], Response]
    ) -> Response:
        """Read a request, answer it on another thread, and turn errors into responses."""
        if not self._has_token(request):
            return failure("access", NO_TOKEN, 401)
        if request.headers.get("content-type", "").partition(";")[0] != "application/json":
            return failure("access", "requests must be application/json", 403)
        content = await _body(request, MAX_REQUEST_BYTES)
        if content is None:
            return failure("limit", f"a request has at most {MAX_REQUEST_BYTES >> 20} MB", 413)
        try:
            asked = json.loads(content)
            json.dumps(asked, ensure_ascii=False, allow_nan=False).encode()  # no NaN, half letter
        except (ValueError, RecursionError):
            return failure("link", "the request is not JSON; the link may be broken", 400)
        if not isinstance(asked, dict):
            return failure("link", "the request is not a JSON object; the link may be broken", 400)
        cache = await self._cache()

        def answered() -> Response:
            from pacboost.lab.session import LabSession

            if not cache:
                cache.append(LabSession(self.files, self.boot))
            return answer(cache[0], asked)

        unharmed = False
        try:
            response = await self._done(request, answered)
            unharmed = response.status_code not in (500, 503)
            return response
        finally:
            self._caches.put_nowait(cache if unharmed else [])

    async def _cache(self) -> list[LabSession]:
        """Return the last used cache when it is free, or another one after a while."""
        with suppress(TimeoutError):
            async with asyncio.timeout(SESSION_SECONDS if self._more_caches else None):
                return await self._caches.get()
        if self._more_caches:
            self._more_caches -= 1
            return []
        return await self._caches.get()

    async def _done(self, request: Request, answer: Callable[[], Response]) -> Response:
        """Answer on another thread, which ends with the server and with the page."""
        job = AnswerThread(lambda: _safely(answer))
        self.jobs.add(job)
        disconnect = asyncio.ensure_future(_disconnected(request))
        waiting: list[asyncio.Future[Any]] = [asyncio.wrap_future(job.result), disconnect]
        try:
            await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        finally:
            disconnect.cancel()
            job.end()
            self.jobs.discard(job)
        if job.result.cancelled():
            return failure("access", "The lab or the page was closed.", 503)
        return job.result.result()


def _equal(text: str, secret: str) -> bool:
    """Compare in a time that does not depend on the text; an empty secret equals nothing."""
    return bool(secret) and hmac.compare_digest(text.encode(), secret.encode())


def _safely(answer: Callable[[], Response]) -> Response:
    """Answer, and turn errors into responses."""
    try:
        return answer()
    except PacboostError as problem:
        kind = next((name for kind, name in KINDS if isinstance(problem, kind)), "parameter")
        message = str(problem)
        end = "" if message.endswith((".", "!", "?")) else "."
        return failure(kind, f"{message}{end}", 400)
    except MemoryError:
        return failure("limit", "There is not enough memory for this.", 400)
    except Exception as problem:
        traceback.print_exc()
        words = f"Unexpected {type(problem).__name__}: {problem}. This is a bug in pacboost."
        return failure("internal", words, 500)


async def _disconnected(request: Request) -> None:
    """Wait until the client disconnects."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def _body(request: Request, max_bytes: int) -> bytes | None:
    """Read the body; None if it is longer than allowed.

    The rest is read and dropped, within limits, because a browser that is still sending would show
    a broken connection instead of the answer.
    """
    parts, size = [], 0
    try:
        async with asyncio.timeout(BODY_SECONDS):
            async for part in request.stream():
                size += len(part)
                if size <= max_bytes:
                    parts.append(part)
                elif size > MAX_DROPPED_BYTES:
                    break
    except TimeoutError as problem:
        raise HTTPException(408) from problem
    return b"".join(parts) if size <= max_bytes else None
