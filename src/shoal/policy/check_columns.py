"""What is wrong with one column of a policy, as far as it can be told without the data."""

from collections import Counter
from pathlib import Path

from shoal.formatting import listing
from shoal.hierarchies import HierarchyError, boundary_caps
from shoal.hierarchies.bins import built_bins
from shoal.hierarchies.kind import Known
from shoal.hierarchies.problems import quoted
from shoal.policy.hierarchy_source import hierarchy_source
from shoal.policy.partial import PartialPolicy, PartialSpec
from shoal.policy.spec import ColumnSpec, HierarchySpec

_ROLES_OF = {
    "hierarchy": ("quasi", "sensitive"),
    "boundary": ("quasi",),
    "categories": ("sensitive",),
    "publish": ("sensitive",),
    "same": ("sensitive",),
    "different": ("sensitive",),
    "relative": ("quasi", "sensitive", "insensitive"),
    "key": ("pseudonym",),
    "bins": ("sensitive",),
    "unknown": ("sensitive",),
    "unknown_counts": ("sensitive",),
}
_FLAT = HierarchySpec.model_validate("flat")


def check_column(name: str, part: PartialSpec[ColumnSpec], parts: PartialPolicy) -> PartialSpec[ColumnSpec]:
    """Note what is wrong with a column; the keys concerned count as damaged from then on."""
    column, where = part.value, f"columns.{name}"
    if column is None:
        return part
    damaged = set(part.damaged)
    for key, roles in _ROLES_OF.items():
        if getattr(column, key) is not None and column.role not in roles and "role" not in damaged:
            parts.add(f"{where}.{key}", f"is for columns of role {' or '.join(roles)}, and this one is {column.role}.",
                      "Leave it out, or change the role.", code="wrong-role")  # fmt: skip
            damaged.add(key)
    if "hierarchy" not in damaged and not (column.hierarchy is None and _unknown(damaged)):
        damaged |= _check_hierarchy(column.hierarchy or _FLAT, column, where, parts)
    if "categories" not in damaged:
        damaged |= _check_categories(column, where, parts)
    if not damaged & {"same", "different"}:
        damaged |= _check_spellings(column, where, parts)
    if not damaged & {"same", "unknown"}:
        damaged |= _check_unknown(column, where, parts)
    asks_categories = column.publish in {"categories", "both"} and not column.category_values
    if asks_categories and not damaged & {"categories", "publish"} and not _unknown(damaged):
        parts.add(f"{where}.publish", f"{column.publish} needs categories, and the column declares none.",
                  "Declare categories, most sensitive first, or publish values.", code="no-categories")  # fmt: skip
        damaged.add("publish")
    if column.bins is not None and "bins" not in damaged:
        damaged |= _check_bins(column, where, parts)
    return PartialSpec(column, frozenset(damaged))


def _unknown(damaged: set[str] | frozenset[str]) -> bool:
    """Whether a key is not known: it may be a slip for any of those that are."""
    return bool(damaged - set(ColumnSpec.model_fields))


def may_have_categories(part: PartialSpec[ColumnSpec]) -> bool:
    """Whether the column may have been meant to have categories that could not be read."""
    return "categories" in part.damaged or _unknown(part.damaged) or part.value is None


def _check_hierarchy(spec: HierarchySpec, column: ColumnSpec, where: str, parts: PartialPolicy) -> set[str]:
    """Build the hierarchy without values of the data: what goes wrong is wrong with the declaration."""
    if len(spec.kinds) != 1:
        given = ", ".join(spec.kinds) or "none"
        parts.add(f"{where}.hierarchy", f"needs exactly one kind of hierarchy (given: {given}).",
                  f"Known: {', '.join(HierarchySpec.model_fields)}.", code="wrong-hierarchy-kinds")  # fmt: skip
        return {"hierarchy"}
    if spec.file is not None:
        return set()
    values = [] if spec.kind.known is Known.NODES else [None]
    try:
        source = hierarchy_source(spec, Path(), f"{where}.hierarchy")
        hierarchy = source.build(values, [0] * len(values), f"{where}.hierarchy").hierarchy
    except HierarchyError as error:
        parts.problems.extend(error.problems)
        return {"hierarchy"}
    needed = Known.LEVELS if isinstance(column.boundary, int) else Known.NODES
    if spec.kind.known.value >= needed.value and column.role == "quasi":
        try:
            boundary_caps(hierarchy, column.boundary, f"{where}.boundary")
        except HierarchyError as error:
            parts.problems.extend(error.problems)
            return {"boundary"}
    return set()


def _check_bins(column: ColumnSpec, where: str, parts: PartialPolicy) -> set[str]:
    """Bins are positive widths or increasing points; what is published cannot be bins and something else."""
    others = [key for key in ("hierarchy", "categories", "publish") if getattr(column, key) is not None]
    for key in others:
        parts.add(f"{where}.bins", f"bins are published instead of the numbers, but {key} says otherwise.",
                  f"Leave out bins or {key}.", code="bins-and-other-groups", key=key)  # fmt: skip
    try:
        built_bins(column.bins or 0, [None], [0], f"{where}.bins")
    except HierarchyError as error:
        parts.problems.extend(error.problems)
        return {"bins"}
    return {"bins"} if others else set()


