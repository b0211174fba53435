"""`shoal ui`: start the server, open the browser, and leave nothing behind at the end."""

import asyncio
import contextlib
import logging
import os
import signal
import socket
import webbrowser
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from shoal.errors import InputError, MissingExtraError
from shoal.ui.server.settings import Settings
from shoal.ui.server.workspace import delete_all, sole_user


def default_workspace() -> Path:
    """Where sessions lie when nothing is said: the user's own state folder."""
    base = os.environ.get("XDG_STATE_HOME") or str(Path.home() / ".local" / "state")
    return Path(base) / "shoal" / "ui"


def serve(settings: Settings, *, opened: bool, say: Callable[[str], None]) -> None:
    """Serve until it is stopped. ``opened`` opens a browser; ``say`` tells the address once it answers."""
    try:
        import uvicorn  # noqa: PLC0415 - an extra

        from shoal.ui.server.app import make_app  # noqa: PLC0415 - needs the extra
    except ImportError as error:
        raise MissingExtraError("shoal ui", "ui") from error
    os.umask(0o077)  # files are for their owner only
    logging.disable()  # a message of a library may hold data
    with sole_user(settings.workspace) as alone:
        if not alone:
            message = f"Another shoal ui is using {settings.workspace}. Use its page, or choose another folder:"
            raise InputError(f"{message} --workspace.", code="workspace-in-use")
        listening = _listen(settings)
        settings = replace(settings, port=listening.getsockname()[1])
        quiet = {"log_config": None, "access_log": False, "server_header": False, "date_header": False}
        tls = {"ssl_certfile": settings.certificate, "ssl_keyfile": settings.key}
        config: Any = {**quiet, **tls, "ws": "none", "lifespan": "on", "timeout_graceful_shutdown": 2}
        server = uvicorn.Server(uvicorn.Config(make_app(settings), **config))

        def end(*_: object) -> None:
            server.should_exit = True

        for number in (getattr(signal, name, None) for name in ("SIGTERM", "SIGHUP")):
            if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, end)  # a service manager says so, or the terminal is closed

        async def run() -> None:
            serving = asyncio.create_task(server.serve(sockets=[listening]))
            while not server.started and not serving.done():
                await asyncio.sleep(0.02)
            if server.started:
                say(settings.address(settings.token))
                if opened:
                    await asyncio.to_thread(webbrowser.open, settings.address(settings.opening))
            await serving

        with contextlib.suppress(KeyboardInterrupt):
            asyncio.run(run())
        delete_all(settings.workspace)  # a second Ctrl-C leaves the server no time for it


def _listen(settings: Settings) -> socket.socket:
    """A socket at the address asked for; port 0 takes a free one."""
    six = ":" in settings.host
    family, both = (socket.AF_INET6, socket.has_dualstack_ipv6()) if six else (socket.AF_INET, False)
    try:
        return socket.create_server((settings.host, settings.port), family=family, dualstack_ipv6=both)
    except OSError as error:
        message = f"{settings.host}:{settings.port} cannot be used: {os.strerror(error.errno or 0)}."
        raise InputError(f"{message} Choose another with --port.", code="address-in-use") from None
