"""`shoal ui`: the web page."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import typer

from shoal.errors import InputError
from shoal.ui.server.serve import default_workspace, serve
from shoal.ui.server.settings import LOOPBACK, Settings, read_secret, read_size


def run_ui(
    *,
    host: str,
    port: int,
    names: list[str],
    password_file: Path | None,
    token_file: Path | None,
    workspace: Path | None,
    max_upload: str,
    max_rows: int,
    idle_minutes: float,
    certificate: Path | None,
    key: Path | None,
    browser: bool,
) -> None:
    """Serve the page until Ctrl-C."""
    shared = host not in (*LOOPBACK, "::1")
    if shared and password_file is None and token_file is None:
        raise InputError(f"--host {host} lets other machines in: give --password-file or --token-file as well.")
    if (certificate is None) != (key is None):
        raise InputError("--certificate and --key belong together: give both, or neither.")
    settings = Settings(
        workspace=workspace if workspace is not None else default_workspace(),
        host=host,
        port=port,
        names=tuple(names),
        password=None if password_file is None else read_secret(password_file, "password"),
        max_upload=read_size(max_upload),
        max_rows=max_rows,
        idle_minutes=idle_minutes,
        certificate=certificate,
        key=key,
    )
    if token_file is not None:
        settings = replace(settings, token=read_secret(token_file, "token"))

    def say(address: str) -> None:
        shown = address.partition("?")[0] if shared else address
        typer.echo(f"Shoal is at {shown}")
        if shared and certificate is None:
            typer.echo(
                "It speaks plain HTTP: put a proxy with TLS before it, or give --certificate and --key", err=True
            )
        typer.echo("Stop it with Ctrl-C. All files of its sessions are deleted then.")

    serve(settings, opened=browser and not shared, say=say)
