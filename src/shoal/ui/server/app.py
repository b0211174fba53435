"""The page as an ASGI application: every request and its answer.

Nothing is computed here: the desk and the runs are processes of their own.
"""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from importlib import resources
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from shoal.declarations import ParameterKind
from shoal.edits import PolicyEdit, apply_edits
from shoal.errors import InputError, ShoalError
from shoal.io import readable_suffixes
from shoal.models import MODELS
from shoal.policy.algorithm_spec import AlgorithmSpec
from shoal.policy.yaml_text import dump_yaml, parse_yaml
from shoal.ui.desk import INTERNAL, document
from shoal.ui.server.access import Guard, Login
from shoal.ui.server.policy_limits import check_incoming, checked_document
from shoal.ui.server.sessions import Session, Sessions
from shoal.ui.server.settings import Settings
from shoal.ui.server.worker import FAULT
from shoal.ui.server.workspace import read_json, safe_name, write_bytes

_LONGEST = 64 * 1024 * 1024  # bytes of a message of the page, at most: a policy with a large hierarchy
_KINDS = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml", ".html": "text/html"}
_PATIENCE = 1.5  # seconds that saving a policy waits for its review
_STATUS = {"policy-outdated": 409, "file-too-large": 413}  # of errors with these codes; any other is a bad request


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
            Route("/login", login.log_in, methods=["GET", "POST"]),
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
            Route("/api/runs/{number}/files/{form}/{what}", api.download),
            Route("/api/end", api.end, methods=["POST"]),
        ],
        exception_handlers=dict.fromkeys(_HANDLED, _error_response),
        lifespan=lifespan,
    )
    return Guard(inner, settings=settings, sessions=sessions)


async def _asset(request: Request) -> Response:
    """A file of the page, as the package brings it."""
    name = request.path_params["name"]
    known = {path.name: path for path in resources.files("shoal.ui.static").iterdir()}
    kind = _KINDS.get(Path(name).suffix)
    if name not in known or kind is None:
        return PlainTextResponse("There is no such file.\n", status_code=404)
    return Response(known[name].read_bytes(), media_type=kind, headers={"Cache-Control": "no-cache"})


