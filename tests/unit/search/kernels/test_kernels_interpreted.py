"""The kernels' Python source, run without compiling: coverage tools and debuggers see what compiled code does."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent


@pytest.mark.slow
def test_the_kernels_give_the_same_without_compiling() -> None:
    names = (
        "test_kernels.py",
        "test_people_kernels.py",
        "test_local_engine.py",
        "test_row_counting.py",
        "test_text_numbers.py",
    )
    files = [str(FOLDER / name) for name in names]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *files],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert " passed" in done.stdout
