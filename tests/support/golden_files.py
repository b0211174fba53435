"""Golden files: what is printed stands in a file of its own, and ``pytest --update-golden`` writes it anew."""

from __future__ import annotations

from pathlib import Path

GOLDEN = Path(__file__).parents[1] / "golden"


def check_golden(name: str, text: str, *, update: bool) -> None:
    """Compare a text with its golden file, or write the file."""
    path = GOLDEN / name
    if update:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert path.is_file(), f"{path} does not exist; write it with pytest --update-golden"
    assert text == path.read_text(encoding="utf-8"), f"differs from {path}; check, then use pytest --update-golden"
