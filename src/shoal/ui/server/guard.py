"""Which requests are answered: every request passes here first.

- **Host** must be one of ours: a page of another site that resolves its own name to this machine (DNS rebinding) is
  refused.
- **Origin** must be ours for whatever changes something, and a browser's ``Sec-Fetch-Site`` must not name another site:
  a page elsewhere cannot act with the cookie of this one.
- **Cookie** must open a session; it is given for the token in the address, or for the password of a server.
- Answers carry no data into caches, frames, other sites' scripts or referrers.
"""

from __future__ import annotations

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from shoal.ui.server.sessions import Sessions
from shoal.ui.server.settings import Settings

OPEN_PATHS = ("/", "/login", "/static/login.css")  # what answers without a session: logging in
_SAFE = ("GET", "HEAD")
SESSION = "shoal.session"  # where a request carries the session that its cookie opens
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


class Guard:
    """The ASGI middleware around the whole page."""

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

        refusal = "this protocol is not supported." if scope["type"] != "http" else self._refusal(scope)
        if refusal:
            response = PlainTextResponse(f"Refused: {refusal}\n", status_code=403)
            await response(scope, receive, send_guarded)
            return
        await self._app(scope, receive, send_guarded)

    def _refusal(self, scope: Scope) -> str:
        """Why a request is refused; empty where it may pass. The session goes along in the scope."""
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if host not in self._settings.hosts:
            return "this page is not served at this address."
        site = headers.get("sec-fetch-site", "same-origin")
        entering = scope["path"] in OPEN_PATHS and scope["method"] in _SAFE
        if site not in {"same-origin", "none"} and not entering:
            return "the request came from another site."
        if scope["method"] not in _SAFE and headers.get("origin") not in self._settings.origins(host):
            return "the request came from another site."
        cookie = cookie_parser(headers.get("cookie", "")).get(self._settings.cookie, "")
        scope[SESSION] = self._sessions.find(cookie) if cookie else None
        if scope[SESSION] is None and scope["path"] not in OPEN_PATHS:
            return "no token. Open the address that `shoal ui` printed."
        return ""
