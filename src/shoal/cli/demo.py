"""`shoal demo`: the main job on bundled hospital data."""

from importlib import resources
from pathlib import Path
from typing import Annotated

from shoal.cli.options import Json, option
from shoal.cli.run import echo_result
from shoal.errors import OutputError
from shoal.formatting import listing, pluralize

_FILES = ("hospital.csv", "hospital.yaml")


def demo(
    out: Annotated[Path, option("Folder for the files of the demo.")] = Path("shoal-demo"),
    force: Annotated[bool, option("Replace files of the demo that were edited.", "--force")] = False,
    as_json: Json = False,
) -> None:
    """Anonymize bundled hospital data and show the result."""
    from shoal.pipeline import publish
    from shoal.policy import Policy
    from shoal.present.terminal import decision_lines, release_lines, sample_lines

    _copy_files(out, force=force)
    published = publish(Policy.load(out / "hospital.yaml"), force=True)
    release = published.release
    records = pluralize(release.evidence["records"], "hospital record")
    head = f"{records} from {out / 'hospital.csv'}, anonymized with {out / 'hospital.yaml'}."
    found = [*decision_lines(release.facts.verdict), *release_lines(release.evidence)]
    lines = [head, "", *sample_lines(release.table), "", *found]
    echo_result(release.evidence, lines, as_json=as_json, paths=published.paths)


def _copy_files(out: Path, *, force: bool) -> None:
    """Put the demo's data and policy into a folder; files that were edited are not replaced unless forced."""
    from shoal.io.staging import writing

    bundled = {out / name: (resources.files("shoal.data") / name).read_bytes() for name in _FILES}
    with writing(out):
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
