"""The labels of a column, by the hierarchy that the policy states for it."""

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from shoal.errors import DataError
from shoal.verification.canonical_text import ROOT, Chain, Label, scalar_text
from shoal.verification.dates import DateLabels
from shoal.verification.intervals import IntervalLabels
from shoal.verification.labels import FlatLabels, Labels, ListedLabels, MaskLabels
from shoal.verification.ranges import RangeLabels
from shoal.verification.runs import RunLabels, stated_grid
from shoal.verification.stated_policy import StatedPolicy


def quasi_labels(policy: StatedPolicy) -> dict[str, Labels]:
    """The labels of each quasi-identifier, with ranges where the policy asks for them."""
    return {name: released_labels(policy, name) for name in policy.names("quasi")}


def released_labels(policy: StatedPolicy, column: str) -> Labels:
    """The labels of a quasi-identifier, with its ranges or runs."""
    base = labels_of(policy, column)
    if column not in policy.ranges:
        return base
    form = policy.ranges[column]
    return RangeLabels(base) if form is None else RunLabels(base, stated_grid(form, base))


def labels_of(policy: StatedPolicy, column: str) -> Labels:
    """The labels of a column with a hierarchy; flat when none is declared."""
    nothing: tuple[str, Any] = ("flat", None)
    kind, declared = next(iter(policy.columns[column].hierarchy.items()), nothing)
    if kind == "flat":
        return FlatLabels()
    if kind == "intervals":
        return IntervalLabels.read(declared)
    if kind == "mask":
        steps = None if declared["steps"] is None else tuple(declared["steps"])
        return MaskLabels(declared["side"], declared["alphabet"], steps)
    if kind == "dates":
        return DateLabels(tuple(declared["units"]), declared["format"])
    if kind == "order":
        return ListedLabels(ordered_chains(declared["values"], declared["groups"]))
    if kind == "levels":
        return ListedLabels(level_rows(policy.folder / declared["path"], declared["separator"]))
    return ListedLabels(tree_chains(declared))


def tree_chains(nested: Any) -> dict[Label, Chain]:
    """The chains of a tree.

    A name with nothing under it is a value. One name on top with something under it is the root, else ``*`` is. Levels
    are counted from the root, so a value nearer to the root stays itself longer.
    """
    single = isinstance(nested, Mapping) and len(nested) == 1 and bool(next(iter(nested.values())))
    paths = list(_paths(nested, () if single else (ROOT,)))
    height = max((len(path) for path in paths), default=1) - 1
    return {path[0]: (*(path[0] for _ in range(height + 1 - len(path))), *path) for path in paths}


def _paths(node: Any, above: Chain) -> Iterator[Chain]:
    """Each value with its groups up to the root."""
    if isinstance(node, Mapping):
        for name, below in node.items():
            if below:
                yield from _paths(below, (scalar_text(name), *above))
            else:
                yield (scalar_text(name), *above)
    elif isinstance(node, list | tuple):
        for each in node:
            yield from _paths(each, above)
    else:
        yield (scalar_text(node), *above)


def level_rows(path: Path, separator: str | None) -> dict[Label, Chain]:
    """The chains of a CSV file with one line per value, then its ancestors; ``*`` is added unless it ends in one root.

    Without a separator it is the first of semicolon, tab and comma that gives every line the same fields, two or more.
    """
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"The table of levels {path} cannot be read: {error}.", code="unreadable-file") from None
    for each in (separator,) if separator is not None else (";", "\t", ","):
        try:
            rows = [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=each, strict=True) if row]
        except csv.Error:
            continue
        if len({len(row) for row in rows}) == 1 and len(rows[0]) > 1:
            chains = [tuple(field or None for field in row) for row in rows]
            if len({chain[-1] for chain in chains}) > 1:
                chains = [(*chain, ROOT) for chain in chains]
            return {chain[0]: chain for chain in chains}
    message = f"The table of levels {path} is not one: its lines have no common number of fields, two or more."
    raise DataError(message, code="invalid-levels-file")


def ordered_chains(values: Sequence[Any], groups: Sequence[int] | None) -> dict[Label, Chain]:
    """The chains of an order: groups of neighbours ``first..last``, doubling by default, below the size of them all."""
    texts = [scalar_text(value) for value in values]
    doubling = [2**power for power in range(1, len(texts).bit_length())]
    sizes = [size for size in (doubling if groups is None else groups) if size < len(texts)]

    def group(start: int, size: int) -> Label:
        """A group is named by its ends; a group of one is its value."""
        block = ["(missing)" if text is None else text for text in texts[start : start + size]]
        return texts[start] if len(block) == 1 else f"{block[0]}..{block[-1]}"

    return {text: (text, *(group(at - at % size, size) for size in sizes), ROOT) for at, text in enumerate(texts)}
