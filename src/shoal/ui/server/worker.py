"""Worker processes: each takes questions on its standard input and answers on its standard output, a JSON line each.

The server never computes: what takes time happens in such a process, which can be killed without losing anything.
`Worker` is the server's end of the line, `serve` that of the process.
"""

import asyncio
import contextlib
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import count
from typing import Any

from shoal.errors import ShoalError
from shoal.search.problem import Progress
from shoal.ui.server.workspace import Workspace

Answer = dict[str, Any]
_EVERY = 0.1  # seconds between two lines of progress within a stage
_LINE = 256 * 1024 * 1024  # longest line that is read: a page of rows or a picture, never a table

FAULT = {
    "error": "Fault",
    "code": "fault",
    "message": "Something went wrong that should not have. Your work so far is saved; try again.",
}
"""An internal error; its own message may contain data and is sent nowhere."""
_OUT_OF_MEMORY = {"error": "MemoryError", "code": "out-of-memory", "message": "There is not enough memory for this."}


class WorkerGoneError(ShoalError):
    """The process ended without an answer: it was killed, or the memory was not enough."""

    exit_code = 1
    default_code = "worker-gone"

    def __init__(self) -> None:
        super().__init__("The work ended before it was done. There may not have been enough memory.")


class Worker:
    """One process that answers questions one after the other; started when it is first asked, again when it died.

    ``quick`` questions do not wait for the others: they only look at what the process holds. Of the ``newest``
    questions of one name that wait, only the last is answered: the others get ``{"outdated": true}``.
    """

    def __init__(self, module: str, *arguments: str, quick: Collection[str] = (), newest: Collection[str] = ()) -> None:
        self._command = (sys.executable, "-P", "-m", module, *arguments)  # -P: no modules of the current folder
        self._quick, self._newest = quick, newest
        self._process: asyncio.subprocess.Process | None = None
        self._listening: asyncio.Task[None] | None = None
        self._waiting: dict[int, tuple[asyncio.Future[Answer], Progress | None]] = {}
        self._starting = asyncio.Lock()
        self._turns = {True: asyncio.Lock(), False: asyncio.Lock()}
        self._numbers = count()
        self._last: dict[str, object] = {}

    @property
    def busy(self) -> bool:
        """Whether a question is being answered."""
        return any(turn.locked() for turn in self._turns.values())

    async def ask(self, question: str, arguments: Mapping[str, Any], progress: Progress | None = None) -> Answer:
        """The answer to a question. Raises `WorkerGoneError` if the process ends before."""
        ticket = self._last[question] = object()
        async with self._turns[question in self._quick]:
            if question in self._newest and self._last[question] is not ticket:
                return {"outdated": True}
            process, number = await self._running(), next(self._numbers)
            assert process.stdin is not None
            answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
            self._waiting[number] = (answer, progress)
            message = {"number": number, "question": question, "arguments": arguments}
            try:
                process.stdin.write(json.dumps(message).encode() + b"\n")
                await process.stdin.drain()
                return await answer
            except ConnectionError:
                raise WorkerGoneError from None
            finally:
                self._waiting.pop(number, None)

    async def _running(self) -> asyncio.subprocess.Process:
        """The process, in a group of its own; what it writes to stderr is dropped, since it may contain data."""
        async with self._starting:
            if self._process is None or self._listening is None or self._listening.done():
                pipe, nowhere = asyncio.subprocess.PIPE, asyncio.subprocess.DEVNULL
                self._process = await asyncio.create_subprocess_exec(
                    *self._command, stdin=pipe, stdout=pipe, stderr=nowhere, limit=_LINE, start_new_session=True
                )
                self._listening = asyncio.create_task(self._listen(self._process))
            return self._process

    async def _listen(self, process: asyncio.subprocess.Process) -> None:
        """Hand each answer to who waits for it, until the process ends; then nobody waits any more."""
        assert process.stdout is not None
        try:
            async for line in process.stdout:
                reply = json.loads(line)
                answer, progress = self._waiting.get(reply["number"], (None, None))
                if "progress" in reply and progress is not None:
                    progress(*reply["progress"])
                elif "answer" in reply and answer is not None and not answer.done():
                    answer.set_result(reply["answer"])
        finally:
            _kill(process)
            for answer, _ in self._waiting.values():
                if not answer.done():
                    answer.set_exception(WorkerGoneError())

    async def end(self) -> None:
        """End the process."""
        if self._process is not None:
            _kill(self._process)
            await self._process.wait()
        if self._listening is not None:
            with contextlib.suppress(asyncio.CancelledError, ValueError):
                await self._listening
        self._process = self._listening = None


def _kill(process: asyncio.subprocess.Process) -> None:
    """End a process and those that it started, at once."""
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            if hasattr(os, "killpg"):
                os.killpg(process.pid, signal.SIGKILL)
            else:
                process.kill()


def serve(
    answer: Callable[[str, Mapping[str, Any], Progress], Answer], workspace: Workspace, quick: Collection[str] = ()
) -> None:
    """Answer lines of stdin on stdout, ``quick`` questions beside the others; the process ends when its input does."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # a library that prints must not break the answers
    writing = threading.Lock()
    lanes = {True: ThreadPoolExecutor(1), False: ThreadPoolExecutor(1)}

    def write(**facts: Any) -> None:
        line = json.dumps(facts) + "\n"
        with writing:
            out.write(line)
            out.flush()

    def reply(number: int, question: str, arguments: Mapping[str, Any]) -> None:
        last = ("", 0.0)

        def progress(stage: str, share: float) -> None:
            nonlocal last
            if stage != last[0] or time.monotonic() - last[1] > _EVERY:
                last = (stage, time.monotonic())
                write(number=number, progress=[stage, share])

        try:
            write(number=number, answer=answer(question, arguments, progress))
        except Exception as error:
            write(number=number, answer={"error": error_to_page(error, workspace)})

    for line in sys.stdin.buffer:
        message = json.loads(line)
        lanes[message["question"] in quick].submit(reply, **message).add_done_callback(_end_if_unanswered)
    os._exit(0)


def _end_if_unanswered(done: Future[None]) -> None:
    """End the process when it could not even answer with an error, so that nobody waits for ever."""
    if done.exception() is not None:
        os._exit(1)


def error_to_page(error: Exception, workspace: Workspace) -> dict[str, Any]:
    """An error as the page shows it; an internal error says nothing, since its message may contain data."""
    if isinstance(error, ShoalError):
        return dict(workspace.without_paths(error.to_dict()))
    return _OUT_OF_MEMORY if isinstance(error, MemoryError) else FAULT
