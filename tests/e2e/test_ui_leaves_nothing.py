"""What the web page leaves behind and lets out: nothing."""

from __future__ import annotations

import contextlib
import signal
import stat
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.ui_cases import SECRET, TABLE
from support.ui_server import Client, Ui, serving, wait_until

pytestmark = pytest.mark.slow


@contextlib.contextmanager
def working(folder: Path, *options: object) -> Iterator[tuple[Ui, Client]]:
    """A server with a table, a finished run and one that goes on."""
    with serving(folder, *options) as ui:
        client = Client.inside(ui)
        assert client.upload(f"{SECRET}.csv", TABLE).status == 200
        assert client.desk("column", name="illness").status == 200
        yield ui, client


def test_the_end_of_a_session_leaves_no_file(tmp_path: Path) -> None:
    with working(tmp_path) as (ui, client):
        client.run(name=SECRET)
        answer = client.ask("POST", "/api/end", {})
        assert answer.status == 200
        assert ui.files() == [".lock"]
        assert ui.processes() == {}
        fresh = client.ask("GET", "/api/state").json
        assert fresh["table"] is None
        assert client.upload("people.csv", TABLE).status == 200, "the next session works"


@pytest.mark.parametrize("how", ["SIGTERM", "SIGINT", "SIGHUP"])
def test_the_end_of_the_server_leaves_no_file_but_those_of_others(tmp_path: Path, how: str) -> None:
    kept = tmp_path / "workspace" / "thesis.txt"
    kept.parent.mkdir()
    kept.write_text("not yours", encoding="utf-8")
    with working(tmp_path) as (ui, client):
        client.run()
        assert ui.stop(getattr(signal, how)) == 0
        assert ui.files() == ["thesis.txt"]
        wait_until(lambda: ui.processes() == {}, "the end of its processes")


def test_a_folder_that_was_there_before_stays(tmp_path: Path) -> None:
    (tmp_path / "workspace").mkdir()
    with working(tmp_path) as (ui, _):
        assert ui.stop() == 0
        assert ui.workspace.is_dir()
        assert ui.files() == []


def test_two_quick_interrupts_leave_no_file_either(tmp_path: Path) -> None:
    with working(tmp_path) as (ui, client):
        busy = client.half_upload("x.csv", b"1", told=99)
        ui.process.send_signal(signal.SIGINT)
        time.sleep(0.3)
        ui.stop(signal.SIGINT)
        busy.close()
        assert not ui.workspace.exists()


def test_an_unused_session_is_ended(tmp_path: Path) -> None:
    with working(tmp_path, "--idle", 0.02) as (ui, _):
        wait_until(lambda: ui.files() == [".lock"], "the end of the unused session", seconds=20)
        assert ui.processes() == {}


def test_a_second_server_cannot_work_in_the_same_folder_and_harms_nothing(tmp_path: Path) -> None:
    with working(tmp_path) as (ui, client):
        (tmp_path / "second").mkdir()
        (tmp_path / "second" / "workspace").symlink_to(ui.workspace)
        with pytest.raises(AssertionError, match="--workspace"), serving(tmp_path / "second"):
            pass
        assert client.desk("rows").json["records"] == 4


def test_data_and_token_are_told_to_nobody(tmp_path: Path) -> None:
    with working(tmp_path) as (ui, client):
        client.desk("column", name=SECRET)
        client.ask("PUT", "/api/policy", {"yaml": f"{SECRET}: ["})
        client.desk("rows", offset=SECRET)
        client.ask("GET", f"/{SECRET}")
        with client.raw() as odd:
            odd.sendall(f"{SECRET}\r\n\r\n".encode())
            odd.recv(1000)
        number = client.run(name=SECRET)
        lines = [*ui.processes().values(), Path(f"/proc/{ui.process.pid}/cmdline").read_text(encoding="utf-8")]
        client.finished(number)
        everything = "\n".join([ui.said.replace(ui.shown, ""), *lines])
        assert SECRET not in everything
        assert ui.token not in everything
        assert len(ui.said.splitlines()) == 2, ui.said
        for path in [ui.workspace, *ui.workspace.rglob("*")]:
            assert not stat.S_IMODE(path.stat().st_mode) & 0o077, path
