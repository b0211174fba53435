"""A hierarchy written as a tree: nested mappings and lists, as a policy file has them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from shoal.errors import PolicyProblem
from shoal.hierarchies.assemble import build, distinct_leaves, levels_from_paths
from shoal.hierarchies.hierarchy import ROOT_LABEL, BuiltHierarchy, Label, is_scalar, scalar_text
from shoal.hierarchies.kind import FieldKind, HierarchyField, HierarchyKind, Known
from shoal.hierarchies.problems import quoted, refuse, refuse_unknown_values

Path = tuple[Label, ...]


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
        return build(levels_from_paths(paths), values, None, where)

    def _paths(self, where: str) -> list[Path]:
        """Each leaf's labels up to the root, in the order of the declaration."""
        if is_scalar(self.nested):
            message = f"a tree is a mapping of groups or a list of values, not {quoted(scalar_text(self.nested))}."
            refuse([PolicyProblem(where, message, "Write {group: [value, value]}.", code="tree-shape")])
        walk = _Walk(where)
        paths = list(walk.leaves(self.nested, () if _names_root(self.nested) else (ROOT_LABEL,)))
        if not paths and not walk.problems:
            walk.report((), "the tree is empty.", "Write {group: [value, value]}.")
        refuse(walk.problems)
        return paths


@dataclass
class _Walk:
    """One walk through the nested declaration, gathering what is wrong with it."""

    where: str
    problems: list[PolicyProblem] = field(default_factory=list)
    entered: list[int] = field(default_factory=list)
    """Identities of the containers above, since a YAML anchor may hold itself."""

    def leaves(self, node: object, above: Path) -> Iterator[Path]:
        """The leaves under a node, each with its labels up to the root."""
        if is_scalar(node):
            yield (scalar_text(node), *above)
        elif id(node) in self.entered:
            self.report(above, "the group holds itself.", "Write out the group.")
        elif isinstance(node, Mapping):
            self.entered.append(id(node))
            for key, below in node.items():
                yield from self._named(key, below, above)
            self.entered.pop()
        elif isinstance(node, list | tuple):
            self.entered.append(id(node))
            for each in node:
                if isinstance(each, list | tuple):
                    self.report(above, "a list within a list is a group without a label.", "Write {label: [...]}.")
                else:
                    yield from self.leaves(each, above)
            self.entered.pop()
        else:
            self.report(above, f"{node!r} is neither a value, a list nor a mapping.", "Write a text or a number.")

    def _named(self, key: object, below: object, above: Path) -> Iterator[Path]:
        """The leaves of one entry of a mapping."""
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
        self.problems.append(PolicyProblem(self.where, message, fix, code="tree-shape"))


def _empty(below: object) -> bool:
    """Whether a name has nothing under it, which makes it a value."""
    return below is None or (isinstance(below, Mapping | list | tuple) and not below)


def _names_root(nested: object) -> bool:
    """Whether the declaration itself names the root: one name on top with something under it."""
    return isinstance(nested, Mapping) and len(nested) == 1 and not _empty(next(iter(nested.values())))


KIND = HierarchyKind(
    key="tree",
    summary="Nested groups.",
    fields=(HierarchyField("tree", FieldKind.TREE, "nested mapping, or the path of a YAML file"),),
    build=lambda fields, _folder, _where: Tree(fields["tree"]),
    known=Known.NODES,
    listed=True,
)
