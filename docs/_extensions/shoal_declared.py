"""The directive ``shoal-declared``: the models, measures or algorithms of this installation by what they declare."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from shoal.metrics import METRICS
from shoal.models import MODELS
from shoal.search import ALGORITHMS


def catalog(kind: str) -> list[tuple[str, str, str]]:
    """The models, measures or algorithms: name, what each says of itself, and its parameters or range."""
    if kind == "models":
        return [(name, each.summary, ", ".join(p.name for p in each.parameters)) for name, each in MODELS.items()]
    if kind == "measures":
        return [(name, each.summary, each.scale) for name, each in METRICS.items()]
    return [(name, each.does, ", ".join(option.name for option in each.options)) for name, each in ALGORITHMS.items()]


class ShoalDeclared(SphinxDirective):
    """A list of what there is, made when the page is built."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """A list with an item for each."""
        items = nodes.bullet_list()
        for name, said, particulars in catalog(self.arguments[0]):
            text = nodes.paragraph("", "", nodes.literal(text=name), nodes.Text(f" ({particulars}): {said}"))
            items += nodes.list_item("", text)
        return [items]


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive."""
    app.add_directive("shoal-declared", ShoalDeclared)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
