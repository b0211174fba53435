"""Ordered categories, generalized to groups of neighbours: low, mid → ``low..mid``."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from shoal.formatting import listing
from shoal.hierarchies.assemble import Level, build
from shoal.hierarchies.hierarchy import LABEL_SCHEMA, BuiltHierarchy, Label, is_scalar, scalar_text
from shoal.hierarchies.kind import FieldKind, HierarchyField, HierarchyKind, Known, RunKind
from shoal.hierarchies.problems import LISTED, Problems, quoted, refuse_unknown_values

MISSING_END = "(missing)"  # how the label of a group names the missing value at one of its ends


@dataclass(frozen=True)
class OrderedValues:
    """Values from first to last; level l joins ``groups[l - 1]`` neighbours, counted from the first; then ``*``.

    A group of one keeps its value's label. A level whose one group would hold all values is the root ``*``.
    """

    values: Sequence[object]  # the values in order; null places the missing value among them
    groups: Sequence[int] | None = None  # neighbours that join at each level; 2, 4, 8, … by default

    def build(self, values: Sequence[Label], counts: Sequence[int], where: str) -> BuiltHierarchy:
        """Build for the values of a column; a value that the order lacks is a problem."""
        self._refuse_problems(Problems(where))
        leaves = [scalar_text(value) for value in self.values]
        refuse_unknown_values(values, counts, set(leaves), where, "the order")
        doubling = [1 << power for power in range(1, len(leaves).bit_length())]
        levels = [Level.of(leaves)]
        for size in (size for size in (doubling if self.groups is None else self.groups) if size < len(leaves)):
            labels = [_label(leaves[start : start + size]) for start in range(0, len(leaves), size)]
            levels.append(Level.by((index // size for index in range(len(leaves))), labels.__getitem__))
        levels.append(Level.root(len(leaves)))
        return build(levels, values, where)

    def _refuse_problems(self, problems: Problems) -> None:
        if not self.values:
            problems.add("the order has no values.", "List the values from first to last.", code="order-empty")
        if strange := [value for value in self.values if not is_scalar(value)]:
            message = f"{listing([repr(value) for value in strange], most=LISTED)} cannot be a value of an order."
            problems.add(message, "List single values from first to last.", code="order-values")
            problems.refuse()
        seen = Counter(scalar_text(value) for value in self.values)
        if twice := [quoted(value) for value, times in seen.items() if times > 1]:
            message = f"the order lists a value more than once: {listing(twice, most=LISTED)}."
            problems.add(message, "List each value once.", code="order-values")
        sizes = () if self.groups is None else self.groups
        whole = all(isinstance(size, int) and not isinstance(size, bool) for size in sizes)
        if not whole or any(size <= low or size % low for low, size in pairwise([1, *sizes])):
            message = f"the group sizes {list(sizes)} are not whole numbers from 2, each a multiple of the one before."
            fix = "Only then does each group lie within one of the next level."
            problems.add(message, fix, code="groups-not-nested")
        problems.refuse()


def _label(block: Sequence[Label]) -> Label:
    if len(block) == 1:
        return block[0]
    low, high = (MISSING_END if end is None else end for end in (block[0], block[-1]))
    return f"{low}..{high}"


KIND = HierarchyKind(
    key="order",
    summary="Ordered values, grouped with their neighbours.",
    fields=(
        HierarchyField("values", FieldKind.VALUES, "the values from first to last"),
        HierarchyField("groups", FieldKind.WHOLES, "how many neighbours join at each level; 2, 4, 8, … else", None),
    ),
    build=lambda fields, _folder, _where: OrderedValues(**fields),
    example="[low, mid, high]",
    short_forms=({"type": "array", "items": LABEL_SCHEMA},),
    expand=lambda value: {"values": list(value)} if isinstance(value, (list, tuple)) else value,
    known=Known.NODES,
    listed=True,
    runs=frozenset({RunKind.NUMBERS, RunKind.ORDER}),
)
