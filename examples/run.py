"""Run the notebooks of the examples from top to bottom and keep what they print.

    python examples/run.py                                  # all of them
    python examples/run.py examples/school/notebook.ipynb   # one

A notebook runs in its own folder, with the Python that runs this script: no kernel has to be installed. The outputs
are the same wherever it runs: no times, no versions, and nothing from a personal IPython profile. Needs nbclient and
ipykernel, which come with ``pip install -e ".[dev]"``.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import nbformat

EXAMPLES = Path(__file__).parent
SECONDS = 300
"""The longest that a cell may take."""


def run(path: Path, scratch: Path) -> None:
    """Run a notebook and write it back with its outputs; an error in a cell is raised and leaves the file as it is."""
    notebook = nbformat.read(path, as_version=4)
    _execute(notebook, path.parent, scratch)
    nbformat.write(_settled(notebook), path)


def _execute(notebook: Any, folder: Path, scratch: Path) -> None:
    """Let a kernel of this very Python run the cells."""
    os.environ |= {  # read when Jupyter is imported: nothing is read from or written to a home directory
        "IPYTHONDIR": str(scratch),
        "JUPYTER_RUNTIME_DIR": str(scratch),
        "JUPYTER_PLATFORM_DIRS": "1",
        "PYDEVD_DISABLE_FILE_VALIDATION": "1",
    }
    from jupyter_client.kernelspec import KernelSpec, KernelSpecManager  # noqa: PLC0415
    from jupyter_client.manager import AsyncKernelManager  # noqa: PLC0415
    from nbclient import NotebookClient  # noqa: PLC0415

    class ThisPython(KernelSpecManager):
        """Whatever kernel is asked for, it is ipykernel in this Python."""

        def get_kernel_spec(self, kernel_name: str) -> KernelSpec:
            command = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}", "--log-level=ERROR"]
            return KernelSpec(argv=command, display_name=kernel_name, language="python")

    NotebookClient(
        notebook,
        km=AsyncKernelManager(kernel_name="python3", kernel_spec_manager=ThisPython()),
        timeout=SECONDS,
        record_timing=False,
        coalesce_streams=True,
        resources={"metadata": {"path": str(folder)}},
    ).execute()


def _settled(notebook: Any) -> Any:
    """The notebook without what differs from machine to machine."""
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    return notebook


if __name__ == "__main__":
    named = [Path(each).resolve() for each in sys.argv[1:]] or sorted(EXAMPLES.glob("*/notebook.ipynb"))
    for each in named:
        with tempfile.TemporaryDirectory() as scratch:
            run(each, Path(scratch))
        print(f"ran {each}")
