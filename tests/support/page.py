"""The web page as a person uses it: looks, clicks, types, drags, uploads and downloads in a real browser.

A target is a CSS selector such as ``#example``, or what a screen reader says of it: ``Role("button", "End session")``.
Every action waits until its target is there, enabled and not covered, as a person would.

    with serving(tmp_path / "ui") as ui, Page(tmp_path) as page:
        page.goto(ui.shown)
        page.click("#example")
        page.wait_for_text("records")
        page.screenshot("data")
"""

from __future__ import annotations

import base64
import json
import os
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from support.browser import Browser, PageLeftError, Seen
from support.keys import key_events
from support.ui_server import PATIENCE, wait_until

SCREENSHOTS = "SHOAL_SCREENSHOTS"
"""Variable that names the folder for screenshots, so that they can be looked at after the tests."""
CONTROLS = frozenset(
    [
        *("button", "link", "textbox", "searchbox", "combobox", "checkbox", "radio", "slider", "spinbutton", "switch"),
        *("tab", "menuitem", "option", "treeitem"),
    ]
)

_READY = """(element, across) => {
  if (!element.isConnected || element.disabled) return null;
  element.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' });
  const box = element.getBoundingClientRect();
  const [x, y] = [box.left + box.width * across, box.top + box.height / 2];
  const hit = document.elementFromPoint(x, y);
  const label = hit && hit.closest('label');
  if (!hit || !(element.contains(hit) || hit.contains(element) || (label && label.control === element))) return null;
  return [x, y];
}"""
_OVERFLOWING = """[...document.querySelectorAll('body *')].filter((each) => {
  const box = each.getBoundingClientRect();
  if (!box.width || box.right <= innerWidth + 1) return false;
  for (let up = each.parentElement; up && up !== document.body; up = up.parentElement)
    if (getComputedStyle(up).overflowX !== 'visible') return false;
  return true;
}).map((each) => `${each.tagName}#${each.id}.${each.getAttribute('class')}`).slice(0, 5)"""
_CHOOSE = """(element, wanted) => {
  const option = [...element.options].find((each) => each.value === wanted) ??
    [...element.options].find((each) => each.textContent.trim() === wanted);
  if (!option) return false;
  element.value = option.value;
  element.dispatchEvent(new Event('input', { bubbles: true }));
  element.dispatchEvent(new Event('change', { bubbles: true }));
  return true;
}"""


@dataclass(frozen=True)
class Role:
    """A part of the page by what a screen reader says of it."""

    role: str
    name: str


Target = str | Role


