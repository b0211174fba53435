"""Takes the two pictures of the README in a real browser: the report of the demo, and the page with its example.

    python tools/make_pictures.py

Run it after a change of the report or the page, and look at the pictures before they are committed.
"""

from __future__ import annotations

import base64
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from support.page import Page  # noqa: E402 - the browser of the tests
from support.ui_server import serving  # noqa: E402
from support.way import settled, to  # noqa: E402

PICTURES = ROOT / "docs" / "_static"
WIDTH, HEIGHT = 1100, 900


def main() -> None:
    """Write ``report.png`` and ``page.png``."""
    with TemporaryDirectory() as folder:
        place = Path(folder)
        subprocess.run(  # noqa: S603 - our own command
            [sys.executable, "-m", "shoal", "demo", "--out", str(place / "demo")], check=True, capture_output=True
        )
        with Page(place / "browser") as page:
            page.resize(WIDTH, HEIGHT)
            page.goto((place / "demo" / "hospital-release.report.html").as_uri())
            _save(page, "report")
            with serving(place / "server") as server:
                page.goto(server.shown)
                page.wait_for("!!document.querySelector('#example')")
                page.click("#example")
                page.wait_for_text("1,200 records")
                to(page, "privacy")
                settled(page)
                page.wait_for("!/Updating/.test(document.body.innerText)")
                _save(page, "page")


def _save(page: Page, name: str) -> None:
    taken = page.call("Page.captureScreenshot", format="png")  # what the window shows, not the whole page
    (PICTURES / f"{name}.png").write_bytes(base64.b64decode(taken["data"]))


if __name__ == "__main__":
    main()
