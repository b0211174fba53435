"""What each algorithm loses on a grid of tables and models, how far from the best possible that is, and its time.

Run: python benchmarks/utility.py [--rows 'adult-k*' wide] [--algorithms optimal greedy-clustering:refine=15] [--list]

Adult (30,162 records, nothing suppressed) is measured where SHOAL_DATA names its folder; the tables of `examples/` with
their own policies and suppression; `wide` and `skewed` are generated (`utility_tables.py`). NCP is the mean over all
cells of (leaves - 1)/(domain - 1). The gap is how far above the best possible release this one is at the most: NCP over
its proven lower bound, minus one; with ~, the bound is estimated from a sample of the records. Seconds are those of the
search and of the bound, then wall and processor time of everything from reading to recoding, in all threads. Nothing
is written or attacked. A small table comes first, so that kernels are loaded.

Quoted, measured elsewhere on a comparable 2-core machine and not run here: ARX's best local recoding 0.059 in 5.2 s and
0.054 in 21.7 s at k = 5; 0.077 at k = 10, 0.149 at k = 50; 0.037 in 2.6 s with 3-sensitive occupation; with t-closeness
0.2 79 s and 4,424 records suppressed.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from shoal.errors import ShoalError
from shoal.metrics import METRICS, ReleaseSummary
from shoal.pipeline.run import Clock, make_release
from shoal.search import ALGORITHMS
from utility_tables import Row, adult_rows, example_rows, generated_rows

USUAL = ["auto", "optimal", "top-down", "mondrian", "greedy-clustering", "greedy-clustering:refine=15"]


def main() -> None:
    """Print the table as Markdown."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rows", nargs="+", default=["*"], metavar="PATTERN", help="such as 'adult-k*' or wide")
    usual = [each for each in USUAL if each.partition(":")[0] in ALGORITHMS]
    parser.add_argument("--algorithms", nargs="+", default=usual, metavar="NAME[:option=value,...]")
    parser.add_argument("--list", action="store_true", help="print the names of the rows, and end")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        chosen = [row for row in rows(Path(name)) if any(fnmatch(row.name, each) for each in asked.rows)]
        if asked.list:
            print(*(row.name for row in chosen), sep="\n")
            return
        load_kernels(asked.algorithms)
        print("| row | algorithm | NCP | gap | suppressed | classes | search | bound | wall | processor |")
        print("|---|---|---:|---:|---:|---:|---:|---:|---:|---:|")
        for row in chosen:
            for algorithm in asked.algorithms:
                print(f"| {row.name} | {algorithm} | {measured(row, algorithm)} |", flush=True)


def rows(folder: Path) -> Iterator[Row]:
    """The grid; without its folder Adult is left out, and that is said."""
    if os.environ.get("SHOAL_DATA"):
        yield from adult_rows(folder)
    else:
        print("Adult is left out: SHOAL_DATA does not name its folder.\n")
    yield from example_rows()
    yield from generated_rows()


def load_kernels(algorithms: list[str]) -> None:
    """Run every algorithm once on few records, so that no row pays for loading or compiling."""
    for row in example_rows():
        for algorithm in algorithms:
            measured(row, algorithm)
        return


def algorithm_of(text: str) -> dict[str, Any]:
    """``greedy-clustering:refine=15`` as a policy has it."""
    name, _, options = text.partition(":")
    pairs = (option.partition("=") for option in options.split(",") if option)
    return {"name": name, **{key: float(value) if value[:1].isdigit() else value for key, _, value in pairs}}


def measured(row: Row, algorithm: str) -> str:
    """One run as the cells of a line; a run that is refused says why."""
    clock, wall, processor = Clock(), time.perf_counter(), time.process_time()
    try:
        result = make_release(row.data, row.policy.changed(algorithm=algorithm_of(algorithm)), clock)
        recoding = result.recoding
        ncp = METRICS["ncp"].of(ReleaseSummary.of(recoding))
        found = None if result.bound is None else result.bound.facts(ncp)
        cells = [f"{ncp:.4f}", gap(found, ncp), f"{recoding.suppressed:,}", f"{recoding.n_classes:,}"]
    except ShoalError as error:
        cells = ["–", "–", "–", str(error).splitlines()[0]]
    cells += [f"{clock.stages.get(stage, 0.0):.1f} s" for stage in ("search", "bound")]
    wall, processor = time.perf_counter() - wall, time.process_time() - processor
    return " | ".join([*cells, f"{wall:.1f} s", f"{processor:.1f} s"])


def gap(bound: Any, reached: float) -> str:
    """How far above the best possible at the most, in percent; – where nothing is known."""
    if bound is None or not bound["ncp"]:
        return "0 %" if bound is not None and not reached else "–"
    known = bound.get("gap")
    share = reached / bound["ncp"] - 1 if known is None else known
    return f"{'~' if bound.get('estimated') else ''}{100 * share:.1f} %"


if __name__ == "__main__":
    main()
