"""Power cuts, killed processes, impatient people: what was whole stays whole, and nothing half appears."""

from __future__ import annotations

import csv
import io
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from shoal.datasets import ADULT_COLUMNS
from support.adult_cases import made_up
from support.page import Page
from support.ui_cases import TABLE
from support.ui_server import Client, Ui, serving, wait_until

pytestmark = pytest.mark.browser

QUASI = ("age", "education", "occupation", "race", "native-country", "hours-per-week")


@pytest.fixture(scope="module")
def people() -> bytes:
    """A table whose release takes seconds."""
    text = io.StringIO()
    writer = csv.DictWriter(text, ADULT_COLUMNS)
    writer.writeheader()
    writer.writerows(made_up(20_000))
    return text.getvalue().encode()


def slow_policy() -> dict[str, Any]:
    """A search that takes long, so that there is time to interrupt it."""
    widths = {"intervals": {"widths": [2, 4, 8, 16, 32]}}
    return {
        "data": {"path": "people.csv"},
        "columns": {
            name: {
                "role": "quasi",
                "hierarchy": widths if name in {"age", "hours-per-week"} else {"mask": {"side": "right"}},
            }
            for name in QUASI
        },
        "privacy": [{"model": "k-anonymity", "k": 7}],
        "algorithm": {"name": "greedy-clustering"},
        "suppression": 0.01,
    }


def quick_policy() -> dict[str, Any]:
    return {
        "data": {"path": "people.csv"},
        "columns": {"sex": {"role": "quasi", "hierarchy": {"flat": True}}, "income": {"role": "insensitive"}},
        "privacy": [{"model": "k-anonymity", "k": 2}],
    }


def set_policy(client: Client, policy: dict[str, Any]) -> None:
    assert client.saved_problems(policy) == []


def worker(ui: Ui, module: str) -> int | None:
    """The process of one of our modules."""
    return next((number for number, line in ui.processes().items() if f"shoal.ui.{module}" in line), None)


def started(ui: Ui, client: Client) -> tuple[str, int]:
    """A long run that is in the middle of its work: its number and its process."""
    set_policy(client, slow_policy())
    number = client.run(name="long")
    wait_until(lambda: any(True for _ in ui.workspace.glob(f"session-*/runs/{number}/work")), "the work of the run")
    wait_until(lambda: client.state_of(number).get("waiting") is False, "the first progress of the run")
    process = worker(ui, "run.main")
    assert process is not None
    return number, process


@pytest.fixture
def begun(tmp_path: Path, people: bytes) -> Iterator[tuple[Ui, Client, str]]:
    """A server with a table and a finished run."""
    with serving(tmp_path) as ui:
        client = Client.inside(ui)
        assert client.upload("people.csv", people).status == 200
        set_policy(client, quick_policy())
        number = client.run(name="short")
        assert client.finished(number)["state"] == "done"
        yield ui, client, number


def test_a_server_killed_in_the_middle_of_a_run_loses_nothing_that_was_whole(
    begun: tuple[Ui, Client, str], tmp_path: Path
) -> None:
    ui, client, done = begun
    release = client.ask("GET", f"/api/runs/{done}/files/csv/release").body
    broken, _ = started(ui, client)
    ui.stop(signal.SIGKILL)
    wait_until(lambda: ui.processes() == {}, "the end of its processes", seconds=20)
    with serving(tmp_path) as again:
        back = Client.inside(again)
        state = back.ask("GET", "/api/state").json
        assert state["table"]["records"] == 20_000
        assert state["policy"]["suppression"] == 0.01, "the policy is as it was left"
        assert [(run["number"], run["name"], run["state"]) for run in state["runs"]] == [
            (done, "short", "done"),
            (broken, "long", "interrupted"),
        ]
        assert back.ask("GET", f"/api/runs/{done}/files/csv/release").body == release
        assert back.ask("GET", f"/api/runs/{broken}/files/csv/release").status == 400
        (folder,) = again.workspace.glob(f"session-*/runs/{broken}")
        assert sorted(path.name for path in folder.iterdir()) == ["policy.yaml", "status.json"]
        set_policy(back, quick_policy())
        assert back.finished(back.run())["state"] == "done"
        assert again.stop() == 0
        assert not again.workspace.exists()


