"""`shoal schema`: the JSON Schema of policies and of evidence."""

import json
from typing import Annotated

import typer

from shoal.cli.options import option


def schema(
    evidence: Annotated[bool, option("Print the schema of evidence files instead.", "--evidence")] = False,
) -> None:
    """Print the JSON Schema of policy files, for editors, or of evidence files."""
    from shoal.evidence.evidence import evidence_schema
    from shoal.policy import Policy

    typer.echo(json.dumps(evidence_schema() if evidence else Policy.model_json_schema(), indent=2))
