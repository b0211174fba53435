"""`shoal ui` as a process of its own on a free port, and a client that says exactly what it is told to say."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import signal
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

PATIENCE = 120.0
"""Seconds after which something that should happen is taken not to: far more than it takes."""


def wait_until(check: Callable[[], Any], what: str, *, seconds: float = PATIENCE) -> Any:
    """What ``check`` gives once that is true."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = check()
        if found:
            return found
        time.sleep(0.02)
    raise AssertionError(f"{what} did not happen within {seconds} s")


@dataclass(frozen=True)
class Answer:
    """What the server said."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """The body as JSON."""
        return json.loads(self.body)

    @property
    def message(self) -> str:
        """The sentence of an error."""
        return str(self.json["error"]["message"])


@dataclass
class Ui:
    """A running server."""

    process: subprocess.Popen[bytes]
    workspace: Path
    folder: Path
    """Where its stdout and stderr go."""
    shown: str = ""
    """The address that it printed."""

    @property
    def said(self) -> str:
        """Everything that it wrote to stdout and stderr."""
        return "".join((self.folder / name).read_text(encoding="utf-8", errors="replace") for name in ("out", "err"))

    @property
    def host(self) -> str:
        """Name and port."""
        return urlsplit(self.shown).netloc

    @property
    def token(self) -> str:
        """The token of the address; empty on a server for several people, which does not show it."""
        return urlsplit(self.shown).query.removeprefix("token=")

    def stop(self, how: int = signal.SIGTERM) -> int:
        """End it with a signal and wait; its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(how)
        return self.process.wait(PATIENCE)

    def processes(self) -> dict[int, str]:
        """The processes that work in its workspace, itself apart, each with its command line."""
        mine, found = str(self.workspace).encode(), {}
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit() and int(entry.name) not in {os.getpid(), self.process.pid}:
                with contextlib.suppress(OSError):
                    line = (entry / "cmdline").read_bytes()
                    if mine in line and b"shoal.ui" in line:
                        found[int(entry.name)] = line.replace(b"\0", b" ").decode()
        return found

    def files(self) -> list[str]:
        """What lies in its workspace."""
        return sorted(str(each.relative_to(self.workspace)) for each in self.workspace.rglob("*"))


@contextlib.contextmanager
def serving(folder: Path, *options: object, **environment: str) -> Iterator[Ui]:
    """A server with its workspace in a folder, killed at the end if it still goes on."""
    folder.mkdir(parents=True, exist_ok=True)
    workspace = folder / "workspace"
    command = [sys.executable, "-m", "shoal", "ui", "--no-browser", "--port", "0", "--workspace", str(workspace)]
    with (folder / "out").open("wb") as out, (folder / "err").open("wb") as err:
        process = subprocess.Popen(
            [*command, *map(str, options)],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            env=os.environ | environment,
        )
    ui = Ui(process, workspace, folder)
    try:
        wait_until(lambda: "Shoal is at " in ui.said or process.poll() is not None, "the start of the server")
        assert process.poll() is None, ui.said
        ui.shown = ui.said.partition("Shoal is at ")[2].split()[0]
        yield ui
    finally:
        process.kill()
        process.wait()


