"""The web page against who should not come in: every refusal tried on a real server."""

from __future__ import annotations

import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from support.ui_cases import CHANGING, OPEN_PATHS, ROUTES, SECRET, TABLE
from support.ui_server import Client, Ui, serving, wait_until

pytestmark = pytest.mark.slow

PASSWORD = "correct horse battery"


@pytest.fixture(scope="module")
def ui(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ui]:
    with serving(tmp_path_factory.mktemp("ui"), "--max-upload", "200KB", "--max-rows", 1000) as started:
        yield started


@pytest.fixture(scope="module")
def client(ui: Ui) -> Client:
    return Client.inside(ui)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ui]:
    """A server for several people, at another of this machine's addresses."""
    folder = tmp_path_factory.mktemp("server")
    secret = folder / "password"
    secret.write_text(PASSWORD + "\n", encoding="utf-8")
    secret.chmod(0o600)
    with serving(folder, "--host", "127.0.0.2", "--password-file", secret) as started:
        yield started


def logged_in(server: Ui) -> Client:
    client = Client(server)
    client.enter(client.ask("POST", "/login", b"password=" + PASSWORD.replace(" ", "+").encode()))
    return client


def test_the_routes_are_all_known() -> None:
    assert len(ROUTES) >= 15
    assert ("PUT", "/api/table") in CHANGING


@pytest.mark.parametrize("cookie", ["", "shoal-0=x", "shoal-{port}=wrong", "shoal-{port}=", "shoal-{port}=laptop"])
def test_without_the_token_every_route_refuses(ui: Ui, cookie: str) -> None:
    stranger = Client(ui, cookie.format(port=ui.host.rpartition(":")[2]))
    for method, path in ROUTES:
        answer = stranger.ask(method, path, b"{}" if method not in {"GET", "HEAD"} else None)
        assert answer.status == 403, (method, path, answer)
        assert b"Shoal</title>" not in answer.body


@pytest.mark.parametrize("token", ["", "x", "é", "\x00", "a" * 5000])
def test_a_wrong_token_opens_nothing(ui: Ui, token: str) -> None:
    answer = Client(ui).ask("GET", f"/?token={quote(token)}")
    assert answer.status in {403, 429}
    assert "set-cookie" not in answer.headers


def test_the_token_of_an_earlier_start_opens_nothing(ui: Ui, tmp_path: Path) -> None:
    with serving(tmp_path) as other:
        assert Client(other).ask("GET", f"/?token={ui.token}").status == 403
        assert Client(other).ask("GET", f"/?token={other.token}").status == 303


def test_the_token_leaves_the_address_and_scripts_cannot_read_the_cookie(ui: Ui) -> None:
    answer = Client(ui).ask("GET", f"/?token={ui.token}")
    assert (answer.status, answer.headers["location"]) == (303, "/")
    flags = {part.strip().lower() for part in answer.headers["set-cookie"].split(";")[1:]}
    assert {"httponly", "samesite=strict", "path=/"} <= flags


def test_what_the_opened_browser_is_given_opens_once(tmp_path: Path) -> None:
    """Others on the machine may see the command line of a browser, and with it the address."""
    given, program = tmp_path / "given", tmp_path / "browser"
    program.write_text(f'#!/bin/sh\nprintf "%s" "$1" > {given}.part && mv {given}.part {given}\n', encoding="utf-8")
    program.chmod(0o700)
    with serving(tmp_path / "ui", "--browser", BROWSER=f"{program} %s") as ui:
        wait_until(given.exists, "the browser")
        token = given.read_text(encoding="utf-8").partition("token=")[2]
        assert token
        assert token != ui.token
        inside = Client.inside(ui, token)
        assert inside.ask("GET", "/api/state").status == 200
        assert Client(ui).ask("GET", f"/?token={token}").status == 403
        assert Client.inside(ui).ask("GET", "/api/state").status == 200, "the printed address goes on opening"


@pytest.mark.parametrize(
    "host", [None, "", "evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1", "localhost.evil:{port}"]
)
def test_another_name_for_this_machine_is_refused_everywhere(ui: Ui, client: Client, host: str | None) -> None:
    """DNS rebinding: a page of another site lets its own name point here."""
    named = host and host.format(port=ui.host.rpartition(":")[2])
    for method, path in [*ROUTES, ("GET", f"/?token={ui.token}")]:
        answer = client.ask(method, path, b"{}" if method not in {"GET", "HEAD"} else None, Host=named)
        assert answer.status in {400, 403}, (method, path, answer)
        assert "set-cookie" not in answer.headers