class Api:
    """The answers, for the session that a request belongs to."""

    def __init__(self, settings: Settings, sessions: Sessions) -> None:
        self._settings, self._sessions = settings, sessions

    async def state(self, request: Request) -> Response:
        """Everything that the page shows at its start: table, policy, runs."""
        return JSONResponse(await asyncio.to_thread(self._state, request.state.session))

    def _state(self, session: Session) -> dict[str, Any]:
        text, checked = document.text_of(session.workspace.policy), document.check_file(session.workspace.policy)
        return {
            "table": read_json(session.workspace.table_notes) or None,
            "policy": document.to_page(checked.document),
            **document.file_facts(text),
            "problems": checked.problems_to_page(),
            "runs": session.runs.all(),
            "limits": {"bytes": self._settings.max_upload, "rows": self._settings.max_rows},
            "suffixes": readable_suffixes(),
            "shared": self._settings.shared,
            "algorithm": AlgorithmSpec().name,
            "models": {
                name: {
                    "sensitive": model.reads_sensitive(),
                    "by_category": [each.name for each in model.parameters if each.kind is ParameterKind.BY_CATEGORY],
                }
                for name, model in MODELS.items()
            },
        }

    async def upload(self, request: Request) -> Response:
        """Take a table in: counted while it comes, opened by the desk, and used only when it can be read."""
        session: Session = request.state.session
        options = dict(request.query_params)
        given = options.pop("name", "")
        if not given:
            raise InputError("The upload has no file name.", code="no-file-name")
        incoming = session.workspace.incoming / safe_name(given)
        incoming.parent.mkdir(mode=0o700, exist_ok=True)
        stated = request.headers.get("content-length", "")
        self._check_size(incoming, int(stated) if stated.isdecimal() else 0)
        try:
            opened = await asyncio.to_thread(incoming.open, "xb")
        except FileExistsError:
            raise InputError(f"{incoming.name} is being uploaded already.", code="upload-in-progress") from None
        try:
            with opened as file:
                size = 0
                async for part in request.stream():  # counted, since a request may state a wrong length or none
                    size += len(part)
                    self._check_size(incoming, size)
                    await asyncio.to_thread(file.write, part)
            if size == 0:
                raise InputError(f"{incoming.name} is empty.", code="empty-file")
            return await self._ask(session, "open_upload", {"name": incoming.name, "options": options})
        finally:
            await asyncio.to_thread(incoming.unlink, missing_ok=True)

    def _check_size(self, path: Path, size: int) -> None:
        if size > (limit := self._settings.max_upload):
            raise InputError(f"{path.name} is larger than {limit:,} bytes, the limit here.", code="file-too-large")

    async def policy(self, request: Request) -> Response:
        """Write the policy and review it: the document that the page edited, YAML text, or edits to make.

        The answer has the file's text and revision and, where the desk is quick, its problems, the forecast and the
        time estimate; else ``pending``, and the page asks the desk for the review.
        """
        session: Session = request.state.session
        sent = await _body(request)
        async with session.writing:
            written, question = await asyncio.to_thread(self._write_policy, session, sent)
        review = asyncio.ensure_future(session.desk.ask("review", question))
        await asyncio.wait({review}, timeout=_PATIENCE)
        if not review.done():
            review.add_done_callback(lambda late: late.cancelled() or late.exception())  # the page asks again
            return JSONResponse({**written, "pending": True})
        answer = review.result()
        if "error" in answer:
            return JSONResponse({**written, "trouble": answer["error"]})
        return JSONResponse({**written, **({"pending": True} if "outdated" in answer else answer)})

    def _write_policy(self, session: Session, sent: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """Write the policy file: what the page gets to know of it, and the question about it for the desk."""
        path = session.workspace.policy
        if "revision" in sent and sent["revision"] != document.revision_of(document.text_of(path)):
            raise InputError("The policy was changed elsewhere; this change was not saved.", code="policy-outdated")
        question: dict[str, Any] = {"forecast": bool(sent.get("forecast"))}
        if "yaml" in sent:
            text = str(sent["yaml"])
            content = checked_document(parse_yaml(text, "the policy"))
            write_bytes(path, text.encode())
            expanded = document.check_document(content).document
            return {"policy": document.to_page(expanded), **document.file_facts(text)}, question
        if "edits" in sent:  # those of a suggestion, for the policy or for that of a run
            if not isinstance(sent["edits"], list):
                raise InputError("Edits are sent as a list.", code="edit-unreadable")
            edits, run = [PolicyEdit.from_dict(each) for each in sent["edits"]], sent.get("run")
            base = path if run is None else session.workspace.run(str(run)) / "policy.yaml"
            content = apply_edits(document.check_file(base).document, edits)
        else:
            content = document.from_page(sent.get("policy"))
        text = dump_yaml(checked_document(content))
        write_bytes(path, text.encode())
        written, shown = document.file_facts(text), {"policy": document.to_page(content)}
        question |= {"document": shown["policy"], "revision": written["revision"]}
        return {**written, **(shown if "edits" in sent else {})}, question

    async def desk(self, request: Request) -> Response:
        """Any question to the desk."""
        question = request.path_params["question"]
        if question in INTERNAL:
            raise InputError(f"There is no question {question!r}.", code="unknown-question")
        return await self._ask(request.state.session, question, await _body(request))

    async def _ask(self, session: Session, question: str, arguments: dict[str, Any]) -> Response:
        await asyncio.to_thread(check_incoming, arguments)
        answer = await session.desk.ask(question, arguments)
        await session.runs.end_lost()  # another table may have been opened
        return JSONResponse(answer, status_code=400 if "error" in answer else 200)

    async def runs(self, request: Request) -> Response:
        """All runs."""
        return JSONResponse({"runs": await asyncio.to_thread(request.state.session.runs.all)})

    async def start(self, request: Request) -> Response:
        """Start a run of the policy as it stands."""
        session, sent = request.state.session, await _body(request)
        kind = str(sent.get("kind", "release"))
        if kind not in {"release", "lattice"}:
            raise InputError(f"There is no kind of run called {kind!r}.", code="unknown-kind")
        session.workspace.table()  # raises where there is none
        number = session.runs.start(session.workspace.policy.read_bytes(), kind, str(sent.get("name", ""))[:200])
        return JSONResponse(session.runs.describe(number), status_code=202)

    async def cancel(self, request: Request) -> Response:
        """Stop a run."""
        session, number = request.state.session, request.path_params["number"]
        await session.runs.cancel(number)
        return JSONResponse(session.runs.describe(number))

    async def delete(self, request: Request) -> Response:
        """Forget a run."""
        await request.state.session.runs.delete(request.path_params["number"])
        return JSONResponse({})

    async def rename(self, request: Request) -> Response:
        """Give a run another name."""
        session, number = request.state.session, request.path_params["number"]
        session.runs.rename(number, str((await _body(request)).get("name", ""))[:200])
        return JSONResponse(session.runs.describe(number))

    async def policy_of(self, request: Request) -> Response:
        """The policy that a run was made with, as the page edits it."""
        folder = request.state.session.workspace.run(request.path_params["number"])
        checked = await asyncio.to_thread(document.check_file, folder / "policy.yaml")
        return JSONResponse({"policy": document.to_page(checked.document)})

    async def download(self, request: Request) -> Response:
        """A file of a run to download: the same bytes as the command line writes from its policy."""
        session, number = request.state.session, request.path_params["number"]
        files = read_json(session.runs.file(number, "files.json"))
        name = files.get(request.path_params["form"], {}).get(request.path_params["what"])
        if name is None:
            raise InputError("A run has no such file.", code="no-such-file")
        path = session.runs.file(number, request.path_params["form"], name)
        if request.path_params["what"] == "report" and "look" in request.query_params:
            policy = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'"
            return FileResponse(path, media_type="text/html", headers={"Content-Security-Policy": policy})
        return FileResponse(path, media_type="application/octet-stream", filename=name)

    async def end(self, request: Request) -> Response:
        """End the session: every file of it is deleted."""
        await self._sessions.end(request.state.session)
        response = JSONResponse({"ended": True})
        response.delete_cookie(self._settings.cookie, path="/")
        return response


async def _body(request: Request) -> dict[str, Any]:
    """The JSON that a request brings."""
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > _LONGEST:
            raise InputError(f"The message is larger than {_LONGEST:,} bytes.", code="message-too-large")
        parts.append(part)
    try:
        content = json.loads(b"".join(parts) or b"{}", parse_constant=int)  # raises for NaN and Infinity
    except (ValueError, RecursionError):
        raise InputError("The message is not JSON.", code="not-json") from None
    if not isinstance(content, dict):
        raise InputError("The message is not a JSON object.", code="not-json")
    return content


async def _error_response(_: Request, error: Exception) -> Response:
    """An error raised on purpose, with its code and message; the message of any other may contain data."""
    if isinstance(error, ClientDisconnect):  # the browser went away in the middle
        return Response(status_code=400)
    if isinstance(error, (UnicodeEncodeError, RecursionError)):  # half a character, or a text nested too deeply
        error = InputError("The message cannot be read.", code="not-json")
    if isinstance(error, ShoalError):
        return JSONResponse({"error": error.to_dict()}, status_code=_STATUS.get(error.code, 400))
    return JSONResponse({"error": FAULT}, status_code=500)


_HANDLED = (ShoalError, ClientDisconnect, UnicodeEncodeError, RecursionError, Exception)
