"""Receiving a file: counted on the way, since a request may state a wrong length or none."""

from __future__ import annotations

import asyncio
from pathlib import Path

from starlette.requests import Request

from shoal.errors import InputError
from shoal.ui.server.settings import Settings
from shoal.ui.server.workspace import Workspace, safe_name


class TooLargeError(InputError):
    """More bytes than this server allows."""

    status = 413


async def receive(request: Request, workspace: Workspace, given: str, settings: Settings) -> Path:
    """Write the body of a request into the session's folder and return where; nothing is left of one that fails."""
    if not given:
        raise InputError("The upload has no file name.", code="no-file-name")
    folder = workspace.folder / "incoming"
    folder.mkdir(mode=0o700, exist_ok=True)
    path = folder / safe_name(given)
    limit = settings.max_upload
    stated = request.headers.get("content-length", "")
    if stated.isdecimal() and int(stated) > limit:
        raise _too_large(path, limit)
    try:
        opened = await asyncio.to_thread(path.open, "xb")
    except FileExistsError:
        raise InputError(f"{path.name} is being uploaded already.", code="upload-in-progress") from None
    try:
        size = 0
        with opened as file:
            async for part in request.stream():
                size += len(part)
                if size > limit:
                    raise _too_large(path, limit)
                await asyncio.to_thread(file.write, part)
        if size == 0:
            raise InputError(f"{path.name} is empty.", code="empty-file")
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    return path


def _too_large(path: Path, limit: int) -> TooLargeError:
    return TooLargeError(f"{path.name} is larger than {limit:,} bytes, the limit here.", code="file-too-large")
