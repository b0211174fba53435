"""The original as attackers see it: everybody's values, and which released labels they lie under."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from shoal.attacks.class_fit import CodePairs, fitting_pairs
from shoal.attacks.released_classes import LISTED, Codes, Column, Ints, Released
from shoal.attacks.released_labels import label_nodes
from shoal.encode.resolve import Resolved
from shoal.errors import DataError
from shoal.formatting import listing
from shoal.hierarchies.hierarchy import Hierarchy
from shoal.hierarchies.numbers_as_text import range_ends
from shoal.hierarchies.problems import quoted
from shoal.policy import Policy
from shoal.search.problem import Problem
from shoal.table.distinct_rows import DistinctRows
from shoal.table.encoded import combine_codes
from shoal.table.recoding import Recoding

MOST_OVERLAPPING = 20_000  # distinct rows whose classes are looked up where each may fit several


@dataclass(frozen=True, eq=False)
class Original:
    """The records of the original: the quasi-identifiers that an attacker may know, as distinct rows."""

    rows: DistinctRows
    problem: Problem  # the original as it was encoded
    codes: Codes  # ``codes[j, t]``: leaf of quasi-identifier ``j`` in tuple ``t``; tuples ascend
    counts: Ints  # records of each tuple
    hierarchies: tuple[Hierarchy, ...]  # with the released ranges as nodes where there are any
    nodes: tuple[Codes, ...]  # the node of each released label of each quasi-identifier; -1 where nobody lies under it
    secrets: Mapping[str, tuple[Ints, Ints, Ints]]
    """For each sensitive column (tuple, value, records): value as in the release, -1 for one that it does not show."""

    def people(self, insensitive: Mapping[str, Column]) -> tuple[Codes, Ints, list[CodePairs], Codes | Ints]:
        """What everybody has in the quasi-identifiers, then in some insensitive columns, as distinct rows; how many
        people have each; for each column the released labels that each of its codes goes with; and the distinct row of
        each row of the table."""
        covers = []
        for hierarchy, nodes in zip(self.hierarchies, self.nodes, strict=True):
            known = np.flatnonzero(nodes >= 0)
            first, last = hierarchy.first[nodes[known]], hierarchy.last[nodes[known]]
            covers.append(CodePairs.of_stretches(first, last, known, hierarchy.n_leaves))
        if not insensitive:
            return self.codes, self.counts, covers, self.problem.table.row_tuple
        table, columns = self.problem.table, [self.rows.columns[name] for name in insensitive]
        widths = [len(self.counts), *(max(len(column.labels), 1) for column in columns)]
        keys, _ = combine_codes([table.row_tuple, *(column.codes for column in columns)], widths)
        _, chosen, of_row = np.unique(keys, return_index=True, return_inverse=True)
        counts = np.bincount(of_row, weights=table.weights, minlength=len(chosen)).astype(np.int64)
        for column, (values, _) in zip(columns, insensitive.values(), strict=True):
            index = {value: code for code, value in enumerate(values)}
            same = {(code, index[text]) for code, text in enumerate(column.labels) if text in index}
            covers.append(CodePairs.of_set(same, len(column.labels)))
        quasi = self.codes[:, table.row_tuple[chosen]]
        return np.vstack([quasi, *(column.codes[chosen] for column in columns)]), counts, covers, of_row

    def only_class(self, released: Released) -> Ints | None:
        """The class that each tuple fits, -1 where it fits none; None where a tuple may be in one of several."""
        codes, counts, covers, _ = self.people({})
        if len(counts) > MOST_OVERLAPPING and any(bool((cover.lengths > 1).any()) for cover in covers):
            return None
        item, box = fitting_pairs(codes, released.cells, covers)
        of_tuple = np.full(len(counts), -1, dtype=np.int64)
        of_tuple[item] = box
        inside = of_tuple >= 0
        records = np.bincount(of_tuple[inside], weights=counts[inside], minlength=len(released.sizes))
        alone = len(item) == np.count_nonzero(inside)
        return of_tuple if alone and (records == released.stats.records).all() else None


def original_scene(
    released: Released, policy: Policy, table: DistinctRows, resolved: Resolved, recoding: Recoding | None
) -> Original:
    """The original of a release; `DataError` for labels that its hierarchies lack, or ranges between values that it
    lacks."""
    given = resolved.problem.hierarchies if recoding is None else recoding.hierarchies
    hierarchies, nodes, secrets = [], [], {}
    for name, hierarchy, labels in zip(released.quasi, given, released.labels, strict=True):
        extended, of_label = label_nodes(hierarchy, labels, name, policy)
        if lost := [labels[index] for index in np.flatnonzero(of_label < 0)]:
            ranges = [label for label in lost if _has_ends(policy, name) and range_ends(label)]
            what = f"labels of {name!r} that no record of the original lies under"
            if ranges:
                what = f"ranges of {name!r} with an end that no record of the original has"
            shown = listing([quoted(each) for each in ranges or lost], LISTED)
            message = f"The release has {what}: {shown}. Use the original that it was made from."
            raise DataError(message, code="release-not-of-original")
        hierarchies.append(extended)
        nodes.append(of_label)
    for name, secret in resolved.sensitive.items():
        code_of = {value: code for code, value in enumerate(released.stats.domains[name].values)}
        number = np.array([code_of.get(value, -1) for value in secret.domain.values], dtype=np.int64)
        pairs = resolved.problem.table.pairs[name]
        secrets[name] = (pairs.tuples.astype(np.int64), number[pairs.values], pairs.counts)
    codes, counts = resolved.problem.table.codes, resolved.problem.table.counts
    return Original(table, resolved.problem, codes, counts, tuple(hierarchies), tuple(nodes), secrets)


def _has_ends(policy: Policy, name: str) -> bool:
    """Whether a column is released as ranges whose ends are values."""
    return name in policy.algorithm.ranges and policy.range_form(name) is None
