"""`shoal ui`: the web page."""

import secrets
from pathlib import Path
from typing import Annotated

import typer

from shoal.cli.options import option
from shoal.errors import InputError


def ui(
    *,
    host: Annotated[
        str, option("Address to listen on. Other machines can connect only with a password or a token.")
    ] = "127.0.0.1",
    port: Annotated[int, option("Port to listen on; 0 picks a free one.", min=0, max=65535)] = 0,
    name: Annotated[list[str] | None, option("Another host name of the page, such as a proxy's. Repeatable.")] = None,
    password_file: Annotated[Path | None, option("File with the password that users log in with.")] = None,
    token_file: Annotated[Path | None, option("File with the token for the address (default: a random token).")] = None,
    workspace: Annotated[
        Path | None, option("Folder for sessions; after a crash, the page continues with the sessions in it.")
    ] = None,
    max_upload: Annotated[str, option("Largest file that may be uploaded.")] = "2GB",
    max_rows: Annotated[int, option("Largest number of records in a table.", min=1)] = 5_000_000,
    idle: Annotated[float, option("Minutes after which an unused session is deleted.", min=0.01)] = 240.0,
    certificate: Annotated[Path | None, option("TLS certificate (PEM).")] = None,
    key: Annotated[Path | None, option("Private key of the certificate (PEM).")] = None,
    browser: Annotated[bool, option("Open the page in a browser.", "--browser/--no-browser")] = True,
) -> None:
    """Open the web page that turns a table into a release, on this machine or for the users of a server."""
    from shoal.ui.server.serve import default_workspace, serve
    from shoal.ui.server.settings import Settings, read_secret, read_size

    if (certificate is None) != (key is None):
        raise InputError("--certificate and --key must be given together.", code="certificate-without-key")
    settings = Settings(
        workspace=workspace if workspace is not None else default_workspace(),
        host=host,
        port=port,
        names=tuple(name or []),
        token=secrets.token_urlsafe(32) if token_file is None else read_secret(token_file, "token"),
        password=None if password_file is None else read_secret(password_file, "password"),
        max_upload=read_size(max_upload),
        max_rows=max_rows,
        idle_minutes=idle,
        certificate=certificate,
        key=key,
    )
    if settings.shared and password_file is None and token_file is None:
        given = f"--name {settings.names[0]}" if settings.names else f"--host {host}"
        raise InputError(f"{given} lets other machines in. Add --password-file or --token-file.", code="secret-needed")

    def say(address: str) -> None:
        typer.echo(f"Shoal is at {address.partition('?')[0] if settings.shared else address}")
        if settings.shared and certificate is None and settings.reached_from_elsewhere:
            typer.echo(
                "Connections are not encrypted: put a TLS proxy in front, or use --certificate and --key.", err=True
            )
        typer.echo("Press Ctrl-C to stop; all session files are then deleted.")

    serve(settings, opened=browser and not settings.shared, say=say)
