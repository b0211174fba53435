"""The web page against hostile names, files and messages, on a real server."""

from __future__ import annotations

import gzip
import io
import json
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import quote

import pytest

from support.ui_cases import TABLE
from support.ui_server import Client, Ui, serving, wait_until

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def ui(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ui]:
    with serving(tmp_path_factory.mktemp("ui"), "--max-upload", "200KB", "--max-rows", 1000) as started:
        yield started


@pytest.fixture(scope="module")
def client(ui: Ui) -> Client:
    return Client.inside(ui)


ODD = [
    "../../etc/passwd",
    "..%2f..%2fetc%2fpasswd",
    "%2e%2e/%2e%2e/etc/passwd",
    "..%252f..%252fetc%252fpasswd",
    "..\\..\\windows\\win.ini",
    "..%5c..%5cx",
    "%2fetc%2fpasswd",
    "C:%5cx",
    "app.js%00.css",
    "a" * 3000,
    "__init__.py",
    "%c0%ae%c0%ae/x",
    "001%2f..%2f001",
    "%00",
    ".",
    "..",
    "١٢٣",
    "-1",
    "0",
]


@pytest.mark.parametrize("name", ODD)
def test_no_name_in_an_address_leads_out(client: Client, name: str) -> None:
    name = quote(name, safe="%/\\")
    for method, path in (
        ("GET", f"/static/{name}"),
        ("GET", f"/api/runs/{name}/files/csv/release"),
        ("GET", f"/api/runs/001/files/{name}/release"),
        ("GET", f"/api/runs/001/files/csv/{name}"),
        ("GET", f"/api/runs/{name}/policy"),
        ("DELETE", f"/api/runs/{name}"),
        ("POST", f"/api/runs/{name}/cancel"),
        ("POST", f"/api/desk/{name}"),
    ):
        answer = client.ask(method, path, None if method == "GET" else b"{}")
        assert answer.status in {400, 404, 405, 307}, (method, path, answer)
        assert b"root:" not in answer.body
        assert b"Traceback" not in answer.body


NAMES = [
    "../../../evil.csv",
    "..\\..\\evil.csv",
    "/etc/evil.csv",
    "C:\\evil.csv",
    "evil.csv\x00.png",
    "CON.csv",
    "-rf.csv",
    ".hidden.csv",
    "a" * 5000 + ".csv",
    "Ω" * 300 + ".csv",
    "x." + "y" * 300,
    "…",
    "\u202egpj.csv",
    "a\nb.csv",
    "~/evil.csv",
    "<img src=x onerror=alert(1)>.csv",
    "a;b&c|d.csv",
    "  .csv",
]


@pytest.mark.parametrize("name", NAMES)
def test_an_uploaded_file_lies_alone_in_its_session_whatever_its_name(ui: Ui, client: Client, name: str) -> None:
    answer = client.upload(name, TABLE)
    assert answer.status in {200, 400}, answer
    session = next(ui.workspace.glob("session-*"))
    assert sorted(path.name for path in session.iterdir() if path.is_dir()) == ["data", "incoming", "runs"]
    assert list((session / "incoming").iterdir()) == []
    assert len(list((session / "data").iterdir())) <= 1
    assert not list(ui.workspace.parent.glob("**/*evil*.csv")) or [(session / "data")] == [
        each.parent for each in ui.workspace.parent.glob("**/*evil*.csv")
    ]
    if answer.status == 200:
        assert client.desk("rows").json["records"] == 4


@pytest.mark.parametrize(
    "path", ["/etc/passwd", "../../other", "C:\\x", "~/x", "file:///etc/passwd", "a/../../b", "\\\\host\\share"]
)
def test_a_policy_reads_no_file_of_the_server(client: Client, path: str) -> None:
    client.upload("people.csv", TABLE)
    before = client.ask("GET", "/api/state").json["yaml"]
    for hierarchy in ({"levels": {"path": path}}, {"levels": path}, {"tree": path}):
        policy = {"columns": {"city": {"role": "quasi", "hierarchy": hierarchy}}, "privacy": []}
        assert client.ask("PUT", "/api/policy", {"policy": policy}).status == 400
        assert client.desk("hierarchy", column="city", hierarchy=hierarchy, spec=hierarchy).status == 400
    assert client.ask("PUT", "/api/policy", {"policy": {"registry": path}}).status == 400
    assert client.ask("PUT", "/api/policy", {"yaml": f"registry: '{path}'"}).status == 400
    assert client.ask("GET", "/api/state").json["yaml"] == before


