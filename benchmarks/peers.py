"""Shoal compared with what a Python user would choose instead: anjana, anonypy and pyCANON, on one table in one run.

Run: python benchmarks/peers.py [--k 5] [--suppression 0.05] [--limit 900] [--environment FOLDER]

Adult, 30,162 records, eight quasi-identifiers with the same hierarchies, occupation sensitive. Each tool runs in a
separate process; the peers are installed, with pinned versions, into a separate environment. NCP is measured by one
function on what each tool returns: the share of a column's values that a cell may stand for, where a suppressed record
counts as 1 in every cell. anonypy has neither hierarchies nor suppression, and pyCANON only measures.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import json
import subprocess
import sys
import tempfile
import venv
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

import adult
import shoal

HERE = Path(__file__).parent
SENSITIVE, NUMBERS = "occupation", ("age",)
QUASI = [name for name in adult.HIERARCHY_OF if name != SENSITIVE]
Rows = list[dict[str, str]]


@dataclass(frozen=True)
class Tool:
    """A row of the table."""

    name: str
    run: str
    group: str
    algorithm: tuple[tuple[str, Any], ...] = ()
    hierarchies: bool = True


FULL, LOCAL = "full-domain", "local"
"""Full-domain recodings may suppress records; anonypy, which is local, cannot, so no local one does."""
_RANGES = ("ranges", list(NUMBERS))
TOOLS = (
    Tool("Shoal, optimal", "shoal", FULL, (("name", "optimal"),)),
    Tool("anjana", "anjana", FULL),
    Tool("Shoal, mondrian", "shoal", LOCAL, (("name", "mondrian"),)),
    Tool("Shoal, greedy-clustering", "shoal", LOCAL, (("name", "greedy-clustering"),)),
    Tool("Shoal, greedy-clustering, age in ranges", "shoal", LOCAL, (("name", "greedy-clustering"), _RANGES)),
    Tool("anonypy", "anonypy", LOCAL, hierarchies=False),
)
HEAD = (
    "tool", "recoding", "time ÷", "memory ÷", "NCP ÷", "time", "processor", "peak memory", "NCP", "suppressed",
    "pyCANON", "Shoal's verifier",
)  # fmt: skip


def environment(folder: Path | None) -> Path:
    """The interpreter of an environment that has the peers; made where it is not there yet."""
    asked = HERE / "peers-requirements.txt"
    mark = hashlib.sha256(asked.read_bytes()).hexdigest()[:12]
    target = folder if folder is not None else Path(tempfile.gettempdir()) / f"shoal-peers-{mark}"
    python = target / "bin" / "python"
    done = target / f"installed-{mark}"
    if not done.exists():
        print(f"Installing the peers into {target} …", file=sys.stderr)
        venv.create(target, with_pip=True)
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", "-r", str(asked)], check=True)
        done.touch()
    return python


class Covered:
    """How many of a column's values a released cell may stand for, as a share between 0 (one) and 1 (all)."""

    def __init__(self, name: str, original: Rows) -> None:
        self._values = {row[name] for row in original}
        self._numbers = sorted(int(value) for value in self._values) if name in NUMBERS else []
        self._under: Counter[str] = Counter()
        with hierarchy(name).open(newline="", encoding="utf-8") as file:
            for leaf, *above in csv.reader(file, delimiter=";"):
                self._under.update(label for label in dict.fromkeys(above) if leaf in self._values)
        self._known: dict[str, float] = {}

    def share(self, label: str) -> float:
        """(values covered - 1) / (values - 1)."""
        if label not in self._known:
            self._known[label] = (self._count(label) - 1) / (len(self._values) - 1)
        return self._known[label]

    def _count(self, label: str) -> int:
        if label in self._values:
            return 1
        if label in self._under:
            return self._under[label]
        if self._numbers:
            low, high = (int(end) for end in label.replace("<=", "-").split("-"))
            return sum(low <= number <= high for number in self._numbers)
        return len({value for value in label.split(",") if value in self._values})


def hierarchy(name: str) -> Path:
    """The file of a column's hierarchy."""
    return adult.data_folder() / "adult_hierarchies" / f"{adult.HIERARCHY_OF[name]}.csv"


def ncp(release: Rows, original: Rows) -> float:
    """The mean share over all cells of the original; records that are not released count 1."""
    covered = {name: Covered(name, original) for name in QUASI}
    lost = sum(covered[name].share(row[name]) for row in release for name in QUASI)
    lost += (len(original) - len(release)) * len(QUASI)
    return lost / (len(original) * len(QUASI))


def verified(release: Rows, tool: Tool, original: Rows, job: dict[str, Any]) -> str:
    """What Shoal's verifier says of a tool's own output; with the original where labels are of the hierarchies."""
    columns: dict[str, Any] = {
        name: {"role": "quasi", "hierarchy": {"levels": str(hierarchy(name))} if tool.hierarchies else "flat"}
        for name in QUASI
    }
    columns[SENSITIVE] = {"role": "sensitive"}
    policy = shoal.Policy(
        columns=columns,
        privacy=[{"model": "k-anonymity", "k": job["k"]}],
        algorithm=job["algorithm"] or {"name": "optimal"},
        suppression=job["suppression"],
    )
    names = list(release[0])
    table = pa.table({name: [row[name] for row in release] for name in names})
    before = pa.table({name: [row[name] for row in original] for name in columns}) if tool.hierarchies else None
    result = shoal.verify(table, policy, original=before)
    failing = "; ".join(f"{check.name}: {check.message.split(';')[0]}" for check in result.failures)
    said = f"fails: {failing}" if failing else "passes"
    return said if tool.hierarchies else f"{said} (labels of its own: checked without the original)"


