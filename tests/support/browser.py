"""A real browser, driven over a pair of pipes: pages are loaded, looked at and printed as a reader would.

Chromium speaks its DevTools protocol over the file descriptors 3 and 4, a message being JSON that ends in a NUL byte.
"""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pytest

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_OPTIONS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--remote-debugging-pipe",
)
_START = """import fcntl, os, sys
ends = [fcntl.fcntl(int(each), fcntl.F_DUPFD, 10) for each in sys.argv[1:3]]
os.dup2(ends[0], 3)
os.dup2(ends[1], 4)
os.execv(sys.argv[3], sys.argv[3:])"""
"""Puts the pipes where the browser looks for them, whatever numbers they have here."""

_PATIENCE = 120.0
"""Seconds of silence after which a browser is given up."""


def browser_path() -> str:
    """The browser of this machine; a test without one is skipped, but fails where everything must be tested."""
    found = next((path for path in map(shutil.which, _NAMES) if path), None)
    if found is None:
        reason = f"no browser ({', '.join(_NAMES)}) is installed"
        if os.environ.get("CI"):
            pytest.fail(f"{reason}, and CI is set")
        pytest.skip(reason)
    return found


class PageLeftError(Exception):
    """The page was left for another one while it was asked something."""


@dataclass
class Seen:
    """What a page did while it was loaded."""

    requests: list[str] = field(default_factory=list)
    messages: list[str] = field(default_factory=list)
    """Errors and warnings of the console, blocked loads included."""
    dialogs: list[str] = field(default_factory=list)
    """What alert() and its kind said; they are closed at once."""


class Browser:
    """One page in a browser without a window."""

    def __init__(self, folder: Path) -> None:
        program = browser_path()
        to_browser, self._out = os.pipe()
        self._in, from_browser = os.pipe()
        self._process = subprocess.Popen(
            [
                sys.executable, "-c", _START, str(to_browser), str(from_browser),
                program, *_OPTIONS, f"--user-data-dir={folder / 'profile'}", "about:blank",
            ],
            pass_fds=(to_browser, from_browser),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(to_browser)
        os.close(from_browser)
        self._number, self._rest, self._session = 0, b"", None
        self.seen = Seen()

    def __enter__(self) -> Self:
        try:
            target = self.call("Target.createTarget", url="about:blank")["targetId"]
            self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
            for part in ("Page", "Network", "Log", "Runtime"):
                self.call(f"{part}.enable")
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the browser."""
        os.close(self._out)
        self._process.kill()
        self._process.wait()
        os.close(self._in)

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send a command and return its result; events on the way are noted."""
        number = self._send(method, parameters)
        while True:
            answer = self._next()
            if answer.get("id") == number:
                if "navigated" in str(answer.get("error")):
                    raise PageLeftError(method)
                assert "error" not in answer, (method, answer)
                result: dict[str, Any] = answer["result"]
                return result

    def _send(self, method: str, parameters: dict[str, Any]) -> int:
        self._number += 1
        session = {} if self._session is None else {"sessionId": self._session}
        message = {"id": self._number, "method": method, "params": parameters, **session}
        rest = json.dumps(message).encode() + b"\0"
        while rest:
            rest = rest[os.write(self._out, rest) :]
        return self._number

    def open(self, page: Path, *, width: int, height: int = 800) -> Seen:
        """Load a page at a width and say what it did."""
        self.seen = Seen()
        size = {"width": width, "height": height, "deviceScaleFactor": 1}
        self.call("Emulation.setDeviceMetricsOverride", **size, mobile=width < 600)
        self.call("Page.navigate", url=page.as_uri())
        while self._next().get("method") != "Page.loadEventFired":
            pass
        return self.seen

    def value(self, expression: str) -> Any:
        """What an expression gives in the page."""
        return self.call("Runtime.evaluate", expression=expression, returnByValue=True)["result"].get("value")

    def printed(self) -> bytes:
        """The page as a PDF, by its own rules for paper."""
        return base64.b64decode(self.call("Page.printToPDF", preferCSSPageSize=True)["data"])

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            assert select.select([self._in], [], [], _PATIENCE)[0], f"the browser said nothing for {_PATIENCE} s"
            more = os.read(self._in, 1 << 20)
            assert more, "the browser has gone"
            self._rest += more
        raw, _, self._rest = self._rest.partition(b"\0")
        message: dict[str, Any] = json.loads(raw)
        self._note(message.get("method"), message.get("params", {}))
        return message

    def _note(self, method: str | None, facts: dict[str, Any]) -> None:
        if method == "Network.requestWillBeSent":
            self.seen.requests.append(facts["request"]["url"])
        elif method == "Log.entryAdded":
            self.seen.messages.append(facts["entry"]["text"])
        elif method in {"Runtime.exceptionThrown", "Runtime.consoleAPICalled"}:
            self.seen.messages.append(json.dumps(facts))
        elif method == "Page.javascriptDialogOpening":
            self.seen.dialogs.append(facts["message"])
            self._send("Page.handleJavaScriptDialog", {"accept": False})