def test_an_upload_that_is_too_large_is_refused_however_it_comes(ui: Ui, client: Client) -> None:
    client.upload("people.csv", TABLE)
    large = b"a,b\n" + b"1,2\n" * 100_000
    told = client.upload("large.csv", large)
    assert told.status == 413
    assert "200,000 bytes" in told.message
    chunks = client.ask("PUT", "/api/table?name=large.csv", iter([large[:150_000], large[150_000:]]), chunked=True)
    assert chunks.status == 413
    session = next(ui.workspace.glob("session-*"))
    assert [path.name for path in (session / "data").iterdir()] == ["people.csv"]
    assert list((session / "incoming").iterdir()) == []
    assert client.desk("rows").json["records"] == 4


def test_a_request_that_lies_about_its_length_leaves_nothing(ui: Ui, client: Client) -> None:
    client.upload("people.csv", TABLE)
    session = next(ui.workspace.glob("session-*"))
    connection = client.half_upload("half.csv", TABLE, told=150_000)
    wait_until((session / "incoming" / "half.csv").exists, "the upload")
    again = client.upload("half.csv", TABLE)
    assert again.status == 400
    assert again.json["error"]["code"] == "upload-in-progress"
    connection.close()
    wait_until(lambda: not list((session / "incoming").iterdir()), "the end of the broken upload")
    shorter = client.ask("PUT", "/api/table?name=short.csv", TABLE, Content_Length="20")
    assert shorter.status in {200, 400}
    assert client.ask("GET", "/api/state").status == 200


def test_several_uploads_at_once_do_not_mix(client: Client) -> None:
    tables = {f"t{n}.csv": b"a,b\n" + f"{n},{n}\n".encode() * (n + 1) for n in range(8)}
    with ThreadPoolExecutor(8) as pool:
        answers = dict(zip(tables, pool.map(lambda each: client.upload(*each), tables.items()), strict=True))
    assert {each.status for each in answers.values()} == {200}
    state = client.ask("GET", "/api/state").json["table"]
    assert answers[state["name"]].json["table"] == state
    assert client.desk("rows").json["records"] == state["records"]


