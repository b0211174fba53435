"""The runs of a session: each has a folder with its policy, what became of it, and its release once it is whole."""

import asyncio
import contextlib
import shutil
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from shoal.errors import InputError
from shoal.ui.server.worker import Worker, WorkerGoneError
from shoal.ui.server.workspace import OUT, STATUS, WORK, Workspace, read_json, write_bytes, write_json


@dataclass(eq=False)
class _ActiveRun:
    """A run that waits or is running."""

    task: asyncio.Task[None]
    waiting: bool = True
    stage: str = "waiting for other runs"
    share: float = 0.0
    begun: float = field(default_factory=time.monotonic)

    def show(self, stage: str, share: float) -> None:
        """Note how far the run is."""
        self.stage, self.share = stage, share


class Runs:
    """Starts, watches and stops runs; what is finished is read from disk, so that a crash loses none of it."""

    def __init__(self, workspace: Workspace, slots: asyncio.Semaphore) -> None:
        self._workspace, self._slots = workspace, slots
        self._active: dict[str, _ActiveRun] = {}
        for folder in workspace.runs.iterdir():  # runs that went on when an earlier server was killed
            shutil.rmtree(folder / WORK, ignore_errors=True)
            if read_json(folder / STATUS).get("state") == "running":
                self._note(folder, state="interrupted")

    @property
    def busy(self) -> bool:
        """Whether a run waits or is running."""
        return bool(self._active)

    def start(self, policy: bytes, kind: str, name: str) -> str:
        """Queue a run of a policy and return its number. ``kind`` is ``release`` or ``lattice``."""
        taken = [path.name for path in self._workspace.runs.iterdir() if path.name.isdigit()]
        free = max(map(int, [*taken, *self._active]), default=0) + 1
        if free > 999_999:
            raise InputError("There are too many runs. Delete some.", code="too-many-runs")
        number = f"{free:03d}"
        folder = self._workspace.runs / number
        folder.mkdir(mode=0o700)
        write_bytes(folder / "policy.yaml", policy)
        write_json(folder / STATUS, {"kind": kind, "name": name, "state": "running", "started": time.time()})
        self._active[number] = _ActiveRun(asyncio.create_task(self._run(number, folder, kind)))
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
        return [self.describe(folder.name) for folder in self._workspace.run_folders()]

    def describe(self, number: str) -> dict[str, Any]:
        """One run."""
        folder = self._workspace.run(number)
        facts = {"number": number, **read_json(folder / STATUS)}
        active = self._active.get(number)
        if active is not None:
            facts |= {"waiting": active.waiting, "stage": active.stage, "share": active.share}
            facts["seconds"] = time.monotonic() - active.begun
        return facts

    def file(self, number: str, *parts: str) -> Path:
        """A file of a finished run; `InputError` where there is none."""
        path = self._workspace.run(number).joinpath(OUT, *parts)
        if not path.is_file():
            message = f"Run {number} has no such file: it is not finished, or it failed."
            raise InputError(message, code="no-such-file")
        return path

    async def _run(self, number: str, folder: Path, kind: str) -> None:
        active = self._active[number]
        outcome: dict[str, Any] = {"state": "cancelled"}
        worker = Worker("shoal.ui.run.main", str(folder), str(self._workspace.folder))
        try:
            async with self._slots:
                active.begun, active.waiting = time.monotonic(), False
                answer = await worker.ask(kind, {}, active.show)
                outcome = {"state": "failed" if "error" in answer else "done", **answer}
        except WorkerGoneError as error:
            outcome = {"state": "failed", "error": error.to_dict()}
        finally:
            await worker.end()
            shutil.rmtree(folder / WORK, ignore_errors=True)
            self._note(folder, **outcome, seconds=time.monotonic() - active.begun)
            del self._active[number]

    def _note(self, folder: Path, **facts: Any) -> None:
        if folder.is_dir():
            write_json(folder / STATUS, {**read_json(folder / STATUS), **facts})
