"""The directive ``shoal-help``: the help text of a command as the program itself prints it, so that it cannot drift.

Also the language ``csv`` of code blocks, which Pygments does not know.
"""

from __future__ import annotations

from typing import Any

from docutils import nodes
from pygments.lexers.special import TextLexer
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from typer.testing import CliRunner

from shoal.cli.main import app


class ShoalHelp(SphinxDirective):
    """``shoal COMMAND --help``, run when the page is built."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """The help text as a block of text."""
        command = self.arguments[0]
        ran = CliRunner().invoke(app, [command, "--help"], prog_name="shoal", env={"COLUMNS": "88"})
        if ran.exit_code != 0:
            raise self.error(f"there is no command {command!r}: {ran.output}")
        block = nodes.literal_block(ran.output, ran.output.strip())
        block["language"] = "text"
        return [block]


def setup(app_: Sphinx) -> dict[str, Any]:
    """Register the directive and the language."""
    app_.add_directive("shoal-help", ShoalHelp)
    app_.add_lexer("csv", TextLexer)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
