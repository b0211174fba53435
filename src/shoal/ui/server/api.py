"""The requests of the page. Nothing is computed here: the desk and the runs are processes of their own."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, JSONResponse, Response

from shoal.declarations import ParameterKind
from shoal.edits import PolicyEdit, apply_edits
from shoal.errors import InputError, ShoalError
from shoal.io import readable_suffixes
from shoal.models import MODELS
from shoal.policy.algorithm_spec import AlgorithmSpec
from shoal.policy.yaml_text import dump_yaml, parse_yaml
from shoal.ui.desk import INTERNAL, NEWEST, document
from shoal.ui.server.guard import SESSION
from shoal.ui.server.policy_limits import check_incoming, checked_document
from shoal.ui.server.sessions import Session, Sessions
from shoal.ui.server.settings import Settings
from shoal.ui.server.upload import receive
from shoal.ui.server.worker import FAULT
from shoal.ui.server.workspace import read_json, write_bytes

_LONGEST = 64 * 1024 * 1024  # bytes of a message of the page, at most: a policy with a large hierarchy
_PATIENCE = 1.5  # seconds that saving a policy waits for its review


class OutdatedError(InputError):
    """A change of a policy that has been changed since: another window was faster."""

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
        text, checked = document.text_of(session.workspace.policy), document.check_file(session.workspace.policy)
        return {
            "table": read_json(session.workspace.table_notes) or None,
            "policy": document.to_page(checked.document),
            **document.file_facts(text),
            "problems": [document.problem_to_page(each, checked.document) for each in checked.problems],
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
        """Take a table in: counted while it comes, opened by the desk, and in place only when it can be read."""
        session = _session(request)
        options = {key: value for key, value in request.query_params.items() if key != "name"}
        incoming = await receive(request, session.workspace, request.query_params.get("name", ""), self._settings)
        try:
            return await self._ask(session, "open_upload", {"name": incoming.name, "options": options})
        finally:
            await asyncio.to_thread(incoming.unlink, missing_ok=True)

    async def policy(self, request: Request) -> Response:
        """Write the policy and review it: the document that the page edited, YAML text, or edits to make.

        The answer has the file's text and revision and, where the desk is quick, its problems, the forecast and the
        time estimate; else ``pending``, and the page asks the desk for the review.
        """
        session = _session(request)
        sent = await _body(request)
        async with session.writing:
            written, question = await asyncio.to_thread(self._write_policy, session, sent)
        review = asyncio.ensure_future(session.desk.ask("review", question, newest="review"))
        await asyncio.wait({review}, timeout=_PATIENCE)
        if not review.done():
            review.add_done_callback(_ignore_result)
            return JSONResponse({**written, "pending": True})
        answer = review.result()
        if "error" in answer:
            return JSONResponse({**written, "trouble": answer["error"]})
        return JSONResponse({**written, **({"pending": True} if "outdated" in answer else answer)})

    def _write_policy(self, session: Session, sent: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """Write the policy file: what the page gets to know of it, and the question about it for the desk."""
        path = session.workspace.policy
        if "revision" in sent and sent["revision"] != document.revision_of(document.text_of(path)):
            raise OutdatedError("The policy was changed elsewhere; this change was not saved.", code="policy-outdated")
        question: dict[str, Any] = {"forecast": bool(sent.get("forecast"))}
        if "yaml" in sent:
            text = str(sent["yaml"])
            content = checked_document(parse_yaml(text, "the policy"))
            write_bytes(path, text.encode())
            expanded = document.check_document(content).document
            return {"policy": document.to_page(expanded), **document.file_facts(text)}, question
        if "edits" in sent:
            content = self._edited(session, sent)
        else:
            content = checked_document(document.from_page(sent.get("policy")))
        text = dump_yaml(content)
        write_bytes(path, text.encode())
        written: dict[str, Any] = document.file_facts(text)
        if "edits" in sent:
            written["policy"] = document.to_page(content)
        return written, {**question, "document": document.to_page(content), "revision": written["revision"]}

    def _edited(self, session: Session, sent: dict[str, Any]) -> Any:
        """The policy, or that of a run, with the edits of a suggestion made."""
        if not isinstance(sent["edits"], list):
            raise InputError("Edits are sent as a list.", code="edit-unreadable")
        edits = [PolicyEdit.from_dict(each) for each in sent["edits"]]
        run = sent.get("run")
        base = session.workspace.policy if run is None else session.workspace.run(str(run)) / "policy.yaml"
        return checked_document(apply_edits(document.check_file(base).document, edits))

    async def desk(self, request: Request) -> Response:
        """Any question to the desk."""
        question = request.path_params["question"]
        if question in INTERNAL:
            raise InputError(f"There is no question {question!r}.", code="unknown-question")
        return await self._ask(_session(request), question, await _body(request))

    async def _ask(self, session: Session, question: str, arguments: dict[str, Any]) -> Response:
        await asyncio.to_thread(check_incoming, arguments)
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
            raise InputError(f"There is no kind of run called {kind!r}.", code="unknown-kind")
        session.workspace.table()  # raises where there is none
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
        checked = await asyncio.to_thread(document.check_file, folder / "policy.yaml")
        return JSONResponse({"policy": document.to_page(checked.document)})

    async def note(self, request: Request) -> Response:
        """One of the notes that a run left for the page."""
        session, name = _session(request), request.path_params["name"]
        if name not in {"evidence", "lattice"}:
            raise InputError(f"A run has no {name!r}.", code="no-such-file")
        path = session.runs.file(request.path_params["number"], f"{name}.json")
        return FileResponse(path, media_type="application/json")

    async def download(self, request: Request) -> Response:
        """A file of a run to download: the same bytes as the command line writes from its policy."""
        session, number = _session(request), request.path_params["number"]
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
            raise InputError(f"The message is larger than {_LONGEST:,} bytes.", code="message-too-large")
        parts.append(part)
    try:
        content = json.loads(b"".join(parts) or b"{}", parse_constant=_no_number)
    except (ValueError, RecursionError):
        raise InputError("The message is not JSON.", code="not-json") from None
    if not isinstance(content, dict):
        raise InputError("The message is not a JSON object.", code="not-json")
    return content


def _no_number(text: str) -> None:
    raise ValueError(text)


def _ignore_result(task: asyncio.Future[Any]) -> None:
    """Nobody waits for this answer any more: the page asks again."""
    if not task.cancelled():
        task.exception()


async def shoal_error(_: Request, error: Exception) -> Response:
    """An error raised on purpose, with its code and message."""
    assert isinstance(error, ShoalError)
    return JSONResponse({"error": error.to_dict()}, status_code=getattr(error, "status", 400))


async def internal_error(_: Request, __: Exception) -> Response:
    """An error of ours: its message may contain data, so it goes nowhere."""
    return JSONResponse({"error": FAULT}, status_code=500)


async def unreadable(_: Request, __: Exception) -> Response:
    """Half a character, or a text nested too deeply."""
    error = InputError("The message cannot be read.", code="not-json")
    return JSONResponse({"error": error.to_dict()}, status_code=400)


async def gone(_: Request, __: Exception) -> Response:
    """The browser went away in the middle."""
    return Response(status_code=400)


HANDLERS: Any = {
    ShoalError: shoal_error,
    ClientDisconnect: gone,
    UnicodeEncodeError: unreadable,
    RecursionError: unreadable,
    Exception: internal_error,
}
