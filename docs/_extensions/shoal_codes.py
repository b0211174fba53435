"""The directive ``shoal-codes``: a table of the codes of errors and policy problems, as they are in the source."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from error_codes import PROBLEM, class_codes, specific_codes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective


class ShoalCodes(SphinxDirective):
    """A table of codes: ``errors`` by class, ``specific`` codes of errors, or codes of policy ``problems``."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """The table."""
        which = self.arguments[0]
        if which == "errors":
            rows = [f"| `{each.carrier}` | `{each.name}` | {_cell(each.message)} |" for each in class_codes()]
            head = "| class | code | meaning |"
        else:
            codes = [each for each in specific_codes() if (each.carrier == PROBLEM) == (which == "problems")]
            rows = [f"| `{each.name}` | `{each.carrier}` | {_cell(each.message)} |" for each in codes]
            head = "| code | class | message |"
        return self.parse_text_to_nodes("\n".join([head, "|---|---|---|", *rows]))


def _cell(text: str) -> str:
    """A text in a cell of a table: on one line, and without meaning to Markdown."""
    shown = " ".join(text.replace("``", "`").split())
    return "".join(f"\\{each}" if each in "|*_[]<>" else each for each in shown)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive."""
    app.add_directive("shoal-codes", ShoalCodes)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
