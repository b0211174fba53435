"""A worker process: it takes questions on its standard input and answers on its standard output, a JSON line each.

The server never computes: what takes time happens in such a process, which can be killed without losing anything.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import queue
import signal
import sys
import threading
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from shoal.errors import ShoalError

_LINE = 256 * 1024 * 1024  # longest line that is read: a page of rows or a picture, never a table

FAULT = {
    "error": "Fault",
    "code": "fault",
    "message": "Something went wrong that should not have. Your work so far is saved; try again.",
}
"""An internal error; its own message may contain data and is sent nowhere."""
OUT_OF_MEMORY = {"error": "MemoryError", "code": "out-of-memory", "message": "There is not enough memory for this."}


class WorkerGoneError(ShoalError):
    """The process ended without an answer: it was killed, or the memory was not enough."""

    exit_code = 1
    default_code = "worker-gone"

    def __init__(self) -> None:
        super().__init__("The work ended before it was done. There may not have been enough memory.")


async def start(module: str, *arguments: str) -> asyncio.subprocess.Process:
    """Start one of our modules as a process in a group of its own, without modules of the current folder (-P); what it
    writes to stderr is dropped, since a message of a library may contain data.
    """
    return await asyncio.create_subprocess_exec(
        sys.executable,
        "-P",
        "-m",
        module,
        *arguments,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        limit=_LINE,
        start_new_session=True,
    )


def kill(process: asyncio.subprocess.Process) -> None:
    """End a process and those that it started, at once."""
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            if hasattr(os, "killpg"):
                os.killpg(process.pid, signal.SIGKILL)
            else:
                process.kill()


@dataclass(eq=False)
class _RunningProcess:
    """A process, and who waits for which of its answers."""

    process: asyncio.subprocess.Process
    waiting: dict[int, asyncio.Future[dict[str, Any]]] = field(default_factory=dict)

    async def listen(self) -> None:
        """Hand each answer to who waits for it, until the process ends; then nobody waits any more."""
        assert self.process.stdout is not None
        try:
            async for line in self.process.stdout:
                reply = json.loads(line)
                waiting = self.waiting.pop(reply["number"], None)
                if waiting is not None and not waiting.done():
                    waiting.set_result(reply["answer"])
        finally:
            kill(self.process)
            for waiting in self.waiting.values():
                if not waiting.done():
                    waiting.set_exception(WorkerGoneError())


class Worker:
    """One process that answers questions one after the other; started when it is first asked, again when it died.

    ``quick`` questions do not wait for the others: they only look at what the process holds.
    """

    def __init__(self, module: str, *arguments: str, quick: Collection[str] = ()) -> None:
        self._module, self._arguments, self._quick = module, arguments, frozenset(quick)
        self._started: _RunningProcess | None = None
        self._listening: asyncio.Task[None] | None = None
        self._starting = asyncio.Lock()
        self._turns = {True: asyncio.Lock(), False: asyncio.Lock()}
        self._numbers = count()
        self._newest: dict[str, object] = {}

    @property
    def busy(self) -> bool:
        """Whether a question is being answered."""
        return any(turn.locked() for turn in self._turns.values())

    async def ask(self, question: str, arguments: dict[str, Any], *, newest: str | None = None) -> dict[str, Any]:
        """The answer to a question. Among waiting questions of one ``newest`` kind only the last is answered: the
        others get ``{"outdated": true}``.
        """
        ticket = object()
        if newest is not None:
            self._newest[newest] = ticket
        async with self._turns[question in self._quick]:
            if newest is not None and self._newest.get(newest) is not ticket:
                return {"outdated": True}
            return await self._exchange(question, arguments)

    async def _exchange(self, question: str, arguments: dict[str, Any]) -> dict[str, Any]:
        started, number = await self._running(), next(self._numbers)
        assert started.process.stdin is not None
        waiting: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        started.waiting[number] = waiting
        line = json.dumps({"number": number, "question": question, "arguments": arguments}).encode() + b"\n"
        try:
            started.process.stdin.write(line)
            await started.process.stdin.drain()
            return await waiting
        except ConnectionError:
            raise WorkerGoneError() from None
        finally:
            started.waiting.pop(number, None)

    async def _running(self) -> _RunningProcess:
        async with self._starting:
            if self._started is None or self._listening is None or self._listening.done():
                self._started = _RunningProcess(await start(self._module, *self._arguments))
                self._listening = asyncio.create_task(self._started.listen())
            return self._started

    async def end(self) -> None:
        """End the process."""
        if self._started is not None:
            kill(self._started.process)
            await self._started.process.wait()
        if self._listening is not None:
            with contextlib.suppress(asyncio.CancelledError, ValueError):
                await self._listening
        self._started = self._listening = None


Answer = Callable[[str, dict[str, Any]], dict[str, Any]]
Lines = queue.SimpleQueue[dict[str, Any]]


def serve(answer: Answer, quick: Collection[str] = ()) -> None:
    """The other end: answer each line of stdin with a line of stdout, ``quick`` questions beside the others. When the
    input ends, nobody waits for an answer any more: so does the process, at once.
    """
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # a library that prints must not break the answers
    writing = threading.Lock()
    lanes: dict[bool, Lines] = {True: queue.SimpleQueue(), False: queue.SimpleQueue()}

    def work(lane: Lines) -> None:
        while True:
            message = lane.get()
            reply = {"number": message["number"], "answer": answer(message["question"], message["arguments"])}
            line = json.dumps(reply) + "\n"
            with writing:
                out.write(line)
                out.flush()

    threading.Thread(target=work, args=(lanes[True],), daemon=True).start()
    threading.Thread(target=_read_lines, args=(lanes, frozenset(quick)), daemon=True).start()
    work(lanes[False])


def _read_lines(lanes: Mapping[bool, Lines], quick: frozenset[str]) -> None:
    for line in sys.stdin.buffer:
        message = json.loads(line)
        lanes[message["question"] in quick].put(message)
    os._exit(0)
