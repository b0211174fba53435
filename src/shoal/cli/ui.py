"""`shoal ui`: the web page."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from shoal.errors import InputError


def ui(
    *,
    host: Annotated[
        str, typer.Option("--host", help="Address to listen on. Other machines are let in only with a secret.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="Port to listen on; 0 picks a free one.")] = 0,
    name: Annotated[
        list[str] | None, typer.Option("--name", help="Another host name of the page, such as a proxy's. Repeatable.")
    ] = None,
    password_file: Annotated[
        Path | None, typer.Option("--password-file", help="File with the password that users log in with.")
    ] = None,
    token_file: Annotated[
        Path | None, typer.Option("--token-file", help="File with the token in the address (default: a random token).")
    ] = None,
    workspace: Annotated[
        Path | None,
        typer.Option("--workspace", help="Folder for sessions; those of a server that was killed are found again."),
    ] = None,
    max_upload: Annotated[str, typer.Option("--max-upload", help="Largest file that may be uploaded.")] = "2GB",
    max_rows: Annotated[int, typer.Option("--max-rows", min=1, help="Most records that a table may have.")] = 5_000_000,
    idle: Annotated[
        float, typer.Option("--idle", min=0.01, help="Minutes after which an unused session is deleted.")
    ] = 240.0,
    certificate: Annotated[Path | None, typer.Option("--certificate", help="TLS certificate (PEM).")] = None,
    key: Annotated[Path | None, typer.Option("--key", help="Private key of the certificate (PEM).")] = None,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page in a browser.")] = True,
) -> None:
    """Open the web page that turns a table into a release, on this machine or for the users of a server."""
    from shoal.ui.server.serve import default_workspace, serve
    from shoal.ui.server.settings import LOOPBACK, Settings, read_secret, read_size

    shared = host not in (*LOOPBACK, "::1")
    if shared and password_file is None and token_file is None:
        raise InputError(
            f"--host {host} lets other machines in. Add --password-file or --token-file.", code="secret-needed"
        )
    if (certificate is None) != (key is None):
        raise InputError("--certificate and --key must be given together.", code="certificate-without-key")
    settings = Settings(
        workspace=workspace if workspace is not None else default_workspace(),
        host=host,
        port=port,
        names=tuple(name or []),
        password=None if password_file is None else read_secret(password_file, "password"),
        max_upload=read_size(max_upload),
        max_rows=max_rows,
        idle_minutes=idle,
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
                "Connections are not encrypted: put a TLS proxy in front, or use --certificate and --key.", err=True
            )
        typer.echo("Press Ctrl-C to stop; all session files are then deleted.")

    serve(settings, opened=browser and not shared, say=say)