class Page(Browser):
    """One page in a browser, driven by hand."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._folder = folder
        self._dragged: dict[str, Any] | None = None
        self._chooser: int | None = None
        self._downloads: dict[str, dict[str, str]] = {}

    def __enter__(self) -> Self:
        (self._folder / "downloads").mkdir(parents=True, exist_ok=True)
        self.call(
            "Browser.setDownloadBehavior",
            behavior="allowAndName", downloadPath=str(self._folder / "downloads"), eventsEnabled=True,
        )  # fmt: skip
        super().__enter__()
        for part in ("DOM", "Accessibility"):
            self.call(f"{part}.enable")
        self.call("Emulation.setFocusEmulationEnabled", enabled=True)
        self.resize(1280)
        return self

    # looking

    def goto(self, url: str) -> None:
        """Go to an address and wait until it is there."""
        result = self.call("Page.navigate", url=url)
        assert not result.get("errorText"), result
        self.wait_for("document.readyState === 'complete'")

    def reload(self) -> None:
        """Load the page again."""
        self.value("window.beforeReload = true")
        self.call("Page.reload")
        self.wait_for("!window.beforeReload && document.readyState === 'complete'")

    def resize(self, width: int, height: int = 900) -> None:
        """Look through a window of another size."""
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600
        )

    def colours(self, scheme: str) -> None:
        """Ask for ``dark`` or ``light``."""
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def value(self, expression: str) -> Any:
        """What an expression gives in the page; a promise is waited for, and what is thrown fails the test."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, (expression, answer["exceptionDetails"])
        return answer["result"].get("value")

    def wait_for(self, expression: str, *, seconds: float = PATIENCE) -> Any:
        """What an expression gives once that is true."""
        return wait_until(lambda: self._value_or_none(expression), expression, seconds=seconds)

    def _value_or_none(self, expression: str) -> Any:
        """What an expression gives; None while one page is left for another."""
        try:
            return self.value(expression)
        except PageLeftError:
            return None

    def wait_for_text(self, text: str, *, within: str = "body", seconds: float = PATIENCE) -> None:
        """Wait until a text is shown; upper and lower case count."""
        part = f"document.querySelector({json.dumps(within)})"
        try:
            self.wait_for(f"!!{part} && {part}.innerText.includes({json.dumps(text)})", seconds=seconds)
        except AssertionError as error:
            raise AssertionError(f"{text!r} is not shown in {within}:\n{self.text(within)}") from error

    def text(self, selector: str = "body") -> str:
        """What a part of the page shows."""
        return str(self.value(f"document.querySelector({json.dumps(selector)})?.innerText ?? ''"))

    def has(self, selector: str) -> bool:
        """Whether a selector finds anything."""
        return bool(self.value(f"!!document.querySelector({json.dumps(selector)})"))

    def screenshot(self, name: str) -> Path:
        """The whole page as a picture: in the folder that `SCREENSHOTS` names, else beside the profile."""
        folder = Path(os.environ.get(SCREENSHOTS) or self._folder / "screenshots")
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{name}.png"
        taken = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(taken["data"]))
        return path

    def overflowing(self) -> list[str]:
        """What makes the page wider than the window; empty when nothing does."""
        found: list[str] = self.value(_OVERFLOWING)
        width = self.value("document.documentElement.scrollWidth - innerWidth")
        return found or ([f"the document, by {width} px"] if width > 0 else [])

    def accessible(self) -> list[Role]:
        """Everything that a screen reader is told of, in its order."""
        nodes = self.call("Accessibility.getFullAXTree")["nodes"]
        seen = [each for each in nodes if not each["ignored"]]
        return [Role(str(_ax(each, "role")), str(_ax(each, "name"))) for each in seen]

    def nameless(self) -> list[Role]:
        """The controls that a screen reader cannot name."""
        return [each for each in self.accessible() if each.role in CONTROLS and not each.name.strip()]

    def watch(self) -> Seen:
        """Forget what the page did so far, and return the book in which what it does from now on is noted."""
        self.seen = Seen()
        return self.seen

    # doing

    def click(self, target: Target, *, across: float = 0.5) -> None:
        """Press and release the mouse over a target, in the middle or at another share of its width."""
        x, y = self._spot(target, across)
        self._mouse("mouseMoved", x, y)
        while (x, y) != (now := self._spot(target, across)):
            x, y = now
            self._mouse("mouseMoved", x, y)
        self._mouse("mousePressed", x, y, clickCount=1)
        self._mouse("mouseReleased", x, y, clickCount=1)

    def focus(self, target: Target) -> None:
        """Put the focus on a target."""
        self._on(target, "(element) => element.focus()")

    def write(self, target: Target, text: str) -> None:
        """Put a text in place of what a field holds; it is taken for done when the field loses the focus (`press`)."""
        self._spot(target)
        self._on(target, "(element) => { element.focus(); element.select?.(); }")
        if text:
            self.call("Input.insertText", text=text)
        else:
            self.press("Backspace")

    def select(self, target: Target, option: str) -> None:
        """Choose an option by its value or its text."""
        self._spot(target)
        assert self._on(target, _CHOOSE, option), f"{target} has no option {option!r}"

    def press(self, *keys: str) -> None:
        """Press keys one after the other: ``Tab``, ``Enter``, ``ArrowDown``, ``a``, ``Shift+Tab``, ``Control+z``."""
        for key in keys:
            for event in key_events(key):
                self.call("Input.dispatchKeyEvent", **event)

    def tab_to(self, selector: str, *, most: int = 400) -> None:
        """Come to a control by pressing Tab, and by nothing else."""
        for _ in range(most):
            if self.value(f"document.activeElement?.matches({json.dumps(selector)})"):
                return
            self.press("Tab")
        raise AssertionError(f"{selector} cannot be reached with Tab")

    def drag(self, source: Target, target: Target) -> None:
        """Drag one thing onto another with the mouse, whichever way the page listens to that."""
        self.call("Input.setInterceptDrags", enabled=True)
        self._dragged = None
        (x, y), ends = self._spot(source), self._place(target)
        self._mouse("mouseMoved", x, y)
        self._mouse("mousePressed", x, y, clickCount=1)
        for step in (4.0, 8.0, 12.0):
            self._mouse("mouseMoved", x + step, y + step, buttons=1)
        self._soon(lambda: self._dragged is not None)
        ends = self._place(target)
        for kind in ("dragEnter", "dragOver", "drop") if self._dragged is not None else ():
            self.call("Input.dispatchDragEvent", type=kind, x=ends[0], y=ends[1], data=self._dragged)
        if self._dragged is None:
            self._mouse("mouseMoved", *ends, buttons=1)
        self._mouse("mouseReleased", *ends, clickCount=1)
        self.call("Input.setInterceptDrags", enabled=False)

    def upload(self, target: Target, *files: Path) -> None:
        """Choose files in a file input."""
        self.call("DOM.setFileInputFiles", files=[str(each) for each in files], objectId=self._object(target))

    def choose_by_keys(self, *files: Path) -> None:
        """Choose files in the focused file input as without a mouse: Enter, then the window of the system."""
        self.call("Page.setInterceptFileChooserDialog", enabled=True)
        self._chooser = None
        self.press("Enter")
        self._soon(lambda: self._chooser is not None)
        assert self._chooser is not None, "no window to choose a file was opened"
        self.call("DOM.setFileInputFiles", files=[str(each) for each in files], backendNodeId=self._chooser)
        self.call("Page.setInterceptFileChooserDialog", enabled=False)

    def download(self, action: Callable[[], object]) -> Path:
        """The file that an action of the page brings, under the name that the page gives it."""
        before = set(self._downloads)
        action()

        def arrived() -> dict[str, str] | None:
            self.value("1")
            found = [each for guid, each in self._downloads.items() if guid not in before]
            return found[0] if found and found[0].get("state") == "completed" else None

        facts: dict[str, str] = wait_until(arrived, "a download")
        folder = self._folder / "downloads" / f"{len(self._downloads):03d}"
        folder.mkdir()
        return (self._folder / "downloads" / facts["guid"]).rename(folder / facts["suggestedFilename"])

    def click_time(self, target: Target, drawn: str) -> float:
        """Seconds from a click until an expression is true in a frame that is drawn, measured in the page itself."""
        self._spot(target)
        measure = f"""(element) => new Promise((resolve) => {{
          const begun = performance.now();
          const look = () => (({drawn}) ? resolve((performance.now() - begun) / 1000) : requestAnimationFrame(look));
          element.click();
          requestAnimationFrame(look);
        }})"""
        return float(self._on(target, measure))

    # inside

    def _object(self, target: Target) -> str:
        """The element of a target, once it is there."""

        def found() -> str | None:
            if isinstance(target, Role):
                root = self.call("Runtime.evaluate", expression="document")["result"]["objectId"]
                facts = {"objectId": root, "role": target.role, "accessibleName": target.name}
                nodes = self.call("Accessibility.queryAXTree", **facts)["nodes"]
                if not nodes:
                    return None
                resolved = self.call("DOM.resolveNode", backendNodeId=nodes[0]["backendDOMNodeId"])
                return str(resolved["object"]["objectId"])
            expression = f"document.querySelector({json.dumps(target)})"
            result = self.call("Runtime.evaluate", expression=expression)["result"]
            return result.get("objectId")

        return str(wait_until(found, f"{target} on the page"))

    def _on(self, target: Target, function: str, *arguments: object) -> Any:
        """Call a function of an element in the page."""
        element = self._object(target)
        given = [{"objectId": element}, *({"value": each} for each in arguments)]
        answer = self.call(
            "Runtime.callFunctionOn",
            functionDeclaration=function, objectId=element, arguments=given, returnByValue=True, awaitPromise=True,
        )  # fmt: skip
        assert "exceptionDetails" not in answer, (target, answer["exceptionDetails"])
        return answer["result"].get("value")

    def _spot(self, target: Target, across: float = 0.5) -> tuple[float, float]:
        """Where to click on a target, once it is enabled and not covered."""
        x, y = wait_until(lambda: self._on(target, _READY, across), f"{target} ready to be used")
        return float(x), float(y)

    def _place(self, target: Target) -> tuple[float, float]:
        """Where a target is, without moving the page."""
        middle = "(e) => { const b = e.getBoundingClientRect(); return [b.left + b.width / 2, b.top + b.height / 2]; }"
        x, y = self._on(target, middle)
        return float(x), float(y)

    def _mouse(self, kind: str, x: float, y: float, **more: Any) -> None:
        button = "none" if kind == "mouseMoved" and not more.get("buttons") else "left"
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button=button, **more)

    def _soon(self, check: Callable[[], bool]) -> None:
        """Give an event of the browser a moment to come."""
        end = time.monotonic() + 0.5
        while not check() and time.monotonic() < end:
            self.value("1")
            time.sleep(0.01)

    def _note(self, method: str | None, facts: dict[str, Any]) -> None:
        super()._note(method, facts)
        if method == "Input.dragIntercepted":
            self._dragged = facts["data"]
        elif method == "Page.fileChooserOpened":
            self._chooser = facts["backendNodeId"]
        elif method in {"Browser.downloadWillBegin", "Browser.downloadProgress"}:
            self._downloads.setdefault(facts["guid"], {}).update(facts)


def _ax(node: dict[str, Any], key: str) -> Any:
    return node.get(key, {}).get("value", "")


def elsewhere(seen: Seen, host: str) -> Iterable[str]:
    """The requests that went anywhere else than to one host."""
    return [url for url in seen.requests if f"//{host}/" not in url and not url.startswith(("data:", "blob:"))]
