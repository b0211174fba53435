"""Who may come in: every request passes the guard first, and logging in opens a session.

- **Host** must be one of ours: a page of another site that resolves its own name to this machine (DNS rebinding) is
  refused.
- **Origin** must be ours for whatever changes something, and a browser's ``Sec-Fetch-Site`` must not name another site:
  a page elsewhere cannot act with the cookie of this one.
- **Cookie** must open a session; it is given for the token in the address, or for the password of a server.
- Answers carry no data into caches, frames, other sites' scripts or referrers.
"""

import hmac
import time
from collections import deque
from importlib import resources
from urllib.parse import parse_qs

from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection, Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from shoal.errors import InputError
from shoal.ui.server.sessions import Sessions
from shoal.ui.server.settings import Settings

OPEN_PATHS = ("/", "/login", "/static/login.css")  # what answers without a session: logging in
_SAFE = ("GET", "HEAD")
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "font-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
_TRIES, _SECONDS = 10, 60.0
_ADDRESSES = 1000
_OPENING_SECONDS = 120.0  # how long the token of the opened browser is valid
_LONGEST = 4096  # bytes of a login form, at most


class Guard:
    """The ASGI middleware around the whole page; a request that passes has its session in its state."""

    def __init__(self, app: ASGIApp, *, settings: Settings, sessions: Sessions) -> None:
        self._app, self._settings, self._sessions = app, settings, sessions

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request pass, or refuse it in one sentence."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        refusal = "this protocol is not supported." if scope["type"] != "http" else self._refusal(HTTPConnection(scope))
        await (_refused(refusal) if refusal else self._app)(scope, receive, send_guarded)

    def _refusal(self, request: HTTPConnection) -> str:
        """Why a request is refused; empty where it may pass."""
        headers, path, safe = request.headers, request["path"], request["method"] in _SAFE
        host = headers.get("host", "")
        if host not in self._settings.hosts:
            return "this page is not served at this address."
        foreign = headers.get("sec-fetch-site", "same-origin") not in {"same-origin", "none"}
        if (foreign and not (path in OPEN_PATHS and safe)) or (
            not safe and headers.get("origin") not in self._settings.origins(host)
        ):
            return "the request came from another site."
        cookie = request.cookies.get(self._settings.cookie, "")
        request.state.session = self._sessions.find(cookie) if cookie else None
        if request.state.session is None and path not in OPEN_PATHS:
            return "no token. Open the address that `shoal ui` printed."
        return ""


class WrongTries:
    """The wrong tries of the last minute, address by address: somebody who guesses must not lock out everybody else.

    Where wrong tries come from very many addresses at once, all have to wait.
    """

    def __init__(self) -> None:
        self._times: dict[str, deque[float]] = {}

    def too_many(self, address: str) -> bool:
        """Whether an address has to wait."""
        begin = time.monotonic() - _SECONDS
        self._times = {each: times for each, times in self._times.items() if times[-1] > begin}
        times = self._times.get(address, ())
        return len(self._times) >= _ADDRESSES or sum(each > begin for each in times) >= _TRIES

    def add(self, address: str) -> None:
        """One more."""
        self._times.setdefault(address, deque(maxlen=_TRIES)).append(time.monotonic())


class Login:
    """Opens sessions; an address with ten wrong tries in a minute is refused until the minute is over."""

    def __init__(self, settings: Settings, sessions: Sessions) -> None:
        self._settings, self._sessions = settings, sessions
        self._wrong = WrongTries()
        self._opening, self._begun = settings.opening, time.monotonic()

    async def home(self, request: Request) -> Response:
        """The page for a browser with a session; a token in the address opens one, and leaves the address at once."""
        token = request.query_params.get("token")
        if token is not None:
            soon, right = time.monotonic() - self._begun < _OPENING_SECONDS, self._settings.token
            if self._opening and soon and hmac.compare_digest(token.encode(), self._opening.encode()):
                self._opening, right = "", token  # that of the opened browser is spent when it is used
            return self._log_in(request, token, right)
        if request.state.session is not None:
            return HTMLResponse(_page("index.html"))
        if self._settings.password is not None:
            return RedirectResponse("/login", status_code=303)
        return _refused("no token. Open the address that `shoal ui` printed, with its token.")

    async def log_in(self, request: Request) -> Response:
        """The page that asks for the password, and the check of one that was sent."""
        if self._settings.password is None:
            return _refused("this page is opened with a token, not a password.")
        if request.method in _SAFE:
            in_session = request.state.session is not None
            return RedirectResponse("/", status_code=303) if in_session else HTMLResponse(_page("login.html"))
        body = b""
        async for part in request.stream():
            body += part
            if len(body) > _LONGEST:
                return _refused("the password is too long.", 413)
        given = parse_qs(body.decode("utf-8", "replace"), keep_blank_values=True).get("password", [""])[0]
        return self._log_in(request, given, self._settings.password)

    def _log_in(self, request: Request, entered: str, right: str) -> Response:
        address = request.client.host if request.client is not None else ""
        if self._wrong.too_many(address):
            return PlainTextResponse("Too many wrong attempts. Wait a minute.\n", status_code=429)
        if not hmac.compare_digest(entered.encode(), right.encode()):
            self._wrong.add(address)
            if right is self._settings.password:
                message = '<p role="alert">Wrong password.</p>'
                return HTMLResponse(_page("login.html", message), status_code=403)
            return _refused("this token is not valid.")
        response = RedirectResponse("/", status_code=303)
        if request.state.session is not None:  # it has a session already
            return response
        try:
            secret = self._sessions.open_session()
        except InputError as error:
            return _refused(str(error), 503)
        secure = request.url.scheme == "https"
        response.set_cookie(self._settings.cookie, secret, httponly=True, samesite="strict", secure=secure, path="/")
        return response


def _page(name: str, message: str = "") -> str:
    text = resources.files("shoal.ui.static").joinpath(name).read_text(encoding="utf-8")
    return text.replace("<!-- message -->", message)


def _refused(why: str, status: int = 403) -> Response:
    return PlainTextResponse(f"Refused: {why}\n", status_code=status)
