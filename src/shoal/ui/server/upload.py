"""A file comes in: counted while it comes, since a request may lie about its length or not say one."""

from __future__ import annotations

import asyncio
from pathlib import Path

from starlette.requests import Request

from shoal.errors import InputError
from shoal.ui.server.settings import Settings
from shoal.ui.server.workspace import Workspace, safe_name


class TooLargeError(InputError):
    """More bytes than this server takes."""

    status = 413


async def receive(request: Request, workspace: Workspace, given: str, settings: Settings) -> Path:
    """Write the body of a request into the session's folder and return where; nothing is left of one that fails."""
    if not given:
        raise InputError("the upload has no file name.")
    folder = workspace.folder / "incoming"
    folder.mkdir(mode=0o700, exist_ok=True)
    path = folder / safe_name(given)
    limit = settings.max_upload
    told = request.headers.get("content-length", "")
    if told.isdecimal() and int(told) > limit:
        raise _too_large(path, limit)
    try:
        opened = await asyncio.to_thread(path.open, "xb")
    except FileExistsError:
        raise InputError(f"{path.name} is coming in already.") from None
    try:
        size = 0
        with opened as file:
            async for part in request.stream():
                size += len(part)
                if size > limit:
                    raise _too_large(path, limit)
                await asyncio.to_thread(file.write, part)
        if size == 0:
            raise InputError(f"{path.name} is empty.")
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    return path


def _too_large(path: Path, limit: int) -> TooLargeError:
    return TooLargeError(f"{path.name} has more than {limit:,} bytes, the most that is taken here.")
