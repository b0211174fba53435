"""How the page is told to be served."""

from __future__ import annotations

from pathlib import Path

import pytest

from shoal.errors import InputError
from shoal.ui.server.settings import Settings, read_secret, read_size
from support.ui_desk import refused


@pytest.mark.parametrize(
    ("text", "size"), [("5", 5), ("2 kB", 2000), ("1.5MB", 1_500_000), ("2GB", 2 * 1000**3), ("1 GiB", 1024**3)]
)
def test_a_size_has_a_number_and_a_unit(text: str, size: int) -> None:
    assert read_size(text) == size


@pytest.mark.parametrize("text", ["", "GB", "5 apples", "-1MB", "1,5MB"])
def test_what_is_no_size_is_refused(text: str) -> None:
    with refused("not-a-size"):
        read_size(text)


def test_a_secret_is_the_first_line_of_a_file_that_others_may_not_read(tmp_path: Path) -> None:
    file = tmp_path / "secret"
    file.write_text("a long enough secret \nanother line\n")
    file.chmod(0o600)
    assert read_secret(file, "password") == "a long enough secret"


@pytest.mark.parametrize(
    ("content", "mode", "code"), [("hunter2\n", 0o600, "secret-too-short"), ("x" * 20, 0o644, "secret-not-private")]
)
def test_a_short_or_open_secret_is_refused(tmp_path: Path, content: str, mode: int, code: str) -> None:
    file = tmp_path / "secret"
    file.write_text(content)
    file.chmod(mode)
    with pytest.raises(InputError) as raised:
        read_secret(file, "password")
    assert raised.value.code == code
    assert content.strip() not in str(raised.value)


def test_a_laptop_has_one_session_and_a_server_one_a_browser(tmp_path: Path) -> None:
    assert not Settings(tmp_path).shared
    assert not Settings(tmp_path, host="::1").shared
    assert Settings(tmp_path, host="0.0.0.0").shared
    assert Settings(tmp_path, password="behind a proxy").shared
    assert Settings(tmp_path, names=("shoal.example.org",)).shared


def test_only_own_names_are_answered(tmp_path: Path) -> None:
    settings = Settings(tmp_path, port=80, names=("shoal.example.org",))
    assert {"127.0.0.1:80", "localhost:80", "shoal.example.org"} <= settings.hosts
    assert "0.0.0.0:80" not in Settings(tmp_path, host="0.0.0.0", port=80).hosts
    assert settings.origins("127.0.0.1:80") == {"http://127.0.0.1:80"}
    assert "https://shoal.example.org" in settings.origins("shoal.example.org")


def test_a_token_is_made_anew_and_shows_in_no_message(tmp_path: Path) -> None:
    first, second = Settings(tmp_path), Settings(tmp_path)
    assert first.token != second.token
    assert len(first.token) >= 40
    assert first.token not in repr(first)
