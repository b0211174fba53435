"""The kinds of hierarchies that a policy can declare, in the order in which they are listed."""

from __future__ import annotations

from collections.abc import Mapping

from shoal.hierarchies import dates, flat, intervals, levels, mask, order, tree
from shoal.hierarchies.kind import HierarchyKind

HIERARCHY_KINDS: Mapping[str, HierarchyKind] = {
    module.KIND.key: module.KIND for module in (intervals, tree, levels, mask, dates, order, flat)
}
