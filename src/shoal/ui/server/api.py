"""What the page may ask of the server. Nothing is computed here: the desk and the runs are processes of their own."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, JSONResponse, Response

from shoal.errors import InputError, ShoalError
from shoal.io import readable_suffixes
from shoal.ui.desk import document
from shoal.ui.desk.questions import NEWEST, QUESTIONS
from shoal.ui.server.accepted import accept, accepted_policy
from shoal.ui.server.guard import SESSION
from shoal.ui.server.sessions import Session, Sessions
from shoal.ui.server.settings import Settings
from shoal.ui.server.upload import receive
from shoal.ui.server.workspace import write_bytes

_LONGEST = 64 * 1024 * 1024
"""Bytes of a message of the page, at most: a policy with a large hierarchy."""


class OutdatedError(InputError):
    """A change of a policy that is no longer the one that stands: another window was quicker."""

    status = 409


class Api:
    """The answers, for the session that a request belongs to."""

    def __init__(self, settings: Settings, sessions: Sessions) -> None:
        self._settings, self._sessions = settings, sessions

    async def state(self, request: Request) -> Response:
        """Everything that the page shows at its start: table, policy, runs."""
        session = _session(request)
        return JSONResponse(await asyncio.to_thread(self._state, session))

    def _state(self, session: Session) -> dict[str, Any]:
        content, text = document.load(session.workspace)
        settled, problems = document.judged(content) if content else (content, [])
        return {
            "table": session.workspace.read("table.json") or None,
            "policy": document.to_page(settled),
            "yaml": text,
            "revision": document.revision(text),
            "problems": [document.problem_to_page(each) for each in problems],
            "runs": session.runs.all(),
            "limits": {"bytes": self._settings.max_upload, "rows": self._settings.max_rows},
            "suffixes": readable_suffixes(),
            "shared": self._settings.shared,
        }

    async def upload(self, request: Request) -> Response:
        """Take a table in: counted while it comes, opened by the desk, and in place only when it can be read."""
        session = _session(request)
        options = {key: value for key, value in request.query_params.items() if key != "name"}
        incoming = await receive(request, session.workspace, request.query_params.get("name", ""), self._settings)
        try:
            return await self._ask(session, "open_upload", {"name": incoming.name, "options": options})
        finally:
            await asyncio.to_thread(incoming.unlink, missing_ok=True)

    async def policy(self, request: Request) -> Response:
        """Write the policy: the document that the page edited, or YAML text that a person wrote."""
        session = _session(request)
        sent = await _body(request)
        async with session.writing:
            return JSONResponse(await asyncio.to_thread(self._write_policy, session, sent))

    def _write_policy(self, session: Session, sent: dict[str, Any]) -> dict[str, Any]:
        if "revision" in sent and sent["revision"] != document.revision(document.text_of(session.workspace)):
            raise OutdatedError("the policy was changed elsewhere meanwhile; this change was not written.")
        if "yaml" in sent:
            text = str(sent["yaml"])
            content = accepted_policy(document.parse(text))
            write_bytes(session.workspace.policy, text.encode())
        else:
            content = accepted_policy(document.from_page(sent.get("policy")))
            text = document.save(session.workspace, content)
        settled, problems = document.judged(content)
        return {
            "policy": document.to_page(settled),
            "yaml": text,
            "revision": document.revision(text),
            "problems": [document.problem_to_page(each) for each in problems],
        }

    async def desk(self, request: Request) -> Response:
        """Any question to the desk."""
        question = request.path_params["question"]
        if question not in QUESTIONS:
            raise InputError(f"there is no question {question!r}.")
        return await self._ask(_session(request), question, await _body(request))

    async def _ask(self, session: Session, question: str, arguments: dict[str, Any]) -> Response:
        await asyncio.to_thread(accept, arguments)
        newest = question if question in NEWEST else None
        answer = await session.desk.ask(question, arguments, newest=newest)
        await session.runs.end_lost()  # another table may have been opened
        return JSONResponse(answer, status_code=400 if "error" in answer else 200)

    async def runs(self, request: Request) -> Response:
        """All runs."""
        return JSONResponse({"runs": await asyncio.to_thread(_session(request).runs.all)})

    async def start(self, request: Request) -> Response:
        """Start a run of the policy as it stands."""
        session = _session(request)
        sent = await _body(request)
        kind = str(sent.get("kind", "release"))
        if kind not in {"release", "lattice"}:
            raise InputError(f"there is no run of the kind {kind!r}.")
        if session.workspace.table() is None:
            raise InputError("there is no table yet.")
        text = session.workspace.policy.read_bytes()
        number = session.runs.start(text, kind, str(sent.get("name", ""))[:200])
        return JSONResponse(session.runs.describe(number), status_code=202)

    async def cancel(self, request: Request) -> Response:
        """Stop a run."""
        session, number = _session(request), request.path_params["number"]
        session.workspace.run(number)
        await session.runs.cancel(number)
        return JSONResponse(session.runs.describe(number))

    async def delete(self, request: Request) -> Response:
        """Forget a run."""
        await _session(request).runs.delete(request.path_params["number"])
        return JSONResponse({})

    async def rename(self, request: Request) -> Response:
        """Give a run another name."""
        session, number = _session(request), request.path_params["number"]
        session.runs.rename(number, str((await _body(request)).get("name", ""))[:200])
        return JSONResponse(session.runs.describe(number))

    async def policy_of(self, request: Request) -> Response:
        """The policy that a run was made with, as the page edits it."""
        folder = _session(request).workspace.run(request.path_params["number"])
        text = await asyncio.to_thread((folder / "policy.yaml").read_text, encoding="utf-8")
        return JSONResponse({"policy": document.to_page(document.settled(document.parse(text))), "yaml": text})

    async def note(self, request: Request) -> Response:
        """One of the notes that a run left for the page."""
        session, name = _session(request), request.path_params["name"]
        if name not in {"evidence", "lattice"}:
            raise InputError(f"a run has no {name!r}.")
        path = session.runs.file(request.path_params["number"], f"{name}.json")
        return FileResponse(path, media_type="application/json")

    async def download(self, request: Request) -> Response:
        """A file of a run to take away: the same bytes as the command line writes from its policy."""
        session, number = _session(request), request.path_params["number"]
        files = json.loads(session.runs.file(number, "files.json").read_text(encoding="utf-8"))
        name = files.get(request.path_params["form"], {}).get(request.path_params["what"])
        if name is None:
            raise InputError("a run has no such file.")
        path = session.runs.file(number, request.path_params["form"], name)
        if request.path_params["what"] == "report" and "look" in request.query_params:
            policy = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'"
            return FileResponse(path, media_type="text/html", headers={"Content-Security-Policy": policy})
        return FileResponse(path, media_type="application/octet-stream", filename=name)

    async def end(self, request: Request) -> Response:
        """End the session: every file of it is deleted."""
        await self._sessions.end(_session(request))
        response = JSONResponse({"ended": True})
        response.delete_cookie(self._settings.cookie, path="/")
        return response


def _session(request: Request) -> Session:
    session: Session = request.scope[SESSION]
    return session


async def _body(request: Request) -> dict[str, Any]:
    """The JSON that a request brings."""
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > _LONGEST:
            raise InputError(f"the message has more than {_LONGEST:,} bytes.")
        parts.append(part)
    try:
        content = json.loads(b"".join(parts) or b"{}", parse_constant=_no_number)
    except (ValueError, RecursionError):
        raise InputError("the message is no JSON.") from None
    if not isinstance(content, dict):
        raise InputError("the message is no JSON object.")
    return content


def _no_number(text: str) -> None:
    raise ValueError(text)


async def told(_: Request, error: Exception) -> Response:
    """An error on purpose, in its own words."""
    assert isinstance(error, ShoalError)
    status = getattr(error, "status", 400)
    return JSONResponse({"error": error.to_dict()}, status_code=status)


async def untold(_: Request, __: Exception) -> Response:
    """A fault of ours: what it says may hold data, so it goes nowhere."""
    message = "something went wrong here that should not. What you did so far is kept; try again or reload the page."
    return JSONResponse({"error": {"error": "Fault", "message": message}}, status_code=500)


async def unreadable(_: Request, __: Exception) -> Response:
    """Half a character, or a text nested too deeply."""
    return JSONResponse({"error": {"error": "InputError", "message": "the message cannot be read."}}, status_code=400)


async def gone(_: Request, __: Exception) -> Response:
    """The browser went away in the middle."""
    return Response(status_code=400)


HANDLERS: Any = {
    ShoalError: told,
    ClientDisconnect: gone,
    UnicodeEncodeError: unreadable,
    RecursionError: unreadable,
    Exception: untold,
}
