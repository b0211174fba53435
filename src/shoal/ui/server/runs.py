"""The runs of a session: each has a folder with its policy, what became of it, and its release once it is whole."""

from __future__ import annotations

import asyncio
import contextlib
import json
import shutil
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from shoal.errors import InputError
from shoal.ui.server.worker import WorkerGoneError, kill, start
from shoal.ui.server.workspace import Workspace, read_json, write_bytes, write_json

STATUS = "status.json"
OUT = "out"
WORK = "work"
SAVED = "run.pickle"
"""What a run was made from and became, for the desk's answers about it. It never leaves the session's folder, which
only its owner may write."""


@dataclass(eq=False)
class _ActiveRun:
    """A run that waits or is running."""

    task: asyncio.Task[None]
    process: asyncio.subprocess.Process | None = None
    stage: str = "waiting for other runs"
    share: float = 0.0
    begun: float = field(default_factory=time.monotonic)


class Runs:
    """Starts, watches and stops runs; what is finished is read from disk, so that a crash loses none of it."""

    def __init__(self, workspace: Workspace, slots: asyncio.Semaphore) -> None:
        self._workspace, self._slots = workspace, slots
        self._active: dict[str, _ActiveRun] = {}
        self._clear_interrupted()

    @property
    def busy(self) -> bool:
        """Whether a run waits or is running."""
        return bool(self._active)

    def start(self, policy: bytes, kind: str, name: str) -> str:
        """Queue a run of a policy and return its number. ``kind`` is ``release`` or ``lattice``."""
        number = self._free_number()
        folder = self._workspace.runs / number
        folder.mkdir(mode=0o700)
        write_bytes(folder / "policy.yaml", policy)
        write_json(folder / STATUS, {"kind": kind, "name": name, "state": "running", "started": time.time()})
        self._active[number] = _ActiveRun(asyncio.create_task(self._run(number, folder)))
        return number

    async def cancel(self, number: str) -> None:
        """Stop a run; its folder says so."""
        active = self._active.get(number)
        if active is not None:
            active.task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await active.task

    async def delete(self, number: str) -> None:
        """Stop a run and forget it."""
        folder = self._workspace.run(number)
        await self.cancel(number)
        await asyncio.to_thread(shutil.rmtree, folder)

    def rename(self, number: str, name: str) -> None:
        """Give a run another name."""
        self._note(self._workspace.run(number), name=name)

    async def end_lost(self) -> None:
        """Stop the runs whose folder went away together with their table."""
        for number in list(self._active):
            folder = self._workspace.runs / number
            if not (folder / STATUS).exists():
                await self.cancel(number)
                await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)

    async def end(self) -> None:
        """Stop all."""
        for number in list(self._active):
            await self.cancel(number)

    def all(self) -> list[dict[str, Any]]:
        """Every run, the first first: how far it is, or what became of it."""
        folders = sorted(path for path in self._workspace.runs.iterdir() if (path / STATUS).exists())
        return [self.describe(folder.name) for folder in folders]

    def describe(self, number: str) -> dict[str, Any]:
        """One run."""
        folder = self._workspace.run(number)
        facts = {"number": number, **read_json(folder / STATUS)}
        active = self._active.get(number)
        if active is not None:
            facts |= {"waiting": active.process is None, "stage": active.stage, "share": active.share}
            facts["seconds"] = time.monotonic() - active.begun
        return facts

    def file(self, number: str, *parts: str) -> Path:
        """A file of a finished run; `InputError` where there is none."""
        path = self._workspace.run(number).joinpath(OUT, *parts)
        if not path.is_file():
            message = f"Run {number} has no such file: it is not finished, or it failed."
            raise InputError(message, code="no-such-file")
        return path

    async def _run(self, number: str, folder: Path) -> None:
        active, state = self._active[number], "cancelled"
        more: dict[str, Any] = {}
        try:
            async with self._slots:
                active.begun = time.monotonic()
                state, more = await self._watched(active, folder)
        finally:
            if active.process is not None:
                kill(active.process)
                await active.process.wait()
            shutil.rmtree(folder / WORK, ignore_errors=True)
            seconds = time.monotonic() - active.begun
            self._note(folder, state=state, seconds=seconds, **more)
            del self._active[number]

    async def _watched(self, active: _ActiveRun, folder: Path) -> tuple[str, dict[str, Any]]:
        """Follow the process of a run to its end: the state it ends in, and what it says."""
        active.process = await start("shoal.ui.run.main", str(folder), str(self._workspace.folder))
        assert active.process.stdout is not None
        last: dict[str, Any] = {}
        async for line in active.process.stdout:
            last = json.loads(line)
            active.stage, active.share = last.get("stage", active.stage), last.get("share", active.share)
        if last.get("done"):
            return "done", {"summary": last["summary"]}
        if "error" in last:
            return "failed", {"error": last["error"]}
        return "failed", {"error": WorkerGoneError().to_dict()}

    def _note(self, folder: Path, **facts: Any) -> None:
        if folder.is_dir():
            write_json(folder / STATUS, {**read_json(folder / STATUS), **facts})

    def _free_number(self) -> str:
        taken = [path.name for path in self._workspace.runs.iterdir() if path.name.isdigit()]
        number = max(map(int, [*taken, *self._active]), default=0) + 1
        if number > 999_999:
            raise InputError("There are too many runs. Delete some.", code="too-many-runs")
        return f"{number:03d}"

    def _clear_interrupted(self) -> None:
        """Runs that went on when an earlier server was killed: what they had written is taken away, and they say so."""
        for folder in self._workspace.runs.iterdir():
            shutil.rmtree(folder / WORK, ignore_errors=True)
            if read_json(folder / STATUS).get("state") == "running":
                self._note(folder, state="interrupted")