def test_a_server_killed_while_a_table_comes_in_keeps_the_one_before(tmp_path: Path) -> None:
    with serving(tmp_path) as ui:
        client = Client.inside(ui)
        assert client.upload("people.csv", TABLE).status == 200
        with client.half_upload("others.csv", TABLE, told=10_000):
            wait_until(lambda: list(ui.workspace.glob("session-*/incoming/others.csv")), "the upload")
            ui.stop(signal.SIGKILL)
    wait_until(lambda: ui.processes() == {}, "the end of its processes", seconds=20)
    with serving(tmp_path) as again:
        back = Client.inside(again)
        assert back.ask("GET", "/api/state").json["table"]["name"] == "people.csv"
        assert back.desk("rows").json["records"] == 4
        assert not list(again.workspace.rglob("others.csv"))


def test_what_happens_to_one_run_is_told_and_the_others_go_on(begun: tuple[Ui, Client, str]) -> None:
    ui, client, done = begun
    killed, process = started(ui, client)
    waiting = client.run(name="waits")
    assert client.state_of(waiting)["waiting"] is True
    os.kill(process, signal.SIGKILL)
    after = client.finished(killed)
    assert after["state"] == "failed"
    assert after["error"]["code"] == "worker-gone"
    assert client.ask("POST", f"/api/runs/{waiting}/cancel", {}).json["state"] == "cancelled"
    cancelled, process = started(ui, client)
    assert client.ask("POST", f"/api/runs/{cancelled}/cancel", {}).json["state"] == "cancelled"
    wait_until(lambda: not Path(f"/proc/{process}").exists(), "the end of the cancelled run", seconds=20)
    deleted, process = started(ui, client)
    assert client.ask("DELETE", f"/api/runs/{deleted}").status == 200
    assert not Path(f"/proc/{process}").exists()
    states = {run["number"]: run["state"] for run in client.ask("GET", "/api/runs").json["runs"]}
    assert states == {done: "done", killed: "failed", waiting: "cancelled", cancelled: "cancelled"}
    for number in (killed, waiting, cancelled):
        (folder,) = ui.workspace.glob(f"session-*/runs/{number}")
        assert sorted(path.name for path in folder.iterdir()) == ["policy.yaml", "status.json"]
        assert client.ask("GET", f"/api/runs/{number}/files/csv/release").status == 400
    assert client.ask("GET", f"/api/runs/{done}/files/csv/release").status == 200
    assert client.desk("rows").status == 200


def test_another_table_is_not_opened_under_a_run(begun: tuple[Ui, Client, str], people: bytes) -> None:
    """A run that goes on ends before the table it reads does."""
    ui, client, _ = begun
    _, process = started(ui, client)
    assert client.upload("others.csv", people).status == 200
    wait_until(lambda: not Path(f"/proc/{process}").exists(), "the end of the run of the old table", seconds=20)
    wait_until(lambda: client.ask("GET", "/api/runs").json["runs"] == [], "the end of the old table's runs")
    assert client.ask("GET", "/api/state").json["table"]["name"] == "others.csv"


def test_a_killed_desk_is_told_once_and_the_next_question_is_answered(begun: tuple[Ui, Client, str]) -> None:
    ui, client, _ = begun
    assert client.desk("rows").status == 200
    desk = worker(ui, "desk.main")
    assert desk is not None
    os.kill(desk, signal.SIGKILL)
    answers = [client.desk("rows") for _ in range(2)]
    assert answers[1].json["records"] == 20_000
    assert worker(ui, "desk.main") not in {None, desk}
    assert client.desk("column", name="age").json["distinct"] > 50


def test_a_browser_that_is_reloaded_finds_the_run_where_it_is(begun: tuple[Ui, Client, str], tmp_path: Path) -> None:
    ui, client, done = begun
    number, _ = started(ui, client)
    with Page(tmp_path / "browser") as page:
        page.goto(ui.shown)
        page.goto(f"http://{ui.host}/#/runs")
        page.wait_for_text("long")
        page.reload()
        page.wait_for_text("long")
        page.wait_for_text("short")
        assert client.state_of(number)["state"] == "running"
        client.ask("POST", f"/api/runs/{number}/cancel", {})
        page.wait_for_text("cancelled")
        assert client.state_of(done)["state"] == "done"
        assert page.seen.messages == []
