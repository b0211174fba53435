"""A hierarchy written as a tree: nested mappings and lists, as a policy file has them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from shoal.hierarchies.assemble import Path, build, distinct_leaves, levels_of_paths
from shoal.hierarchies.hierarchy import ROOT_LABEL, BuiltHierarchy, Hierarchy, Label, is_scalar, scalar_text
from shoal.hierarchies.kind import FieldKind, HierarchyField, HierarchyKind, Known, RunKind
from shoal.hierarchies.problems import Problems, quoted, refuse, refuse_unknown_values

Nested = dict[str, object] | list[object]


@dataclass(frozen=True)
class Tree:
    """Groups by name: ``{America: [USA, Canada], Asia: {East: [China, Japan], South: [India]}, Antarctica: null}``.

    A name with nothing under it is a value. One name on top with something under it is the root; several are put
    under the root ``*``. Values that the data lack stay in the tree, since they count in the domain; null in a list
    (or as a name with nothing under it) places the missing value, which hangs under the root otherwise.
    """

    nested: object  # nested mappings and lists; scalars become canonical text (5 is "5", true is "true", dates are ISO)

    def build(self, values: Sequence[Label], counts: Sequence[int], where: str) -> BuiltHierarchy:
        """Build for the values of a column; a value that the tree lacks is a problem."""
        paths = distinct_leaves(self._paths(where), where)
        refuse_unknown_values(values, counts, {path[0] for path in paths}, where, "the tree")
        return build(levels_of_paths(paths), values, where)

    def _paths(self, where: str) -> list[Path]:
        """Each leaf's labels up to the root, in the order of the declaration."""
        if is_scalar(self.nested):
            message = f"a tree is a mapping of groups or a list of values, not {quoted(scalar_text(self.nested))}."
            refuse(where, message, "Write {group: [value, value]}.", code="tree-shape")
        on_top = list(self.nested.values()) if isinstance(self.nested, Mapping) else []
        names_root = len(on_top) == 1 and not _empty(on_top[0])
        walk = _Walk(Problems(where))
        paths = list(walk.leaves(self.nested, () if names_root else (ROOT_LABEL,)))
        if not paths and not walk.problems.found:
            walk.report((), "the tree is empty.", "Write {group: [value, value]}.")
        walk.problems.refuse()
        return paths


@dataclass
class _Walk:
    """One walk through the nested declaration, gathering what is wrong with it."""

    problems: Problems
    entered: list[int] = field(default_factory=list)  # containers above: a YAML anchor may hold itself

    def leaves(self, node: object, above: Path) -> Iterator[Path]:
        """The leaves under a node, each with its labels up to the root."""
        if is_scalar(node):
            yield (scalar_text(node), *above)
        elif id(node) in self.entered:
            self.report(above, "the group holds itself.", "Write out the group.")
        elif isinstance(node, Mapping | list | tuple):
            self.entered.append(id(node))
            for each in node:
                if isinstance(node, Mapping):
                    yield from self._named(each, node[each], above)
                elif isinstance(each, list | tuple):
                    self.report(above, "a list within a list is a group without a label.", "Write {label: [...]}.")
                else:
                    yield from self.leaves(each, above)
            self.entered.pop()
        else:
            self.report(above, f"{node!r} is neither a value, a list nor a mapping.", "Write a text or a number.")

    def _named(self, key: object, below: object, above: Path) -> Iterator[Path]:
        if not is_scalar(key):
            self.report(above, f"{key!r} is not a label.", "Write a text or a number.")
        elif _empty(below):
            yield (scalar_text(key), *above)
        elif key is None:
            self.report(above, "the missing value cannot be a group.", 'Give the group a text label, such as "None".')
        else:
            yield from self.leaves(below, (scalar_text(key), *above))

    def report(self, above: Path, message: str, fix: str) -> None:
        """Note what is wrong with the declaration under some labels."""
        group = " > ".join(str(label) for label in reversed(above))
        message = f"under {group}: {message}" if group else message
        self.problems.add(message, fix, code="tree-shape")


def _empty(below: object) -> bool:
    """Whether a name has nothing under it, which makes it a value."""
    return below is None or (isinstance(below, Mapping | list | tuple) and not below)


def to_nested(hierarchy: Hierarchy) -> Nested:
    """Nested mappings and lists that `Tree` reads.

    A node that stays the same for several levels stands under itself (``{Other: {Other: [...]}}``) where the depth of
    the nesting must tell the level; a leaf does so only where otherwise no leaf would show the full height.
    """
    below = _children(hierarchy, hierarchy.height, 0, hierarchy.n_leaves - 1)
    root = hierarchy.labels[hierarchy.root]
    sole_group = isinstance(below, dict) and len(below) == 1 and next(iter(below.values())) is not None
    if root == ROOT_LABEL and not sole_group:
        return below
    return {str(root): below}


def _children(hierarchy: Hierarchy, level: int, first: int, last: int) -> Nested:
    """What stands under the node of one level that covers a range of leaves."""
    entries: list[tuple[str | None, Nested | None]] = []
    leaf = first
    while leaf <= last:
        node = int(hierarchy.levels[level - 1, leaf])
        end = int(hierarchy.last[node])
        ends_here = level == 1 or (node < hierarchy.n_leaves and not (leaf == 0 and _first_shows_height(hierarchy)))
        entries.append((hierarchy.labels[node], None if ends_here else _children(hierarchy, level - 1, leaf, end)))
        leaf = end + 1
    if all(below is None for _, below in entries):
        return [label for label, _ in entries]
    if all(label is not None for label, _ in entries):
        return {str(label): below for label, below in entries}
    return [label if below is None else {str(label): below} for label, below in entries]


def _first_shows_height(hierarchy: Hierarchy) -> bool:
    """Whether the first leaf is written as deep as the table: when every leaf repeats itself at level 1."""
    return hierarchy.labels[0] is not None and bool((hierarchy.levels[0] == hierarchy.levels[1]).all())


KIND = HierarchyKind(
    key="tree",
    summary="Nested groups.",
    fields=(HierarchyField("tree", FieldKind.TREE, "nested mapping, or the path of a YAML file"),),
    build=lambda fields, _folder, _where: Tree(fields["tree"]),
    known=Known.NODES,
    listed=True,
    runs=frozenset({RunKind.NUMBERS, RunKind.ORDER}),
)
