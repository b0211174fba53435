"""Questions about a hierarchy: what it makes of the column's values, level by level."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.draft.calendar import date_form
from shoal.draft.profile import Profile
from shoal.draft.propose import propose
from shoal.draft.widths import round_widths
from shoal.draft.yaml_lines import flow
from shoal.hierarchies import BuiltHierarchy, HierarchyError, Label, boundary_caps, capped_levels
from shoal.hierarchies.kinds import HIERARCHY_KINDS
from shoal.policy.spec import HierarchySpec
from shoal.policy.yaml_text import parse_yaml
from shoal.ui.desk.column import build, counted, declared, profile
from shoal.ui.desk.desk import Desk
from shoal.ui.desk.document import problem_to_page
from shoal.ui.desk.transfer import export_hierarchy, import_hierarchy

_DRAWN = 1000
"""Groups of a level that are drawn to scale, at most; the answer says how many there are."""
_PAGE = 100
"""Groups in one list, at most."""


def hierarchy(desk: Desk, query: Mapping[str, Any]) -> dict[str, Any]:
    """What the declared hierarchy makes of the column: levels, three values on their way up, and every problem.

    With ``level`` comes a page of that level's groups (from ``offset``, those that hold ``search``).
    """
    name = str(query.get("name"))
    column = profile(desk, name)
    part, problems = declared(desk, name)
    spec = part.value.hierarchy if part.value is not None else None
    answer: dict[str, Any] = {
        "name": name,
        "kind": spec.kinds[0] if spec is not None and spec.kinds else "flat",
        "proposals": _proposals(column),
        "built": False,
        "levels": [],
        "examples": [],
    }
    if part.value is not None and "hierarchy" not in part.damaged:
        try:
            counted_hierarchy = _CountedHierarchy.of(build(spec, column, f"columns.{name}.hierarchy"), column)
            answer.update(counted_hierarchy.described(answer["kind"]))
            boundary = part.value.boundary_labels if "boundary" not in part.damaged else None
            caps = boundary_caps(counted_hierarchy.built.hierarchy, boundary, f"columns.{name}.boundary")
            answer.update(counted_hierarchy.limited(caps, query))
            if "level" in query:
                answer["listed"] = counted_hierarchy.listed(query, caps)
        except HierarchyError as error:
            problems = [*problems, *error.problems]
    return {**answer, "problems": [problem_to_page(each, desk.document()) for each in problems]}


@dataclass(frozen=True, eq=False)
class _CountedHierarchy:
    """A hierarchy and the records under each of its nodes."""

    built: BuiltHierarchy
    column: Profile
    records: NDArray[np.int64]
    """Records of each leaf."""

    @staticmethod
    def of(built: BuiltHierarchy, column: Profile) -> _CountedHierarchy:
        counts = np.array(counted(column)[1], dtype=np.int64)
        records = np.zeros(built.hierarchy.n_leaves, dtype=np.int64)
        np.add.at(records, built.codes, counts)
        return _CountedHierarchy(built, column, records)

    def groups(self, level: int) -> list[tuple[int, int]]:
        """Node and records of each group of a level, in the order of the leaves."""
        nodes = self.built.hierarchy.levels[level]
        starts = np.flatnonzero(np.diff(nodes, prepend=-1))
        sums = np.add.reduceat(self.records, starts)
        return list(zip(nodes[starts].tolist(), sums.tolist(), strict=True))

    def described(self, kind: str) -> dict[str, Any]:
        """Each level: how many groups, the smallest of them, and where they are drawn to scale, all of them."""
        tree = self.built.hierarchy
        levels = []
        for level in range(tree.height + 1):
            groups = self.groups(level)
            filled = [records for _, records in groups if records]
            entry: dict[str, Any] = {"level": level, "groups": len(groups), "filled": len(filled)}
            entry["smallest"] = min(filled, default=0)
            if HIERARCHY_KINDS[kind].on_a_scale and 0 < level < tree.height and len(groups) <= _DRAWN:
                entry["drawn"] = [[tree.labels[node], records] for node, records in groups]
            levels.append(entry)
        return {"built": True, "height": tree.height, "root": tree.labels[tree.root], "levels": levels}

    def limited(self, caps: NDArray[np.int32], query: Mapping[str, Any]) -> dict[str, Any]:
        """The last level that a boundary leaves, and how far example values get on each level."""
        ladder = capped_levels(self.built.hierarchy, caps)
        values, counts = counted(self.column)
        codes = self.built.codes.tolist()
        examples = []
        for place in self._examples(values, query):
            leaf = codes[place]
            rows = [bisect_right(ladder.nominal, level) - 1 for level in range(self.built.hierarchy.height + 1)]
            path = [self.built.hierarchy.labels[ladder.nodes[row, leaf]] for row in rows]
            example = {"value": values[place], "records": counts[place], "path": path}
            examples.append({**example, "limited": bool(caps[leaf] != self.built.hierarchy.root)})
        return {"reach": ladder.nominal[-1], "examples": examples}

    def _examples(self, values: list[Label], query: Mapping[str, Any]) -> list[int]:
        """The value asked for, else the commonest, a middling and the rarest one."""
        if "value" in query and query["value"] in values:
            return [values.index(query["value"])]
        present = sum(value is not None for value in values)
        return sorted({0, present // 2, present - 1}) if present else []

    def listed(self, query: Mapping[str, Any], caps: NDArray[np.int32]) -> dict[str, Any]:
        """A page of the groups of one level, those first that come first in the hierarchy."""
        tree = self.built.hierarchy
        level = min(max(int(query["level"]), 0), tree.height)
        search, offset = str(query.get("search", "")).casefold(), max(int(query.get("offset", 0)), 0)
        limits = set(caps.tolist())
        found = [
            [tree.labels[node], records, node in limits and node != tree.root]
            for node, records in self.groups(level)
            if search in (tree.labels[node] or "").casefold()
        ]
        return {"level": level, "found": len(found), "offset": offset, "groups": found[offset : offset + _PAGE]}


def _proposals(column: Profile) -> dict[str, Any]:
    """What each kind of hierarchy may begin with, read off the values as `shoal init` does."""
    proposals: dict[str, Any] = {}
    dates = date_form(column)
    if column.numbers is not None and (widths := round_widths(column.numbers, decimals=column.decimals)):
        proposals["intervals"] = {"intervals": widths}
    if dates is not None and dates.clear:
        proposals["dates"] = {"dates": {"units": dates.units()}}
        if dates.formats[0] is not None:
            proposals["dates"]["dates"]["format"] = dates.formats[0]
    first = propose(column, dates).spec
    if isinstance(first, dict):
        proposals.setdefault(next(iter(first)), first)
    proposals.pop("tree", None)
    settled = {kind: parse_yaml(flow(spec), "a proposal") for kind, spec in proposals.items()}
    return {
        kind: HierarchySpec.model_validate(spec).model_dump(exclude_unset=True, exclude_none=True)
        for kind, spec in settled.items()
    }


ANSWERS = {
    "hierarchy": hierarchy,
    "import_hierarchy": import_hierarchy,
    "export_hierarchy": export_hierarchy,
}