@dataclass
class Client:
    """Asks a server over HTTP, with the cookie of one browser; every header can be told otherwise or left out."""

    ui: Ui
    cookie: str = ""
    headers: dict[str, str | None] = field(default_factory=dict)
    """Headers that differ from those a browser sends; None leaves one out."""
    source: str = ""
    """The address of this machine that it comes from; any if empty."""

    @classmethod
    def inside(cls, ui: Ui, token: str = "") -> Client:
        """A client that came in with the token."""
        client = cls(ui)
        client.enter(client.ask("GET", f"/?token={token or ui.token}"))
        return client

    def enter(self, answer: Answer) -> None:
        """Keep the cookie of an answer that lets in."""
        assert answer.status == 303, answer
        self.cookie = answer.headers["set-cookie"].partition(";")[0]

    def connection(self, timeout: float = PATIENCE) -> http.client.HTTPConnection:
        """A connection to the server; a certificate made for a test is taken as it is."""
        host, port = urlsplit(self.ui.shown).hostname or "", urlsplit(self.ui.shown).port
        if self.ui.shown.startswith("https:"):
            context = ssl.create_default_context()
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
            return http.client.HTTPSConnection(host, port, timeout=timeout, context=context)
        source = (self.source, 0) if self.source else None
        return http.client.HTTPConnection(host, port, timeout=timeout, source_address=source)

    def ask(self, method: str, path: str, body: Any = None, *, chunked: bool = False, **headers: str | None) -> Answer:
        """One request, as a browser on the page would send it: a dict goes as JSON. A keyword is a header."""
        origin = self.ui.shown.partition("/?")[0].rstrip("/")
        sent: dict[str, str | None] = {"Host": self.ui.host, "Cookie": self.cookie or None}
        sent |= {} if method in {"GET", "HEAD"} else {"Origin": origin, "Sec-Fetch-Site": "same-origin"}
        sent |= self.headers | {name.replace("_", "-"): value for name, value in headers.items()}
        content = json.dumps(body).encode() if isinstance(body, dict) else body
        if isinstance(content, bytes) and not chunked:
            sent.setdefault("Content-Length", str(len(content)))
        connection = self.connection()
        with contextlib.closing(connection):
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            for name, value in sent.items():
                if value is not None:
                    connection.putheader(name, value)
            if chunked:
                connection.putheader("Transfer-Encoding", "chunked")
            with contextlib.suppress(ConnectionError):  # a refusal may come before everything was sent
                connection.endheaders(content, encode_chunked=chunked)
            answer = connection.getresponse()
            headers, said = {name.lower(): text for name, text in answer.getheaders()}, answer.read()
            assert str(self.ui.workspace).encode() not in said, "an answer tells where the server keeps its files"
            return Answer(answer.status, headers, said)

    def upload(self, name: str, content: bytes, **headers: str | None) -> Answer:
        """Send a file as the page does."""
        return self.ask("PUT", f"/api/table?name={quote(name)}", content, **headers)

    def saved_problems(self, policy: Any) -> list[dict[str, Any]]:
        """Save a policy: the problems that it has."""
        answer = self.ask("PUT", "/api/policy", {"policy": policy}).json
        found: list[dict[str, Any]] = (self.desk("review").json if answer.get("pending") else answer)["problems"]
        return found

    def desk(self, question: str, **arguments: Any) -> Answer:
        """A question to the desk."""
        return self.ask("POST", f"/api/desk/{question}", arguments)

    def run(self, kind: str = "release", name: str = "") -> str:
        """Start a run; its number."""
        answer = self.ask("POST", "/api/runs", {"kind": kind, "name": name})
        assert answer.status == 202, answer
        return str(answer.json["number"])

    def state_of(self, number: str) -> dict[str, Any]:
        """One run."""
        return next(each for each in self.ask("GET", "/api/runs").json["runs"] if each["number"] == number)

    def finished(self, number: str) -> dict[str, Any]:
        """A run once it has ended."""
        found = wait_until(
            lambda: each if (each := self.state_of(number))["state"] != "running" else None, f"the end of run {number}"
        )
        assert isinstance(found, dict)
        return found

    def raw(self) -> socket.socket:
        """A bare connection, on which anything can be said."""
        parts = urlsplit(self.ui.shown)
        return socket.create_connection((parts.hostname, parts.port), timeout=PATIENCE)

    def half_upload(self, name: str, content: bytes, *, told: int) -> socket.socket:
        """Begin an upload that says it has ``told`` bytes, send less, and keep the line."""
        line = self.raw()
        head = {"Host": self.ui.host, "Origin": f"http://{self.ui.host}", "Cookie": self.cookie, "Content-Length": told}
        lines = [f"PUT /api/table?name={name} HTTP/1.1", *(f"{key}: {value}" for key, value in head.items()), "", ""]
        line.sendall("\r\n".join(lines).encode() + content)
        return line
