"""How fast the web page answers while it works on a million records: from a click to the answer on screen.

Run: python benchmarks/ui.py [--records 1000000] [--clicks 120]

A real browser loads a seeded table, and clicks through the steps while a release is made from it. The result also has
the longest time without a drawn frame, in which the page would look frozen.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import scale_data

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from support.page import Page
from support.ui_server import Client, Ui, serving

GAPS = """window.gaps = []; window.lastFrame = performance.now();
(function frame() {
  const now = performance.now();
  gaps.push(now - lastFrame);
  lastFrame = now;
  requestAnimationFrame(frame);
})()"""
_ROWS = "document.querySelector('#rows-after')?.closest('section').querySelector('caption')?.textContent"
"""Which records the preview shows."""


def title(text: str) -> str:
    """Whether a step is drawn."""
    return f"document.querySelector('#page h1')?.textContent === {json.dumps(text)}"


def clicks(page: Page) -> Iterator[tuple[str, float]]:
    """Clicks as a person makes them, for ever: what was clicked, and the seconds until its answer was drawn."""
    columns = itertools.cycle(["country", "age", "education", "occupation"])
    while True:
        yield "switch step", page.click_time("#steps a[href='#/data']", title("Data"))
        page.wait_for("!!document.querySelector('#rows-after')")
        for _ in range(3):
            before = page.value(
                "document.querySelector('#rows-after').closest('section').querySelector('caption').textContent"
            )
            rows = "document.querySelector('#rows-after')?.closest('section').querySelector('caption')?.textContent"
            yield "page of rows", page.click_time("#rows-after", f"{rows} && {rows} !== {json.dumps(before)}")
        yield "switch step", page.click_time("#steps a[href='#/hierarchies']", title("Hierarchies"))
        for _ in range(2):
            name = next(columns)
            drawn = f"document.querySelector('#column-head')?.textContent === {json.dumps(name)}"
            yield "open a column", page.click_time(f"nav[aria-label=Columns] a[href='#/hierarchies/{name}']", drawn)
        yield "switch step", page.click_time("#steps a[href='#/privacy']", title("Privacy"))
        page.wait_for("!!document.querySelector('#model-0-k-more')")
        for button in ("more", "less"):
            written = (
                "document.querySelector('#yaml')?.value.includes(`k: ${document.querySelector('#model-0-k').value}`)"
            )
            yield "change a parameter", page.click_time(f"#model-0-k-{button}", written)
        yield "switch step", page.click_time("#steps a[href='#/runs']", title("Run"))


def prepared(ui: Ui, page: Page, table: Path) -> dict[str, float]:
    """Load the table in the browser and give it a policy; the seconds of each."""
    page.goto(ui.shown)
    begun = time.perf_counter()
    page.upload("#file", table)
    page.wait_for(
        "document.querySelector('.about').innerText.includes('records') && !!document.querySelector('#rows-after')",
        seconds=600,
    )
    loaded = time.perf_counter() - begun
    client = Client.inside(ui)
    drafted = client.ask("GET", "/api/state").json["policy"]
    policy = scale_data.policy(table, "mondrian").to_dict() | {"data": drafted["data"]}
    answer = client.ask("PUT", "/api/policy", {"policy": policy})
    assert answer.json["problems"] == [], answer.json
    page.reload()
    page.wait_for("!!document.querySelector('#rows-after')", seconds=60)
    return {"load and preview": loaded}


def measured(page: Page, wanted: int, client: Client) -> tuple[dict[str, list[float]], float, int]:
    """Click while runs go on: the seconds of each kind of click, the longest time without a frame, and the runs."""
    times: dict[str, list[float]] = defaultdict(list)
    page.value(GAPS + ", 1")
    runs = 0
    steps = clicks(page)
    for _ in range(wanted):
        if not any(run["state"] == "running" for run in client.ask("GET", "/api/runs").json["runs"]):
            client.run(name="benchmark")
            runs += 1
        kind, seconds = next(steps)
        times[kind].append(seconds)
    return times, float(page.value("Math.max(...gaps)")) / 1000, runs


def told(kind: str, seconds: list[float]) -> str:
    """One line of figures, in milliseconds."""
    ordered = sorted(seconds)
    at95 = ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))]
    figures = (1000 * each for each in (statistics.median(ordered), at95, ordered[-1]))
    return f"{kind:<20} {len(ordered):>5} " + " ".join(f"{each:>8.0f}" for each in figures)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--clicks", type=int, default=120)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        table = scale_data.write(given.records, "high", Path(folder) / "people.csv")
        with serving(Path(folder) / "ui") as ui, Page(Path(folder) / "browser") as page:
            size, load = table.stat().st_size / 1e6, os.getloadavg()[0]
            print(f"{given.records:,} records, {size:.0f} MB; load of the machine {load:.1f}")
            for what, seconds in prepared(ui, page, table).items():
                print(f"{what}: {seconds:.1f} s")
            times, longest, runs = measured(page, given.clicks, Client.inside(ui))
            print(f"while {runs} runs went on, milliseconds from click to drawn answer:")
            print(f"{'click':<20} {'count':>5} {'p50':>8} {'p95':>8} {'max':>8}")
            for kind, seconds in [*times.items(), ("all", [each for every in times.values() for each in every])]:
                print(told(kind, seconds))
            print(f"longest time without a frame: {1000 * longest:.0f} ms")


if __name__ == "__main__":
    main()
