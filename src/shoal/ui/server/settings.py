"""How the page is served: to whom, and within which limits."""

import secrets
from dataclasses import dataclass, field
from pathlib import Path

from shoal.errors import InputError
from shoal.formatting import parse_data_size

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


@dataclass(frozen=True)
class Settings:
    """The options of `shoal ui`."""

    workspace: Path  # folder in which sessions have theirs; only its owner may read it
    host: str = "127.0.0.1"
    port: int = 8470
    names: tuple[str, ...] = ()  # further names under which a browser may ask for the page, such as that of a proxy
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)
    """Who brings it may enter. Made anew at each start unless a file gives it."""
    opening: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)
    """Lets in once, soon after the start: a browser gets it on its command line, which others may see."""
    password: str | None = field(default=None, repr=False)  # who knows it may enter on a server; asked for on a page
    max_upload: int = 2 * 1000**3  # bytes of an uploaded file, at most
    max_rows: int = 5_000_000  # records of an uploaded table, at most
    idle_minutes: float = 240.0  # A session that nobody used for so long is ended and its files are deleted
    max_sessions: int = 20  # sessions at once, at most; on a laptop there is one
    certificate: Path | None = None
    key: Path | None = None  # with both the page is served over TLS

    @property
    def shared(self) -> bool:
        """Whether several people may use it: then each browser has a session of its own.

        Also where it listens to this machine alone: who sets a password or another name has a proxy in front of it.
        """
        return self.reached_from_elsewhere or self.password is not None or bool(self.names)

    @property
    def reached_from_elsewhere(self) -> bool:
        """Whether other machines can connect."""
        return self.host not in LOOPBACK and self.host != "::1"

    @property
    def hosts(self) -> frozenset[str]:
        """The values of the Host header that are answered; anything else is another site's trick."""
        own = () if self.host in {"0.0.0.0", "::"} else (_in_address(self.host),)  # noqa: S104 - only compared
        names = (*LOOPBACK, *own, *self.names)
        usual = self.port == (443 if self.scheme == "https" else 80)  # browsers leave it out then
        return frozenset({*(f"{name}:{self.port}" for name in names), *(names if usual else self.names)})

    def origins(self, host: str) -> frozenset[str]:
        """What a browser names as origin when it stands on this page; a proxy of ours may speak TLS for us."""
        return frozenset({f"{self.scheme}://{host}", *([f"https://{host}"] if host in self.names else [])})

    def address(self, token: str) -> str:
        """Where the page is, with a token that opens it."""
        host = "127.0.0.1" if self.host in {"0.0.0.0", "::"} else self.host  # noqa: S104 - only compared
        return f"{self.scheme}://{_in_address(host)}:{self.port}/?token={token}"

    @property
    def scheme(self) -> str:
        """How a browser asks: https with a certificate, else http."""
        return "https" if self.certificate is not None else "http"

    @property
    def cookie(self) -> str:
        """Cookies do not tell ports apart, so their name does."""
        return f"shoal-{self.port}"


def _in_address(host: str) -> str:
    """A host as addresses and the Host header write it."""
    return f"[{host}]" if ":" in host else host


def read_size(text: str) -> int:
    """Bytes from a size such as ``500MB`` or ``2 GiB``."""
    try:
        return parse_data_size(text)
    except ValueError as error:
        raise InputError(str(error), code="not-a-size") from None


def read_secret(path: Path, what: str) -> str:
    """A password or token from the first line of a file that others may not read."""
    try:
        mode = path.stat().st_mode & 0o077
        with path.open(encoding="utf-8") as file:
            secret = file.readline().strip()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"The {what} file {path} cannot be read: {error}.", code="secret-unreadable") from None
    if mode:
        message = f"Other users can read the {what} file {path}. Change that first: chmod 600 {path}"
        raise InputError(message, code="secret-not-private")
    if len(secret) < 12:
        message = f"The {what} in {path} has {len(secret)} characters; use 12 or more, on the first line."
        raise InputError(message, code="secret-too-short")
    return secret