def _check_categories(column: ColumnSpec, where: str, parts: PartialPolicy) -> set[str]:
    before = len(parts.problems)
    declared = column.category_values
    if column.categories is not None and not declared:
        parts.add(f"{where}.categories", "has no category.", "Write {category: [value, value]}, most sensitive first.",
                  code="empty")  # fmt: skip
    counts = Counter(value for values in declared.values() for value in values)
    for value, count in counts.items():
        if count > 1:
            holders = [repr(category) for category, values in declared.items() if value in values]
            often = f"{count} times in {holders[0]}" if len(holders) == 1 else f"in {' and in '.join(holders)}"
            parts.add(f"{where}.categories", f"{quoted(value)} is listed {often}: a value has one category.",
                      "Keep one of them.", value=value, code="value-in-two-categories")  # fmt: skip
    for category, values in declared.items():
        if not values:
            parts.add(
                f"{where}.categories.{category}", "has no values.", "Leave it out, or list its values.", code="empty"
            )
    return {"categories"} if len(parts.problems) > before else set()


def _check_spellings(column: ColumnSpec, where: str, parts: PartialPolicy) -> set[str]:
    """A spelling belongs to one value, which is not itself a spelling of another, and whose category it shares."""
    before, same = len(parts.problems), column.same or {}
    counts = Counter(spelling for spellings in same.values() for spelling in spellings)
    for spelling, count in counts.items():
        holders = [repr(value) for value, spellings in same.items() if spelling in spellings]
        if count > 1:
            message = f"{spelling!r} is listed {count} times, under {' and '.join(holders)}."
            parts.add(f"{where}.same", message, "Keep one of them.", value=spelling, code="spelling-twice")
        elif spelling in same and spelling not in same[spelling]:
            parts.add(f"{where}.same", f"{spelling!r} is a spelling of {holders[0]} and has spellings of its own.",
                      f"List them all under {holders[0]}.", value=spelling, code="spelling-of-a-spelling")  # fmt: skip
    for values in column.different or ():
        merged = [value for value in values if value in column.value_of]
        if merged or len(set(values)) < len(values):
            message = f"{merged[0]!r} is the same as {column.value_of[merged[0]]!r} under same." if merged else (
                f"{listing([repr(value) for value in values])}: a value does not differ from itself."
            )  # fmt: skip
            parts.add(f"{where}.different", message, "List each value once, without spellings that same merges.",
                      value=merged[0] if merged else None, code="same-and-different")  # fmt: skip
    category_of = {value: category for category, values in column.category_values.items() for value in values}
    for spelling, value in column.value_of.items():
        if {value, spelling} <= set(category_of) and category_of[value] != category_of[spelling]:
            message = f"{spelling!r} is in {category_of[spelling]!r}, but {value!r}, of which it is a spelling, is not."
            parts.add(f"{where}.categories", message, "Leave the spelling out of the categories, or out of same.",
                      value=spelling, code="value-in-two-categories")  # fmt: skip
    return {"same", "different"} if len(parts.problems) > before else set()


def _check_unknown(column: ColumnSpec, where: str, parts: PartialPolicy) -> set[str]:
    """An unknown value is not read as a known one."""
    before = len(parts.problems)
    for mark in dict.fromkeys(column.unknown or ()):
        value = column.value_of.get(mark, mark)
        if value not in column.unknown_marks:
            parts.add(f"{where}.unknown", f"{mark!r} is unknown, but same reads it as {value!r}, which is known.",
                      "Remove it from one of the two.", value=mark, code="unknown-spelling")  # fmt: skip
    return {"unknown"} if len(parts.problems) > before else set()


def usable(part: PartialSpec[ColumnSpec]) -> ColumnSpec:
    """The column without its damaged keys and those that mean nothing without them."""
    column, damaged = part.value, part.damaged
    if column is None:
        return ColumnSpec(role="insensitive")
    if not damaged:
        return column
    changes: dict[str, None] = {key: None for key in ("same", "different") if key in damaged}
    if "hierarchy" in damaged:
        changes |= {"hierarchy": None, "boundary": None}
    if "boundary" in damaged or (column.hierarchy is None and _unknown(damaged)):
        changes["boundary"] = None
    if "categories" in damaged:
        changes |= {"categories": None, "publish": None}
    if "bins" in damaged:
        changes["bins"] = None
    if "publish" in damaged or (column.categories is None and _unknown(damaged)):
        changes["publish"] = None
    left = column.model_copy(update=changes)
    if "role" not in damaged:
        return left
    role = "sensitive" if left.categories else "quasi" if left.hierarchy else "insensitive"
    return left.model_copy(update={"role": role})
