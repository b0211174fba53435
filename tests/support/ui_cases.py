"""What the tests of the page against strangers and hostile files share."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from starlette.routing import Route

from shoal.ui.server.app import make_app
from shoal.ui.server.settings import Settings

SECRET = "Zaphod-Beeblebrox-42"
"""A value of the data that must turn up nowhere."""
TABLE = f"age,city,illness\n34,Ulm,{SECRET}\n36,Ulm,Flu\n52,Köln,Flu\n57,Köln,Asthma\n".encode()
_NUMBERED = {"question": "rows", "number": "001", "name": "app.js", "form": "csv", "what": "release"}


def routes() -> list[tuple[str, str]]:
    """Every method and path that the page answers, read off the application itself."""
    app: Any = make_app(Settings(workspace=Path("unused")))
    found = []
    for route in app._app.routes:
        assert isinstance(route, Route)
        path = re.sub(r"\{(\w+)\}", lambda part: _NUMBERED[part[1]], route.path)
        found += [(method, path) for method in sorted(route.methods or ())]
    return found


ROUTES = routes()
CHANGING = [each for each in ROUTES if each[0] not in {"GET", "HEAD"}]
OPEN_PATHS = {"/", "/login"}
