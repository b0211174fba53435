"""What the refinement attack reads back from our own releases, and whether it is right.

Run: python benchmarks/refinement.py [--exact-only]

Exact: all tables of a few records over a small domain are anonymized; those with the same release cannot be told apart
without other data, so what they have in common is all that is certain. *Exact* is the share of generalized cells of
which something is certain in this way, *attack* what the attack finds of it, *labels* what tight labels say by
themselves.

Generated tables and Adult (the folder of SHOAL_DATA, or next to the checkout): the share of generalized cells that the
attack narrows down or places, what labels say, and the cells for which the most frequent finer label is ruled out. The
conclusions are compared with the original: *wrong* must be 0, and *right* is how often the attacker's best guess is
right for the last kind of cells, where the guess by labels and frequencies is never right. The time is that of the
attack alone, on one processor.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import adult
from shoal.attacks.attackers.refinement import finer_counts
from shoal.io import DataSource, read_table
from shoal.policy import Policy
from shoal.verification.declared_labels import tree_chains

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from oracles import refinement_oracle as oracle
from support.refinement_cases import attacked, pairs_of, recoded, recoded_pairs

ALGORITHMS = ("optimal", "incognito", "greedy-lattice", "top-down", "mondrian", "greedy-clustering")
NESTED = {"*": {"A": ["a", "b", "c"], "B": ["d", "e"]}}
FOUR: dict[str, Any] = {"*": ["a", "b", "c", "d"]}
THREE: dict[str, Any] = {"*": ["a", "b", "c"]}
TWO: dict[str, Any] = {"*": ["x", "y"]}
SMALL = [("A(a,b,c), B(d,e)", [NESTED], 2, 6), ("four values", [FOUR], 3, 10), ("three by two", [THREE, TWO], 2, 5)]
RECORDS = 5_000


def trees_policy(trees: list[dict[str, Any]], k: int, algorithm: str) -> Policy:
    """A policy with a quasi-identifier for each tree."""
    columns = {f"q{j}": {"role": "quasi", "hierarchy": {"tree": tree}} for j, tree in enumerate(trees)}
    return Policy(columns=columns, privacy=[{"model": "k-anonymity", "k": k}], algorithm={"name": algorithm})


def exact_row(name: str, trees: list[dict[str, Any]], k: int, records: int, algorithm: str) -> str:
    """One line: all tables of a size."""
    policy = trees_policy(trees, k, algorithm)
    chains = [{str(v): tuple(dict.fromkeys(chain)) for v, chain in tree_chains(tree).items()} for tree in trees]
    groups = oracle.by_release(chains, records, partial(recoded_pairs, policy))
    cells, wrong = Counter[str](), 0
    for release, tables in groups.items():
        released, columns, numbers = attacked(policy, release)
        for (labels, j), known in oracle.certain_counts(chains, tables).items():
            index, column, times = numbers[labels], columns[j], len(tables)
            size = int(released.sizes[index])
            cells["all"] += times * size
            cells["exact"] += times * oracle.certain_cells(known, size)
            cells["attack"] += times * int(column.certain(released.sizes)[index])
            cells["labels"] += times * int(column.placed_by_labels[index])
            for below, counts in known.items():
                least, most = column.bounds(index, size, below)
                wrong += counts.least < least or counts.most > most
    shares = " | ".join(f"{cells[each] / max(cells['all'], 1):.1%}" for each in ("exact", "attack", "labels"))
    return f"| {algorithm} | {name} | {k} | {records} | {sum(map(len, groups.values())):,} | {shares} | {wrong} |"


def generated() -> pa.Table:
    """Four columns of uneven frequencies, the third depending on the first."""
    random = np.random.default_rng(3)
    first = random.choice(5, RECORDS, p=[0.4, 0.3, 0.1, 0.15, 0.05])
    second = random.choice(4, RECORDS, p=[0.6, 0.2, 0.15, 0.05])
    third = np.where(random.random(RECORDS) < 0.5, first % 3, random.choice(3, RECORDS, p=[0.7, 0.2, 0.1]))
    fourth = random.choice(2, RECORDS, p=[0.8, 0.2])
    values = [np.array(list(names))[codes] for names, codes in zip(("abcde", "abcd", "abc", "xy"),
              (first, second, third, fourth), strict=True)]  # fmt: skip
    return pa.table({f"q{j}": pa.array(each.tolist(), pa.string()) for j, each in enumerate(values)})


def large_row(name: str, table: pa.Table, policy: Policy) -> str:
    """One line: a table that is anonymized once."""
    result = recoded(policy, table)
    assert result is not None
    pairs = pairs_of(result)
    release = frozenset(Counter(labels for _, labels in pairs).items())
    released, columns, numbers = attacked(policy, release)
    start = time.process_time()
    finer_counts(released, policy)
    seconds = time.process_time() - start
    sizes = released.sizes
    cells = sum(int(sizes[each.generalized].sum()) for each in columns)
    certain = sum(int(each.certain(sizes).sum()) for each in columns) / max(cells, 1)
    labels = sum(int(each.placed_by_labels.sum()) for each in columns) / max(cells, 1)
    misled = sum(int(sizes[each.misleading].sum()) for each in columns)
    wrong, right = compared(result, released.sizes, columns, numbers)
    figures = f"{certain:.1%} | {labels:.1%} | {misled / max(cells, 1):.1%} | {right / max(misled, 1):.1%} | {wrong}"
    return f"| {policy.algorithm.name} | {name} | {len(sizes):,} | {cells:,} | {figures} | {seconds:.2f} s |"


def compared(result: Any, sizes: Any, columns: list[Any], numbers: dict[Any, int]) -> tuple[int, int]:
    """Conclusions that the original contradicts, and right guesses where the most frequent finer label is ruled out."""
    wrong = right = 0
    trees, pairs = result.resolved.problem.hierarchies, Counter(pairs_of(result))
    for j, (tree, column) in enumerate(zip(trees, columns, strict=True)):
        counts: dict[int, Counter[Any]] = {}
        for (values, shown), count in pairs.items():
            path = [tree.labels[node] for node in tree.path(tree.by_label[values[j]])]
            if (at := path.index(shown[j])) > 0:
                counts.setdefault(numbers[shown], Counter())[path[at - 1]] += count
        overall: Counter[Any] = Counter()
        for index, cell in enumerate(column.cells):
            for label in column.labels[cell].path:
                overall[label] += int(sizes[index])
        for index, found in counts.items():
            for below in {*found, *(column.labels[column.cells[index]].finer or ())}:
                least, most = column.bounds(index, int(sizes[index]), below)
                wrong += not least <= found[below] <= most
            finer = column.labels[column.cells[index]].finer or ()
            left = [below for below in finer if below not in column.ruled_out[index]]
            if column.misleading[index] and left:
                right += found[max(left, key=lambda label: overall[label])]
    return wrong, right


def large_tables(folder: Path) -> Iterator[tuple[str, pa.Table, Policy]]:
    """The tables that are anonymized once, by algorithm."""
    for algorithm in ALGORITHMS:
        yield f"generated, {RECORDS:,}, k 5", generated(), trees_policy([NESTED, FOUR, THREE, TWO], 5, algorithm)
    try:
        adult.write_table(folder / "adult.csv")
    except SystemExit as reason:
        print(f"Without Adult: {reason}", file=sys.stderr)
        return
    table = read_table(DataSource(folder / "adult.csv"))
    for algorithm in ALGORITHMS:
        k = [{"model": "k-anonymity", "k": 5}]
        yield "Adult, k 5", table, Policy(columns=adult.columns(), privacy=k, algorithm={"name": algorithm})


def main() -> None:
    """Print the tables as Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--exact-only", action="store_true", help="only the small tables")
    asked = parser.parse_args()
    print("| algorithm | values | k | records | originals | exact | attack | labels | wrong |")
    print("|---|---|---|---|---|---|---|---|---|")
    for name, trees, k, records in SMALL:
        for algorithm in ALGORITHMS:
            print(exact_row(name, trees, k, records, algorithm), flush=True)
    if asked.exact_only:
        return
    print("\n| algorithm | table | classes | generalized cells | attack | labels | misled | right | wrong | time |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for name, table, policy in large_tables(Path(folder)):
            print(large_row(name, table, policy), flush=True)


if __name__ == "__main__":
    main()
