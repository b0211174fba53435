"""How the documentation is built: Markdown by MyST, the Python reference from docstrings, nothing from other hosts."""

from __future__ import annotations

import sys
from importlib.metadata import version as installed_version
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_extensions"))

project = "Shoal"
author = copyright = "The Shoal developers"  # noqa: A001 - Sphinx's name
release = version = installed_version("shoal")

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "shoal_codes",
    "shoal_declared",
    "shoal_help",
    "shoal_signatures",
]
exclude_patterns = ["_build"]

myst_heading_anchors = 4
default_role = "code"  # docstrings write names in single backticks

autodoc_member_order = "bysource"
autodoc_preserve_defaults = True  # a default as it is written, not as an address in memory
autodoc_typehints_format = "short"
python_display_short_literal_types = True
python_maximum_signature_line_length = 80

html_theme = "furo"
html_title = f"Shoal {version}"
html_static_path = ["_static"]
html_css_files = ["shoal.css"]
html_copy_source = False
html_show_sourcelink = False
html_show_copyright = False
pygments_style = "friendly"
pygments_dark_style = "monokai"
html_theme_options = {"navigation_with_keys": True}