@pytest.mark.parametrize(
    "origin", [None, "null", "http://evil.example", "https://{host}", "http://{host}.evil", "http://127.0.0.1"]
)
def test_whatever_changes_something_must_come_from_the_page(ui: Ui, client: Client, origin: str | None) -> None:
    for method, path in CHANGING:
        answer = client.ask(method, path, b"{}", Origin=origin and origin.format(host=ui.host))
        assert answer.status == 403, (method, path, answer)


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_another_site_gets_no_answer(client: Client, site: str) -> None:
    for method, path in ROUTES:
        if path not in OPEN_PATHS or method not in {"GET", "HEAD"}:
            answer = client.ask(method, path, b"" if method in {"GET", "HEAD"} else b"{}", Sec_Fetch_Site=site)
            assert answer.status == 403, (method, path, answer)


def test_answers_stay_out_of_caches_frames_and_other_sites(ui: Ui, client: Client) -> None:
    for who, path in (
        (client, "/"),
        (client, "/api/state"),
        (Client(ui), "/"),
        (client, "/static/app.js"),
        (client, "/nothing"),
    ):
        headers = who.ask("GET", path).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"
        assert headers["cross-origin-resource-policy"] == "same-origin"
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["cache-control"] in {"no-store", "no-cache"}
        assert "access-control-allow-origin" not in headers
        assert "server" not in headers


def test_other_protocols_and_methods_are_refused(client: Client) -> None:
    upgrade = client.ask("GET", "/api/state", Connection="Upgrade", Upgrade="websocket", Sec_WebSocket_Version="13")
    assert upgrade.status in {200, 400, 403, 426}
    for method in ("OPTIONS", "TRACE", "PATCH", "CONNECT", "DELETE"):
        assert client.ask(method, "/api/state").status in {400, 403, 404, 405}


def test_two_people_see_nothing_of_each_other(server: Ui) -> None:
    one, two = logged_in(server), logged_in(server)
    assert one.cookie != two.cookie
    assert one.upload("people.csv", TABLE).status == 200
    policy = {
        "data": {"path": "people.csv"},
        "columns": {"city": {"role": "quasi", "hierarchy": {"flat": True}}, "illness": {"role": "insensitive"}},
        "privacy": [{"model": "k-anonymity", "k": 2}],
    }
    one.ask("PUT", "/api/policy", {"policy": policy})
    number = one.run(name=SECRET)
    assert one.finished(number)["state"] == "done"
    seen = two.ask("GET", "/api/state")
    assert seen.json["table"] is None
    assert seen.json["runs"] == []
    assert SECRET not in seen.body.decode()
    for method, path in ROUTES:
        if "runs/" in path or "desk" in path:
            answer = two.ask(method, path.replace("001", number), None if method in {"GET", "HEAD"} else b"{}")
            assert answer.status == 400, (method, path, answer)
            assert SECRET.encode() not in answer.body
    assert one.state_of(number)["state"] == "done"
    assert SECRET in one.ask("GET", f"/api/runs/{number}/files/csv/release").body.decode()
    other = next(each.name for each in server.workspace.iterdir() if each.name.startswith("session-"))
    for guess in ("laptop", other, other.removeprefix("session-"), "../" + other, ""):
        assert Client(server, f"{one.cookie.partition('=')[0]}={guess}").ask("GET", "/api/state").status == 403
    assert one.ask("POST", "/api/end", {}).status == 200
    assert one.ask("GET", "/api/state").status == 403
    assert two.ask("GET", "/api/state").status == 200
    assert len(list(server.workspace.glob("session-*"))) == 1
    two.ask("POST", "/api/end", {})


def test_two_people_behind_a_proxy_have_sessions_of_their_own(tmp_path: Path) -> None:
    secret = tmp_path / "password"
    secret.write_text(PASSWORD + "\n", encoding="utf-8")
    secret.chmod(0o600)
    with serving(tmp_path / "ui", "--password-file", secret) as ui:
        one, two = logged_in(ui), logged_in(ui)
        assert one.upload("people.csv", TABLE).status == 200
        assert one.ask("GET", "/api/state").json["table"] is not None
        assert two.ask("GET", "/api/state").json["table"] is None
        assert two.desk("rows").status == 400


