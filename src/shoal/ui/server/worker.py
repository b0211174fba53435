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
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from shoal.errors import ShoalError

_LINE = 256 * 1024 * 1024
"""Longest line that is read: a page of rows or a picture, never a table."""


_GONE = "the work was ended before it was done: the memory may not have sufficed."


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


@dataclass(eq=False)
class _Started:
    """A process that runs, and who waits for which of its answers."""

    process: asyncio.subprocess.Process
    waiting: dict[int, asyncio.Future[dict[str, Any]]] = field(default_factory=dict)

    async def listen(self) -> None:
        """Hand each answer to who waits for it, until the process ends; then nobody waits any more."""
        assert self.process.stdout is not None
        try:
            async for line in self.process.stdout:
                told = json.loads(line)
                waiting = self.waiting.pop(told["number"], None)
                if waiting is not None and not waiting.done():
                    waiting.set_result(told["answer"])
        finally:
            kill(self.process)
            for waiting in self.waiting.values():
                if not waiting.done():
                    waiting.set_exception(WorkerGoneError(_GONE))


class Asked:
    """One process that answers questions one after the other; started when it is first asked, again when it died.

    ``quick`` questions do not wait for the others: they only look at what the process holds.
    """

    def __init__(self, module: str, *arguments: str, quick: Collection[str] = ()) -> None:
        self._module, self._arguments, self._quick = module, arguments, frozenset(quick)
        self._started: _Started | None = None
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
            raise WorkerGoneError(_GONE) from None
        finally:
            started.waiting.pop(number, None)

    async def _running(self) -> _Started:
        async with self._starting:
            if self._started is None or self._listening is None or self._listening.done():
                self._started = _Started(await start(self._module, *self._arguments))
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
            asked = lane.get()
            told = {"number": asked["number"], "answer": answer(asked["question"], asked["arguments"])}
            line = json.dumps(told) + "\n"
            with writing:
                out.write(line)
                out.flush()

    threading.Thread(target=work, args=(lanes[True],), daemon=True).start()
    threading.Thread(target=_take_lines, args=(lanes, frozenset(quick)), daemon=True).start()
    work(lanes[False])


def _take_lines(lanes: Mapping[bool, Lines], quick: frozenset[str]) -> None:
    for line in sys.stdin.buffer:
        asked = json.loads(line)
        lanes[asked["question"] in quick].put(asked)
    os._exit(0)
