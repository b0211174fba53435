"""Damaged and hostile files of every format, each read in a process of its own with limits on memory and time.

Run: python benchmarks/readers.py [--cases 200] [--seed 1] [--formats .csv,.xlsx] [--show]

For each format it prints how many files were read, refused with an error of Shoal's, ended with another exception, were
aborted, ran out of time or out of memory, and the largest memory and time of one file. Files are made from a sound one
by changing, doubling and removing bytes, under the compression too; the hostile ones are made to take all memory.
``--show`` prints what was neither read nor refused. It ends with 1 if there was any.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from support.hostile_files import (
    MEMORY,
    SECONDS,
    Outcome,
    cases,
    hostile_files,
    read_in_a_child,
    sound_files,
    write_case,
)

KINDS = ("read", "refused", "error", "aborted", "timeout", "memory")


def main() -> int:
    """Read all cases and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--formats", default="")
    parser.add_argument("--show", action="store_true")
    options = parser.parse_args()
    bad = 0
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        sound = sound_files(folder)
        print(f"At most {MEMORY / 1e9:.1f} GB beyond the start and {SECONDS} s for each file.")
        print(f"{'format':16}{'files':>7}" + "".join(f"{kind:>9}" for kind in KINDS) + f"{'peak MB':>9}{'seconds':>9}")
        hostile = list(hostile_files(sound))
        for suffix in options.formats.split(",") if options.formats else sound:
            found: list[Outcome] = []
            all_cases = [*cases(sound, suffix, options.cases, options.seed)]
            all_cases += [(name, content) for own, name, content in hostile if own == suffix]
            for name, content in all_cases:
                outcome = read_in_a_child(write_case(folder, suffix, content))
                found.append(outcome)
                if not outcome.fine:
                    bad += 1
                    if options.show:
                        print(f"  {suffix} {name}: {outcome.kind} {outcome.detail[:300]}")
            counts = Counter(each.kind for each in found)
            peak, seconds = max(each.peak for each in found), max(each.seconds for each in found)
            row = "".join(f"{counts[kind]:>9}" for kind in KINDS)
            print(f"{suffix:16}{len(found):>7}{row}{peak / 1e6:>9.0f}{seconds:>9.1f}", flush=True)
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