def test_the_password_page_lets_in_who_knows_it_and_nobody_else(server: Ui) -> None:
    stranger = Client(server)
    assert stranger.ask("GET", "/").headers["location"] == "/login"
    assert stranger.ask("GET", "/api/state").status == 403
    assert server.token == ""
    assert PASSWORD not in server.said
    for wrong in (b"", b"password=", b"password=x", b"password=" + PASSWORD.encode()[:-1], b"\xff\x00", b"x" * 4000):
        answer = stranger.ask("POST", "/login", wrong)
        assert answer.status == 403
        assert "set-cookie" not in answer.headers
    assert stranger.ask("POST", "/login", b"password=" + b"x" * 5000).status == 413
    assert stranger.ask("POST", "/login", b"password=" + PASSWORD.encode(), Origin="http://evil.example").status == 403
    inside = logged_in(server)
    assert inside.ask("GET", "/api/state").status == 200
    assert inside.ask("GET", "/login").headers["location"] == "/"
    answers = [stranger.ask("POST", "/login", b"password=x").status for _ in range(8)]
    assert answers[0] == 403
    assert answers[-1] == 429, "ten wrong tries in a minute are enough"
    assert stranger.ask("POST", "/login", b"password=" + PASSWORD.encode()).status == 429
    elsewhere = Client(server, source="127.0.0.3")
    assert elsewhere.ask("POST", "/login", b"password=" + PASSWORD.replace(" ", "+").encode()).status == 303
    assert inside.ask("GET", "/api/state").status == 200, "who is inside goes on"
    inside.ask("POST", "/api/end", {})


def test_a_server_for_others_needs_a_secret_that_others_cannot_read(tmp_path: Path) -> None:
    open_file, short = tmp_path / "open", tmp_path / "short"
    open_file.write_text("a long enough secret\n", encoding="utf-8")
    open_file.chmod(0o644)
    short.write_text("short\n", encoding="utf-8")
    short.chmod(0o600)
    for options, word in (
        ([], "--password-file"),
        (["--host", "127.0.0.1", "--name", "shoal.example.org"], "--name shoal.example.org lets other machines in"),
        (["--token-file", open_file], "chmod 600"),
        (["--password-file", short], "12 or more"),
    ):
        with (
            pytest.raises(AssertionError, match=word),
            serving(tmp_path / word.split()[-1].strip("-"), "--host", "127.0.0.2", *options),
        ):
            pass


def test_with_a_certificate_the_page_speaks_tls_and_its_cookie_only_that(tmp_path: Path) -> None:
    program = shutil.which("openssl")
    if program is None:
        pytest.skip("no openssl to make a certificate with")
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    command = [program, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost", "-days", "2"]
    subprocess.run([*command, "-keyout", str(key), "-out", str(certificate)], check=True, capture_output=True)
    with serving(tmp_path / "ui", "--certificate", certificate, "--key", key) as ui:
        assert ui.shown.startswith("https://")
        answer = Client(ui).ask("GET", f"/?token={ui.token}")
        assert "secure" in answer.headers["set-cookie"].lower()
        client = Client.inside(ui)
        assert client.ask("GET", "/api/state").status == 200
        assert client.upload("people.csv", TABLE).status == 200
        assert client.upload("people.csv", TABLE, Origin=f"http://{ui.host}").status == 403


def test_half_requests_do_not_keep_others_waiting(ui: Ui, client: Client) -> None:
    client.upload("people.csv", TABLE)
    heads = [
        b"",
        b"GET / HTTP/1.1\r\nHost: x\r\nX-",
        f"PUT /api/table?name=s.csv HTTP/1.1\r\nHost: {ui.host}\r\n".encode(),
    ]
    held: list[socket.socket] = []
    try:
        for each in range(150):
            held.append(client.raw())
            held[-1].sendall(heads[each % 3])
        begun = time.monotonic()
        assert client.ask("GET", "/api/state").status == 200
        assert client.desk("rows").json["records"] == 4
        assert time.monotonic() - begun < 30, "seconds with an idle server; a blocked one never answers"
    finally:
        for each in held:
            each.close()
