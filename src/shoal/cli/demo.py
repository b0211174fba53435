"""`shoal demo`: the main job on bundled hospital data."""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import Annotated

import typer

from shoal.cli.options import Json
from shoal.cli.run import echo_json, echo_lines, echo_paths
from shoal.errors import OutputError
from shoal.formatting import listing, pluralize

_FILES = ("hospital.csv", "hospital.yaml")


def demo(
    out: Annotated[Path, typer.Option(help="Folder for the files of the demo.")] = Path("shoal-demo"),
    force: Annotated[bool, typer.Option("--force", help="Replace files of the demo that were edited.")] = False,
    as_json: Json = False,
) -> None:
    """Anonymize bundled hospital data and show the result."""
    from shoal.pipeline import publish
    from shoal.policy import Policy
    from shoal.present.terminal import release_lines, sample_lines

    _copy_files(out, force=force)
    published = publish(Policy.load(out / "hospital.yaml"), force=True)
    release = published.release
    if as_json:
        echo_json(release.evidence, published.paths)
        return
    records = pluralize(release.evidence["records"], "hospital record")
    typer.echo(f"{records} from {out / 'hospital.csv'}, anonymized with {out / 'hospital.yaml'}.\n")
    echo_lines([*sample_lines(release.table), "", *release_lines(release.evidence)])
    echo_paths(published.paths)


def _copy_files(out: Path, *, force: bool) -> None:
    """Put the demo's data and policy into a folder; files that were edited are not replaced unless forced."""
    bundled = {out / name: (resources.files("shoal.data") / name).read_bytes() for name in _FILES}
    try:
        out.mkdir(parents=True, exist_ok=True)
        edited = [path for path, content in bundled.items() if path.exists() and path.read_bytes() != content]
        if edited and not force:
            raise OutputError(
                f"{listing(edited)} would be overwritten, although edited since the last demo. "
                "Choose another folder with --out, or replace the files with --force.",
                code="edited",
            )
        for path, content in bundled.items():
            path.write_bytes(content)
    except OSError as error:
        raise OutputError(f"{out} cannot be written: {error.strerror or error}.", code="not-writable") from None
