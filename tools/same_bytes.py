"""Record what the command line makes of many policies, and compare two recordings: the net under every redesign.

    python tools/same_bytes.py record --shoal .venv/bin/shoal --out DIR [--only GLOB] [--quick] [--jobs N]
                                      [--list] [--fresh] [--spark [SHOAL]] [--postgres]
    python tools/same_bytes.py compare DIR_OLD DIR_NEW [--only GLOB] [--quick] [--renamed FILE] [--details]

``record`` makes tables from seeds, runs each case through the public command line only (see ``same_bytes_cases.py``)
and stores for each of them ``DIR/CASE/record.json``: the exit code of every command, the SHA-256 of every file that was
written, and every JSON document (evidence, recoding, registry, ``--json``) without what differs from run to run:
seconds, memory, versions, and the hash of the evidence itself. Beside it lie the files themselves, reports included,
and the standard output and error of every command, to look at when something differs.

``compare`` lists every difference of exit codes, of released bytes and of single values in JSON documents, and exits
with 1 if there is one that ``tools/same_bytes_renamed.json`` does not explain. Texts (reports, drawings, standard
output and error, and sentences inside of JSON) are only counted. The file has five keys, all of them about paths such
as ``evidence:columns.*.distribution.crowd``: the kind of document, which may be left out, a colon, and keys, where
``*`` is any one key or index and ``**`` any number of them. Entries of a list that have names go by these, with their
sensitive column: ``attacks.proximity *``. A path stands for everything under it. The kind is
``evidence``, ``recoding``, ``registry``, ``comparison``, or the command that printed the document (``anonymize``).

- ``renamed``: old path → new path, or null for what was removed; the new path takes up each ``*`` in order.
- ``added``: paths that only the new recording has.
- ``wording``: paths whose values are sentences.
- ``rounded``: paths whose numbers may differ by less than a billionth.
- ``codes``: path → {old value: new value}, for names that stand in values.

A case that only one of the recordings has is a difference, so give ``--only`` or ``--quick`` to both commands alike;
those of Spark and of PostgreSQL are left out where the new recording has none.

The commands run in children of one process that has imported the package (``same_bytes_worker.py``), which saves their
start-up; those of Spark, and all with ``--fresh``, run as processes of their own. ``--spark SHOAL`` names the command
of an environment with PySpark; without a name it is the one of ``--shoal``. ``--postgres`` starts a server in a
temporary folder, as the tests do.
"""

from __future__ import annotations

import argparse
import fnmatch
import sys
import zlib
from pathlib import Path

from same_bytes_compare import compare
from same_bytes_record import record

RENAMED = Path(__file__).parent / "same_bytes_renamed.json"


def main() -> int:
    """Run the command that was asked for; the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    recording = commands.add_parser("record", help="run all cases and store what came out")
    recording.add_argument("--shoal", type=Path, required=True, help="the command under test")
    recording.add_argument("--out", type=Path, required=True, help="folder of the recording; an older one is replaced")
    recording.add_argument("--jobs", type=int, default=2, help="cases at the same time")
    recording.add_argument("--list", action="store_true", help="only print the names of the cases")
    recording.add_argument("--spark", nargs="?", const="", metavar="SHOAL", help="also the cases of Spark")
    recording.add_argument("--postgres", action="store_true", help="also the cases of PostgreSQL")
    recording.add_argument(
        "--fresh", action="store_true", help="run every command as a process of its own, which is slow"
    )
    comparing = commands.add_parser("compare", help="compare two recordings")
    comparing.add_argument("old", type=Path)
    comparing.add_argument("new", type=Path)
    comparing.add_argument("--renamed", type=Path, default=RENAMED, help="changes that are explained")
    comparing.add_argument("--details", action="store_true", help="print every difference, not the first of each path")
    for each in (recording, comparing):
        each.add_argument("--only", default="*", help="cases whose name matches this pattern")
        each.add_argument("--quick", action="store_true", help="a fixed quarter of the cases")
    given = parser.parse_args()

    def wanted(name: str) -> bool:
        return fnmatch.fnmatchcase(name, given.only) and not (given.quick and zlib.crc32(name.encode()) % 4)

    if given.command == "compare":
        return compare(given.old, given.new, renamed=given.renamed, details=given.details, wanted=wanted)
    spark = None if given.spark is None else Path(given.spark or given.shoal)
    return record(
        given.shoal,
        given.out,
        wanted=wanted,
        jobs=given.jobs,
        only_names=given.list,
        spark_command=spark,
        with_postgres=given.postgres,
        fresh=given.fresh,
    )


if __name__ == "__main__":
    sys.exit(main())
