"""Warnings about a policy in words."""

from collections.abc import Mapping
from typing import Any

from shoal.formatting import listing, number, pluralize
from shoal.models import MODELS, model_title
from shoal.policy.yaml_text import dump_yaml
from shoal.present.people import people_phrase


def warning_sentence(warning: Mapping[str, Any]) -> str:
    """What the owner of the policy should know, and what helps."""
    if warning["code"] == "several-records-per-person":
        return _several_records(warning)
    if warning["code"] == "formula-cells":
        return _formula_cells(warning)
    titles = [model_title(name) for name in warning["models"]]
    treat = "treats" if len(titles) == 1 else "treat"
    on_numbers = [model.title for model in MODELS.values() if model.needs_numbers]
    return (
        f"{warning['sensitive']} has {number(warning['distinct'])} different numbers, and {listing(titles)} {treat} "
        "nearly equal numbers as different values. Publish it in bins, or require "
        f"{' or '.join(on_numbers)}."
    )


def _several_records(warning: Mapping[str, Any]) -> str:
    """That k counts records where people have several, and the line of the policy that makes it count people."""
    several, records = warning["people_with_several"], pluralize(warning["records"], "record")
    have = f"{number(several)} {'has' if several == 1 else 'have'} several, up to {number(warning['largest'])}"
    return (
        f"The models count records, but by {warning['column']} the {records} belong to "
        f"{people_phrase(warning['people'])}: {have}. A class of k records may be a single person. To count people, "
        f"add this line to the policy: {dump_yaml({'person': warning['column']}).strip()}"
    )


def _formula_cells(warning: Mapping[str, Any]) -> str:
    """That a spreadsheet may run cells, and how to open the file instead."""
    cells, column = warning["cells"], warning["column"]
    name = "its name starts" if warning["in_name"] else ""
    start = "starts" if cells == 1 else "start"
    shown = " and ".join(each for each in (f"{pluralize(cells, 'cell')} {start}" if cells else "", name) if each)
    return (
        f"{column}: {shown} with =, +, -, @ or a tab, which spreadsheet programs may run as a formula. Shoal does not "
        "change values: import a CSV file with all columns as text, or correct the data."
    )