def measure(tool: Tool, job: dict[str, Any], python: Path, limit: float) -> dict[str, Any]:
    """Run one tool in its process; what went wrong is its result."""
    own = Path(sys.executable) if tool.run == "shoal" else python
    path = Path(job["out"]).with_suffix(".json")
    path.write_text(json.dumps(job), encoding="utf-8")
    try:
        ran = subprocess.run(
            [str(own), str(HERE / "peers_run.py"), tool.run, str(path)],
            check=False, capture_output=True, text=True, timeout=limit,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return {"failed": f"not done after {limit:g} s"}
    if ran.returncode:
        return {"failed": (ran.stderr.strip().splitlines() or ["no message"])[-1][:120]}
    return dict(json.loads(ran.stdout.splitlines()[-1]))


def pycanon_k(path: Path, job: dict[str, Any], python: Path, limit: float) -> str:
    """The k that pyCANON finds in a release."""
    given = {**job, "table": str(path), "out": str(path.with_suffix(".checked"))}
    found = measure(Tool("pyCANON", "pycanon", ""), given, python, limit)
    return str(found.get("k", found.get("failed")))


def versions() -> str:
    """What is compared, by version."""
    pinned = [line.strip() for line in (HERE / "peers-requirements.txt").read_text(encoding="utf-8").splitlines()]
    peers = [line.replace("==", " ") for line in pinned if line.startswith(("anjana", "anonypy", "pycanon"))]
    return ", ".join([f"Shoal {shoal.__version__}", *peers])


def read(path: Path) -> Rows:
    """A CSV file as records."""
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def line(tool: Tool, found: dict[str, Any], base: dict[str, Any], k: int) -> str:
    """One row of the table, ratios first."""
    if "failed" in found:
        return f"| {tool.name} | {tool.group} | - | - | - | {found['failed']} | | | | | | |"
    ratios = [found[key] / base[key] if base.get(key) else float("nan") for key in ("seconds", "peak", "ncp")]
    agrees = "passes" if found["pycanon"].isdigit() and int(found["pycanon"]) >= k else "fails"
    return (
        f"| {tool.name} | {tool.group} | {' | '.join(f'{ratio:.2f}' for ratio in ratios)} | {found['seconds']:.1f} s "
        f"| {found['processor']:.1f} s | {found['peak'] / 1e6:.0f} MB | {found['ncp']:.4f} | {found['suppressed']:,} "
        f"| {agrees}, k = {found['pycanon']} | {found['verified']} |"
    )


def compare(folder: Path, python: Path, given: argparse.Namespace) -> None:
    """Run the tools one by one and print each as it is done."""
    table = folder / "adult.csv"
    records = adult.write_table(table)
    original = read(table)
    print(
        f"Adult, {records:,} records, {len(QUASI)} quasi-identifiers, k = {given.k}; full-domain recodings may "
        f"suppress {100 * given.suppression:g} %, local ones nothing. Ratios are to Shoal's first row of the same "
        "recoding: above 1 the tool takes longer, needs more memory or loses more. Time is the tool's call, "
        f"DataFrame to DataFrame; Shoal's includes its verification and attacks. {versions()}.\n"
    )
    print(f"| {' | '.join(HEAD)} |\n|---|---|{'---:|' * 8}---|---|", flush=True)
    base: dict[str, dict[str, Any]] = {}
    for place, tool in enumerate(TOOLS):
        job = {
            "table": str(table), "quasi": QUASI, "sensitive": SENSITIVE, "numbers": NUMBERS, "k": given.k,
            "suppression": given.suppression if tool.group == FULL else 0.0, "algorithm": dict(tool.algorithm),
            "hierarchies": {name: str(hierarchy(name)) for name in QUASI}, "out": str(folder / f"{place}.csv"),
        }  # fmt: skip
        found = measure(tool, job, python, given.limit)
        if "failed" not in found:
            release = read(Path(job["out"]))
            found |= {
                "ncp": ncp(release, original), "suppressed": len(original) - len(release),
                "pycanon": pycanon_k(Path(job["out"]), job, python, given.limit),
                "verified": verified(release, tool, original, job),
            }  # fmt: skip
        print(line(tool, found, base.setdefault(tool.group, found), given.k), flush=True)


def main() -> None:
    """Print the table as Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--k", type=int, default=5)
    parser.add_argument("--suppression", type=float, default=0.05, help="share of records that may be left out")
    parser.add_argument("--limit", type=float, default=900, help="seconds after which a tool is given up")
    parser.add_argument("--environment", type=Path, help="folder of the peers' environment (default: a temporary one)")
    given = parser.parse_args()
    python = environment(given.environment)
    with tempfile.TemporaryDirectory() as name:
        compare(Path(name), python, given)


if __name__ == "__main__":
    main()
