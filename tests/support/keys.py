"""Keys as a browser is told of them."""

from __future__ import annotations

from typing import Any

_CODES = {
    "Tab": 9, "Enter": 13, "Escape": 27, "Space": 32, "PageUp": 33, "PageDown": 34, "End": 35, "Home": 36,
    "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40, "Delete": 46, "Backspace": 8, "F2": 113,
}  # fmt: skip
_MODIFIERS = {"Alt": 1, "Control": 2, "Meta": 4, "Shift": 8}


def key_events(pressed: str) -> list[dict[str, Any]]:
    """Down and up of a key such as ``Enter``, ``a`` or ``Shift+Tab``."""
    *modifiers, name = pressed.split("+") if len(pressed) > 1 else [pressed]
    held = sum(_MODIFIERS[each] for each in modifiers)
    key = " " if name == "Space" else name
    text = {"Enter": "\r", " ": " "}.get(key, key if len(key) == 1 else "")
    text = "" if held & ~_MODIFIERS["Shift"] else text
    code = _CODES.get(name, ord(name.upper()) if len(name) == 1 else 0)
    facts = {"key": key, "code": _code(name), "windowsVirtualKeyCode": code, "modifiers": held}
    return [{"type": "keyDown" if text else "rawKeyDown", "text": text, **facts}, {"type": "keyUp", **facts}]


def _code(name: str) -> str:
    if len(name) == 1:
        return f"Key{name.upper()}" if name.isalpha() else f"Digit{name}" if name.isdigit() else ""
    return name
