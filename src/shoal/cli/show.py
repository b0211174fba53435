"""Results in words, for a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

import typer

from shoal.present.report.requirements import flat_parameters


def counted(count: int, one: str, many: str) -> str:
    """A number with its noun."""
    return f"{count} {one if count == 1 else many}"


def show_evidence(evidence: Mapping[str, Any]) -> None:
    """The result in a few lines."""
    classes = counted(evidence["classes"], "class", "classes")
    typer.echo(
        f"Verified: {evidence['released']} of {counted(evidence['records'], 'record', 'records')} released in "
        f"{classes}, {evidence['suppressed']} suppressed ({evidence['seconds']:.2f} s)."
    )
    for model in evidence["models"]:
        on = f" on {model['sensitive']}" if model["sensitive"] else ""
        typer.echo(
            f"  {model['model']}{on}: asked {parameters(model['asked'])}; reached {parameters(model['reached'])}"
        )
    if evidence["levels"]:
        heights = {name: column.get("height") for name, column in evidence["columns"].items()}
        raised = ", ".join(f"{name} {level}/{heights[name]}" for name, level in evidence["levels"].items())
        typer.echo(f"  levels raised: {raised}")
    measures = evidence["measures"]
    typer.echo(f"  loss {measures['loss']:.4f}, ncp {measures['ncp']:.4f}, precision {measures['precision']:.4f}")
    identifiers = [name for name, column in evidence["columns"].items() if column["role"] == "identifier"]
    if identifiers:
        typer.echo(f"  identifiers removed: {', '.join(identifiers)}")
    if evidence["not_named"]:
        typer.echo(f"  not named in the policy, so not released: {', '.join(evidence['not_named'])}")


def parameters(given: Mapping[str, Any]) -> str:
    """A model's parameters in one line: ``p 2, alpha of HIV 0.5``."""
    shown = []
    for parameter, value in flat_parameters(given):
        name, bracket, of = parameter.partition("[")
        figure = "without limit" if value is None else f"{value:.6g}" if isinstance(value, (int, float)) else str(value)
        shown.append(f"{name} of {of.removesuffix(']')} {figure}" if bracket else f"{name} {figure}")
    return ", ".join(shown)


def show_sample(table: Any, rows: int = 8) -> None:
    """A few released rows, spread over the table."""
    step = max(table.num_rows // rows, 1)
    sample = [
        [("" if cell is None else str(cell)) for cell in row.values()] for row in table.to_pylist()[::step][:rows]
    ]
    for line in aligned([table.column_names, *sample], str.ljust):
        typer.echo(line.rstrip())


def show_lattice(listing: Mapping[str, Any]) -> None:
    """The minimal nodes as a table, and what its numbers are."""
    nodes, quasi = listing["minimal_nodes"], listing["quasi"]
    columns = list(nodes[0]["exposure"]) if nodes else []
    typer.echo(
        f"{counted(len(nodes), 'minimal node', 'minimal nodes')} of {listing['nodes']} ({listing['checked']} checked), "
        f"best {listing['metric']} first."
    )
    legend = [f"Under {', '.join(quasi)}: the level released, 0 for the value as it is."]
    if columns:
        legend.append(
            "homogeneity, similarity: records open to these attacks, that is in classes with a single value or a "
            "single category of the sensitive column; - where the column has no categories."
        )
    for text in legend:
        typer.echo(textwrap.fill(text, 100))
    typer.echo("")
    attacks = [f"{column}: {attack}" for column in columns for attack in ("homogeneity", "similarity")]
    header = [*quasi, "loss", "ncp", "precision", "classes", "suppressed", *attacks]
    for line in aligned([header, *(_node_row(node, quasi, columns) for node in nodes)], str.rjust):
        typer.echo(line)


def _node_row(node: Mapping[str, Any], quasi: Sequence[str], columns: Sequence[str]) -> list[str]:
    measures = node["measures"]
    exposed = [
        str(node["exposure"][column].get(attack, {}).get("records", "-"))
        for column in columns
        for attack in ("homogeneity", "similarity")
    ]
    return [
        *(str(node["levels"][name]) for name in quasi),
        *(f"{measures[name]:.4f}" for name in ("loss", "ncp", "precision")),
        str(node["classes"]),
        str(node["suppressed"]),
        *exposed,
    ]


def aligned(rows: Sequence[Sequence[str]], justify: Any) -> list[str]:
    """The rows of a table as lines, its columns below each other."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return ["  ".join(justify(cell, width) for cell, width in zip(row, widths, strict=True)) for row in rows]
