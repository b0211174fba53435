"""What is wrong with one column of a policy, as far as it can be told without the data."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from shoal.hierarchies import HierarchyError, boundary_caps
from shoal.hierarchies.kind import Known
from shoal.hierarchies.problems import quoted
from shoal.policy.draft import Draft, PartialSpec
from shoal.policy.hierarchy_source import hierarchy_source
from shoal.policy.spec import ColumnSpec, HierarchySpec

_ROLES_OF = {
    "hierarchy": ("quasi", "sensitive"),
    "boundary": ("quasi",),
    "categories": ("sensitive",),
    "publish": ("sensitive",),
}
_FLAT = HierarchySpec.model_validate("flat")


def check_column(name: str, part: PartialSpec[ColumnSpec], draft: Draft) -> PartialSpec[ColumnSpec]:
    """Note what is wrong with a column; the keys concerned count as damaged from then on."""
    column, where = part.value, f"columns.{name}"
    if column is None:
        return part
    damaged = set(part.damaged)
    for key, roles in _ROLES_OF.items():
        if getattr(column, key) is not None and column.role not in roles and "role" not in damaged:
            draft.add(f"{where}.{key}", f"is for columns of role {' or '.join(roles)}, and this one is {column.role}.",
                      "Leave it out, or change the role.", code="wrong-role")  # fmt: skip
            damaged.add(key)
    if "hierarchy" not in damaged and not (column.hierarchy is None and _unknown(damaged)):
        damaged |= _check_hierarchy(column.hierarchy or _FLAT, column, where, draft)
    if "categories" not in damaged:
        damaged |= _check_categories(column, where, draft)
    asks_categories = column.publish in {"categories", "both"} and not column.category_values
    if asks_categories and not damaged & {"categories", "publish"} and not _unknown(damaged):
        draft.add(f"{where}.publish", f"{column.publish} needs categories, and the column declares none.",
                  "Declare categories, most sensitive first, or publish values.", code="no-categories")  # fmt: skip
        damaged.add("publish")
    return PartialSpec(column, frozenset(damaged))


def _unknown(damaged: set[str] | frozenset[str]) -> bool:
    """Whether a key is not known: it may be a slip for any of those that are."""
    return bool(damaged - set(ColumnSpec.model_fields))


def may_have_categories(part: PartialSpec[ColumnSpec]) -> bool:
    """Whether the column may have been meant to have categories that could not be read."""
    return "categories" in part.damaged or _unknown(part.damaged) or part.value is None


def _check_hierarchy(spec: HierarchySpec, column: ColumnSpec, where: str, draft: Draft) -> set[str]:
    """Build the hierarchy without values of the data: what goes wrong is wrong with the declaration."""
    if len(spec.kinds) != 1:
        given = ", ".join(spec.kinds) or "none"
        draft.add(f"{where}.hierarchy", f"needs exactly one kind of hierarchy (given: {given}).",
                  f"Known: {', '.join(HierarchySpec.model_fields)}.", code="wrong-hierarchy-kinds")  # fmt: skip
        return {"hierarchy"}
    if spec.file is not None:
        return set()
    values = [] if spec.kind.known is Known.NODES else [None]
    try:
        source = hierarchy_source(spec, Path(), f"{where}.hierarchy")
        hierarchy = source.build(values, [0] * len(values), f"{where}.hierarchy").hierarchy
    except HierarchyError as error:
        draft.problems.extend(error.problems)
        return {"hierarchy"}
    needed = Known.LEVELS if isinstance(column.boundary, int) else Known.NODES
    if spec.kind.known.value >= needed.value and column.role == "quasi":
        try:
            boundary_caps(hierarchy, column.boundary_labels, f"{where}.boundary")
        except HierarchyError as error:
            draft.problems.extend(error.problems)
            return {"boundary"}
    return set()


def _check_categories(column: ColumnSpec, where: str, draft: Draft) -> set[str]:
    before = len(draft.problems)
    declared = column.category_values
    if column.categories is not None and not declared:
        draft.add(f"{where}.categories", "has no category.", "Write {category: [value, value]}, most sensitive first.",
                  code="empty")  # fmt: skip
    counts = Counter(value for values in declared.values() for value in values)
    for value, count in counts.items():
        if count > 1:
            holders = [repr(category) for category, values in declared.items() if value in values]
            often = f"{count} times in {holders[0]}" if len(holders) == 1 else f"in {' and in '.join(holders)}"
            draft.add(f"{where}.categories", f"{quoted(value)} is listed {often}: a value has one category.",
                      "Keep one of them.", value=value, code="value-in-two-categories")  # fmt: skip
    for category, values in declared.items():
        if not values:
            draft.add(
                f"{where}.categories.{category}", "has no values.", "Leave it out, or list its values.", code="empty"
            )
    return {"categories"} if len(draft.problems) > before else set()


def usable(part: PartialSpec[ColumnSpec]) -> ColumnSpec:
    """The column without its damaged keys and those that mean nothing without them."""
    column, damaged = part.value, part.damaged
    if column is None:
        return ColumnSpec(role="insensitive")
    if not damaged:
        return column
    changes: dict[str, None] = {}
    if "hierarchy" in damaged:
        changes |= {"hierarchy": None, "boundary": None}
    if "boundary" in damaged or (column.hierarchy is None and _unknown(damaged)):
        changes["boundary"] = None
    if "categories" in damaged:
        changes |= {"categories": None, "publish": None}
    if "publish" in damaged or (column.categories is None and _unknown(damaged)):
        changes["publish"] = None
    left = column.model_copy(update=changes)
    if "role" not in damaged:
        return left
    role = "sensitive" if left.categories else "quasi" if left.hierarchy else "insensitive"
    return left.model_copy(update={"role": role})
