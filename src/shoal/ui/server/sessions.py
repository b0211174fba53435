"""The sessions: one on a laptop, one per browser on a server, each with its own folder and process."""

import asyncio
import contextlib
import hmac
import secrets
import shutil
import time
from dataclasses import dataclass, field

from shoal.errors import InputError
from shoal.ui.desk import NEWEST, QUICK
from shoal.ui.server.runs import Runs
from shoal.ui.server.settings import Settings
from shoal.ui.server.worker import Worker
from shoal.ui.server.workspace import Workspace, delete_all, left_behind

_LAPTOP = "session-laptop"
"""The folder of the one session where only the owner of the machine can come: it is found again after a crash. No
cookie of a server can lead there, since its name is no hash."""


@dataclass(eq=False)
class Session:
    """One person's work."""

    workspace: Workspace
    desk: Worker
    runs: Runs
    used: float = field(default_factory=time.monotonic)
    writing: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held while the policy is compared with what a change was made on, and written."""
    ending: bool = False


class Sessions:
    """The sessions of one server."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._open: dict[str, Session] = {}
        self._slots = asyncio.Semaphore(1)  # two runs at once would only take each other's memory and processor

    def open_session(self) -> str:
        """The cookie for a browser that logged in: on a laptop for the one session, else for a new one."""
        if not self._settings.shared:
            return self._settings.token
        if len(left_behind(self._settings.workspace)) >= self._settings.max_sessions:
            raise InputError("All sessions are in use. Try again later.", code="all-sessions-in-use")
        secret = secrets.token_urlsafe(32)
        Workspace.of(self._settings.workspace, secret).create()
        return secret

    def find(self, cookie: str) -> Session | None:
        """The session that a cookie opens; None for one that opens nothing."""
        if not self._settings.shared:
            known = hmac.compare_digest(cookie.encode(), self._settings.token.encode())
            return self._session(Workspace(self._settings.workspace / _LAPTOP)) if known else None
        workspace = Workspace.of(self._settings.workspace, cookie)
        return self._session(workspace) if workspace.folder.is_dir() else None

    def _session(self, workspace: Workspace) -> Session | None:
        name = workspace.folder.name
        session = self._open.get(name)
        if session is None:
            workspace.create()
            shutil.rmtree(workspace.incoming, ignore_errors=True)  # of an upload that a kill broke off
            arguments = (str(workspace.folder), str(self._settings.max_rows))
            desk = Worker("shoal.ui.desk.main", *arguments, quick=QUICK, newest=NEWEST)
            session = self._open[name] = Session(workspace, desk, Runs(workspace, self._slots))
        session.used = time.monotonic()
        return None if session.ending else session

    async def end(self, session: Session) -> None:
        """Stop what goes on in a session and delete every file of it; who asks meanwhile finds no session."""
        session.ending = True
        try:
            await session.runs.end()
            await session.desk.end()
            await asyncio.to_thread(session.workspace.delete)
        finally:
            self._open.pop(session.workspace.folder.name, None)

    async def end_idle(self) -> None:
        """End the sessions that nobody used for long, those of an earlier server included; for ever."""
        while True:
            await asyncio.sleep(min(60.0, self._settings.idle_minutes * 15))
            with contextlib.suppress(OSError):  # a file that cannot be deleted now may be the next time
                await self._sweep()

    async def _sweep(self) -> None:
        patience = self._settings.idle_minutes * 60
        for session in list(self._open.values()):
            if session.runs.busy or session.desk.busy:
                session.used = time.monotonic()  # who waits for a long run has as long to look at it
            elif time.monotonic() - session.used > patience and not session.ending:
                await self.end(session)
        for workspace in left_behind(self._settings.workspace):
            if workspace.folder.name not in self._open and workspace.age > patience:
                await asyncio.to_thread(workspace.delete)

    async def close(self) -> None:
        """The server ends: nothing of any session is left, those of an earlier server included."""
        for session in list(self._open.values()):
            await self.end(session)
        await asyncio.to_thread(delete_all, self._settings.workspace)