def malformed() -> dict[str, bytes]:
    """Files that are not what they say."""
    noise = bytes((each * 167 + each // 251 * 13) % 256 for each in range(20_000))
    bomb = io.BytesIO()
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("xl/workbook.xml", b"<x>" + b"0" * 100_000_000)
        file.writestr("[Content_Types].xml", b"0" * 1_000)
    kinds = (
        "csv",
        "tsv",
        "parquet",
        "xlsx",
        "xls",
        "ods",
        "sav",
        "zsav",
        "por",
        "sas7bdat",
        "xpt",
        "dta",
        "csv.gz",
        "exe",
        "",
    )
    return {
        **{f"noise.{kind}".rstrip("."): noise for kind in kinds},
        **{f"text.{kind}": TABLE for kind in ("parquet", "xlsx", "sav", "dta", "csv.gz")},
        "bomb.xlsx": bomb.getvalue(),
        "bomb.csv.gz": gzip.compress(b"a,b\n" + b"1,2\n" * 2_000_000),
        "zero.parquet": b"PAR1" + b"\0" * 100 + b"PAR1",
        "nothing.csv": b"",
        "spaces.csv": b"  \n\n \n",
        "header.csv": b"a,b,c\n",
        "twice.csv": b"a,a\n1,2\n",
        "many.csv": b"a,b\n" + b"1,2\n" * 1_500,
        "ragged.csv": b"a,b\n1,2\n3\n4,5,6\n",
    }


MALFORMED = malformed()


@pytest.mark.parametrize("name", list(MALFORMED))
def test_a_file_that_cannot_be_read_is_refused_in_words_and_changes_nothing(client: Client, name: str) -> None:
    client.upload("people.csv", TABLE)
    before = client.ask("GET", "/api/state").json
    answer = client.upload(name, MALFORMED[name])
    assert answer.status == 400, answer
    assert answer.json["error"]["error"] != "Fault", answer.message
    assert "memory" not in answer.message
    assert client.ask("GET", "/api/state").json == before
    assert client.desk("rows").json["records"] == 4


ODD_TABLES = {
    "nul.csv": b"a,b\n1,x\x00y\n2,z\n",
    "single.csv": b"a\n1\n2\n3\n",
    "latin.csv": b"name,x\nJ\xf6rg,1\nM\xfcller,2\n",
    "broken-utf8.csv": b"name,x\nJ\xff\xfe\xc3\x28,1\nb,2\n",
    "numbers.csv": b"a,b\ninf,1e400\n-inf,-1e400\nnan,1e-400\n1,99999999999999999999999999\n",
    "quotes.csv": b'a,b\n"x\ny","1"\n"""z""",2\n',
    "bom.csv": b"\xef\xbb\xbfa,b\n1,2\n",
    "crlf.csv": b"a,b\r\n1,2\r\n",
    "long.csv": b"a,b\n" + b"x" * 100_000 + b",1\n",
    "wide.csv": ",".join(f"c{n}" for n in range(400)).encode() + b"\n" + b",".join([b"1"] * 400) + b"\n",
}


@pytest.mark.parametrize("name", list(ODD_TABLES))
def test_an_odd_table_is_opened_or_refused_and_every_question_answered(client: Client, name: str) -> None:
    client.upload("people.csv", TABLE)
    answer = client.upload(name, ODD_TABLES[name])
    assert answer.status in {200, 400}, answer
    if answer.status == 400:
        assert answer.json["error"]["error"] != "Fault", answer.message
    assert client.ask("GET", "/api/state").status == 200
    rows = client.desk("rows").json
    assert rows["records"] > 0
    for column in rows["columns"][:20]:
        described = client.desk("column", name=column)
        assert described.status == 200, (column, described)


def test_a_formula_stays_the_text_it_is(client: Client) -> None:
    formula = "=cmd|' /C calc'!A0"
    rows = [f'{30 + n},"{formula if n % 2 else "@SUM(1)"}",Flu' for n in range(8)]
    client.upload("formulas.csv", "\n".join(["age,note,illness", *rows]).encode())
    policy = {
        "data": {"path": "formulas.csv"},
        "columns": {"age": {"role": "quasi", "hierarchy": {"flat": True}}, "note": {"role": "insensitive"}},
        "privacy": [{"model": "k-anonymity", "k": 2}],
    }
    assert client.saved_problems(policy) == []
    number = client.run()
    assert client.finished(number)["state"] == "done"
    release = client.ask("GET", f"/api/runs/{number}/files/csv/release")
    assert release.body.decode().count(formula) == 4
    assert release.headers["content-type"] == "application/octet-stream"
    assert release.headers["content-disposition"].startswith("attachment")
    look = client.ask("GET", f"/api/runs/{number}/files/csv/report?look")
    assert look.headers["content-security-policy"].startswith("sandbox;")


MESSAGES: list[bytes] = [
    b"",
    b"null",
    b"[]",
    b"3",
    b'"x"',
    b"{",
    b"\xff",
    b"{" * 5000,
    b"[" * 200_000,
    b'{"policy": null}',
    b'{"policy": []}',
    b'{"policy": 5}',
    b'{"policy": {"a": NaN}}',
    b'{"policy": {"a": 1e999}}',
    b'{"policy": {"\\ud800": 1}}',
    b'{"yaml": "\\ud800"}',
    b'{"yaml": 5}',
    b'{"yaml": "a: [1"}',
    b'{"yaml": "a: 2020-01-01\\nb: .nan"}',
    b'{"yaml": "- a"}',
    b'{"yaml": "!!python/object/apply:os.system [ls]"}',
    b'{"yaml": ""}',
    b'{"policy": {"columns": 5}}',
    b'{"policy": {"columns": {"a": null}, "privacy": [null, 1, {}]}}',
    b'{"policy": {"a": ' + b"[" * 900 + b"]" * 900 + b"}}",
]
LAUGHS = "a0: &a0 [x]\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 30))


@pytest.mark.parametrize("message", [*MESSAGES, json.dumps({"yaml": LAUGHS}).encode()], ids=lambda each: each[:30])
def test_a_message_that_is_no_policy_breaks_nothing(client: Client, message: bytes) -> None:
    client.upload("people.csv", TABLE)
    answer = client.ask("PUT", "/api/policy", message)
    assert answer.status in {200, 400}, answer
    assert client.ask("GET", "/api/state").status == 200
    assert client.desk("rows").json["records"] == 4
    for question in ("column", "check", "rows"):
        assert client.ask("POST", f"/api/desk/{question}", message).status in {200, 400}
