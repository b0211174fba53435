"""Logging in: with the token in the address, or with the password of a server."""

from __future__ import annotations

import hmac
import time
from collections import deque
from importlib import resources
from urllib.parse import parse_qs

from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response

from shoal.errors import InputError
from shoal.ui.server.guard import SESSION
from shoal.ui.server.sessions import Sessions
from shoal.ui.server.settings import Settings

_TRIES, _SECONDS = 10, 60.0
_OPENING_SECONDS = 120.0  # how long the token of the opened browser is valid
_LONGEST = 4096  # bytes of a login form, at most


class Login:
    """Opens sessions; after ten wrong tries in a minute it refuses until the minute is over."""

    def __init__(self, settings: Settings, sessions: Sessions) -> None:
        self._settings, self._sessions = settings, sessions
        self._wrong: deque[float] = deque(maxlen=_TRIES)
        self._opening, self._begun = settings.opening, time.monotonic()

    async def home(self, request: Request) -> Response:
        """The page for a browser with a session; a token in the address opens one, and leaves the address at once."""
        token = request.query_params.get("token")
        if token is not None:
            return self._log_in(request, token, self._token_for(token))
        if request.scope[SESSION] is not None:
            return HTMLResponse(_page("index.html"))
        if self._settings.password is not None:
            return RedirectResponse("/login", status_code=303)
        return _refused("no token. Open the address that `shoal ui` printed, with its token.")

    async def form(self, request: Request) -> Response:
        """The page that asks for the password."""
        if self._settings.password is None:
            return _refused("this page is opened with a token, not a password.")
        if request.scope[SESSION] is not None:
            return RedirectResponse("/", status_code=303)
        return HTMLResponse(_page("login.html"))

    async def log_in(self, request: Request) -> Response:
        """Check a password that was sent."""
        if self._settings.password is None:
            return _refused("this page is opened with a token, not a password.")
        body = b""
        async for part in request.stream():
            body += part
            if len(body) > _LONGEST:
                return _refused("the password is too long.", 413)
        given = parse_qs(body.decode("utf-8", "replace"), keep_blank_values=True).get("password", [""])[0]
        return self._log_in(request, given, self._settings.password)

    def _token_for(self, given: str) -> str:
        """The token that a given one is compared with; that of the opened browser is spent when it is used."""
        soon = time.monotonic() - self._begun < _OPENING_SECONDS
        if self._opening and soon and hmac.compare_digest(given.encode(), self._opening.encode()):
            self._opening = ""
            return given
        return self._settings.token

    def _log_in(self, request: Request, given: str, right: str) -> Response:
        now = time.monotonic()
        if len(self._wrong) == _TRIES and now - self._wrong[0] < _SECONDS:
            return PlainTextResponse("Too many wrong attempts. Wait a minute.\n", status_code=429)
        if not hmac.compare_digest(given.encode(), right.encode()):
            self._wrong.append(now)
            if right is self._settings.password:
                message = '<p role="alert">Wrong password.</p>'
                return HTMLResponse(_page("login.html", message), status_code=403)
            return _refused("this token is not valid.")
        response = RedirectResponse("/", status_code=303)
        if request.scope[SESSION] is not None:  # it has a session already
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
