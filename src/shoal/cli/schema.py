"""`shoal schema`: the JSON Schema of policies and of evidence."""

from __future__ import annotations

import json
from typing import Annotated

import typer


def schema(
    evidence: Annotated[bool, typer.Option("--evidence", help="The schema of evidence files, instead.")] = False,
) -> None:
    """Print the JSON Schema of policy files, for editors, or of evidence files."""
    from shoal.evidence.evidence import evidence_schema
    from shoal.policy import Policy

    typer.echo(json.dumps(evidence_schema() if evidence else Policy.model_json_schema(), indent=2))
