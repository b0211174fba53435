"""What all tests share: helpers importable as ``support``, ``oracles`` and ``golden``, and one hypothesis profile."""

import sys
from pathlib import Path

from hypothesis import settings

HERE = str(Path(__file__).parent)
if HERE not in sys.path:
    sys.path.insert(0, HERE)

settings.register_profile("shoal", deadline=None)  # the first call of an example may compile or import
settings.load_profile("shoal")
