"""A process of ours that is asked over its standard input and answers over its standard output, a JSON line each.

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
from collections.abc import Callable
from typing import Any

from shoal.errors import ShoalError

_LINE = 256 * 1024 * 1024
"""Longest line that is read: a page of rows or a picture, never a table."""


class WorkerGoneError(ShoalError):
    """The process ended without an answer: it was killed, or the memory did not suffice."""

    exit_code = 1


async def start(module: str, *arguments: str) -> asyncio.subprocess.Process:
    """Start one of our modules as a process in a group of its own; what it writes to stderr is not kept, since a
    message of a library may hold data.
    """
    return await asyncio.create_subprocess_exec(
        sys.executable,
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


class Asked:
    """One process that answers questions one after the other; started when it is first asked, again when it died."""

    def __init__(self, module: str, *arguments: str) -> None:
        self._module, self._arguments = module, arguments
        self._process: asyncio.subprocess.Process | None = None
        self._turn = asyncio.Lock()
        self._newest: dict[str, object] = {}

    @property
    def busy(self) -> bool:
        """Whether a question is being answered."""
        return self._turn.locked()

    async def ask(self, question: str, arguments: dict[str, Any], *, newest: str | None = None) -> dict[str, Any]:
        """The answer to a question. Among waiting questions of one ``newest`` kind only the last is answered: the
        others get ``{"outdated": true}``.
        """
        ticket = object()
        if newest is not None:
            self._newest[newest] = ticket
        async with self._turn:
            if newest is not None and self._newest.get(newest) is not ticket:
                return {"outdated": True}
            return await self._exchange(question, arguments)

    async def _exchange(self, question: str, arguments: dict[str, Any]) -> dict[str, Any]:
        if self._process is None or self._process.returncode is not None:
            self._process = await start(self._module, *self._arguments)
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        line = b""
        try:
            process.stdin.write(json.dumps({"question": question, "arguments": arguments}).encode() + b"\n")
            await process.stdin.drain()
            line = await process.stdout.readline()
        except BaseException as error:
            kill(process)  # an answer that nobody waits for must not meet the next question
            if not isinstance(error, ConnectionError):
                raise
        if not line:
            await process.wait()
            raise WorkerGoneError("the work was ended before it was done: the memory may not have sufficed.")
        answer: dict[str, Any] = json.loads(line)
        return answer

    async def end(self) -> None:
        """End the process."""
        if self._process is not None:
            kill(self._process)
            await self._process.wait()
            self._process = None


def serve(answer: Callable[[str, dict[str, Any]], dict[str, Any]]) -> None:
    """The other end: answer each line of stdin with a line of stdout. When the input ends, nobody waits for an answer
    any more: so does the process, at once.
    """
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # a library that prints must not break the answers
    lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_take_lines, args=(lines,), daemon=True).start()
    while True:
        asked = json.loads(lines.get())
        out.write(json.dumps(answer(asked["question"], asked["arguments"])) + "\n")
        out.flush()


def _take_lines(lines: queue.SimpleQueue[bytes]) -> None:
    for line in sys.stdin.buffer:
        lines.put(line)
    os._exit(0)
