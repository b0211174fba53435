"""The page as an ASGI application."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from importlib import resources
from pathlib import Path

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from shoal.ui.server.api import HANDLERS, Api
from shoal.ui.server.guard import Guard
from shoal.ui.server.login import Login
from shoal.ui.server.sessions import Sessions
from shoal.ui.server.settings import Settings

_KINDS = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml", ".html": "text/html"}


async def _asset(request: Request) -> Response:
    """A file of the page, as the package brings it."""
    name = request.path_params["name"]
    known = {path.name: path for path in resources.files("shoal.ui.static").iterdir()}
    kind = _KINDS.get(Path(name).suffix)
    if name not in known or kind is None:
        return PlainTextResponse("There is no such file.\n", status_code=404)
    return Response(known[name].read_bytes(), media_type=kind, headers={"Cache-Control": "no-cache"})


def make_app(settings: Settings) -> ASGIApp:
    """The whole page behind its guard; all state is in the objects made here."""
    sessions = Sessions(settings)
    api, login = Api(settings, sessions), Login(settings, sessions)

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        sweeping = asyncio.create_task(sessions.end_idle())
        try:
            yield
        finally:
            sweeping.cancel()
            await sessions.close()

    inner = Starlette(
        routes=[
            Route("/", login.home),
            Route("/login", login.form, methods=["GET"]),
            Route("/login", login.log_in, methods=["POST"]),
            Route("/static/{name}", _asset),
            Route("/api/state", api.state),
            Route("/api/table", api.upload, methods=["PUT"]),
            Route("/api/policy", api.policy, methods=["PUT"]),
            Route("/api/desk/{question}", api.desk, methods=["POST"]),
            Route("/api/runs", api.runs, methods=["GET"]),
            Route("/api/runs", api.start, methods=["POST"]),
            Route("/api/runs/{number}/cancel", api.cancel, methods=["POST"]),
            Route("/api/runs/{number}", api.delete, methods=["DELETE"]),
            Route("/api/runs/{number}", api.rename, methods=["PUT"]),
            Route("/api/runs/{number}/policy", api.policy_of),
            Route("/api/runs/{number}/notes/{name}", api.note),
            Route("/api/runs/{number}/files/{form}/{what}", api.download),
            Route("/api/end", api.end, methods=["POST"]),
        ],
        exception_handlers=HANDLERS,
        lifespan=lifespan,
    )
    return Guard(inner, settings=settings, sessions=sessions)
