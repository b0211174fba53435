"""The points of a grid: every algorithm with every combination of values, each a complete policy of its own."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from shoal.errors import InputError, PolicyError, did_you_mean
from shoal.io import DatabaseTable, Place
from shoal.metrics import METRICS
from shoal.pipeline.compare.axes import MOST, GridAxis, Number
from shoal.pipeline.recoding_file import relative_path
from shoal.policy import Policy
from shoal.policy.yaml_text import dump_yaml
from shoal.search import ALGORITHMS, shared_options


@dataclass(frozen=True)
class GridPoint:
    """One policy of the grid."""

    name: str
    algorithm: str
    parameters: Mapping[str, Number]
    text: str  # the policy as YAML; paths in it are relative to the folder of the points
    output: str  # the name of its release, in the folder of the points
    contradiction: str | None  # why no data could satisfy the policy (p larger than k), or None

    @property
    def policy_sha256(self) -> str:
        """The hash of its policy file."""
        return hashlib.sha256(self.text.encode()).hexdigest()


def read_algorithms(names: str | Sequence[str], policy: Policy) -> tuple[str, ...]:
    """The algorithms, each once. Raises `InputError` for one that is unknown or lacks options that it needs."""
    given = names.split(",") if isinstance(names, str) else list(names)
    algorithms = tuple(dict.fromkeys(name.strip() for name in given if name.strip()))
    if not algorithms:
        raise InputError(f"no algorithm is named. {did_you_mean('', ALGORITHMS)}", code="no-algorithm")
    for name in algorithms:
        if name not in ALGORITHMS:
            raise InputError(f"unknown algorithm {name!r}. {did_you_mean(name, ALGORITHMS)}", code="unknown-algorithm")
        lacking = sorted(each for each in ALGORITHMS[name].needs if not getattr(policy.algorithm, each))
        if lacking:
            raise InputError(
                f"{name} needs {' and '.join(lacking)}, which the policy does not give. "
                f"Set algorithm: {{name: {name}, …}} in the policy, or leave {name} out.",
                code="missing-option",
            )
    return algorithms


def read_metric(name: str | None, policy: Policy) -> str:
    """The measure that is compared and minimized; the policy's own when none is named."""
    chosen = policy.algorithm.metric if name is None else name
    if chosen not in METRICS:
        raise InputError(f"unknown measure {chosen!r}. {did_you_mean(chosen, METRICS)}", code="unknown-measure")
    return chosen


def points_of(
    policy: Policy,
    algorithms: Sequence[str],
    axes: Sequence[GridAxis],
    *,
    metric: str,
    folder: Path,
    data: Place | None,
) -> tuple[GridPoint, ...]:
    """Every point, algorithm by algorithm. Raises `InputError` for too many, `PolicyError` where none can be."""
    size = math.prod([len(algorithms), *(len(axis.values) for axis in axes)])
    if size > MOST:
        message = f"the grid has {size:,} points, and at most {MOST:,} are allowed. Use larger steps."
        raise InputError(message, code="too-many-points")
    found = [
        _point(_content(policy, algorithm, metric, folder, data), algorithm, list(zip(axes, values, strict=True)))
        for algorithm in algorithms
        for values in product(*(axis.values for axis in axes))
    ]
    errors = [error for _, error in found if error is not None]
    if errors and len(errors) == len(found):
        raise errors[0]
    return tuple(point for point, _ in found)


def _point(
    content: dict[str, Any], algorithm: str, at: Sequence[tuple[GridAxis, Number]]
) -> tuple[GridPoint, PolicyError | None]:
    """One point, and what is wrong with its policy if something is."""
    for axis, value in at:
        axis.set_in(content, value)
    name = "-".join([algorithm, *(axis.label(value) for axis, value in at)])
    content["output"] = f"{name}{Path(content.get('output') or '').suffix or '.csv'}"
    found = None
    try:
        Policy.model_validate(content)
    except PolicyError as error:
        found = error
    wrong = None if found is None else "; ".join(str(problem) for problem in found.problems)
    parameters = {axis.name: value for axis, value in at}
    head = f"# The point {name} of a comparison: shoal anonymize with this file makes its release.\n"
    return GridPoint(name, algorithm, parameters, head + dump_yaml(content), content["output"], wrong), found


def _content(policy: Policy, algorithm: str, metric: str, folder: Path, data: Place | None) -> dict[str, Any]:
    """The policy with another algorithm, and paths that are right in the folder of the points."""
    content = policy.to_dict()
    for key in ("registry", "recoding"):  # the releases of a comparison are not published
        content.pop(key, None)
    content["algorithm"] = _options(policy, algorithm, metric)
    if data is not None:
        where = data.text if isinstance(data, DatabaseTable) else _rebased(data, folder)
        content["data"] = {**(content.get("data") or {}), "path": where}
    for column in content["columns"].values():
        declared = column.get("hierarchy") or {}
        if isinstance(declared.get("tree"), str):
            declared["tree"] = _rebased(policy.path(declared["tree"]), folder)
        if isinstance(declared.get("levels"), dict):
            declared["levels"]["path"] = _rebased(policy.path(declared["levels"]["path"]), folder)
    return content


def _options(policy: Policy, algorithm: str, metric: str) -> dict[str, Any]:
    """The options of the policy that the algorithm takes."""
    options = policy.algorithm.model_dump(exclude_unset=True)
    if algorithm != policy.algorithm.name:
        options = {key: options[key] for key in options if key in shared_options(algorithm)}
    options["name"] = algorithm
    return options | {"metric": metric} if "metric" in ALGORITHMS[algorithm].option_names else options


def _rebased(path: Path, folder: Path) -> str:
    """A path as it reads from a folder; absolute ones, and those on another drive, stay absolute."""
    return str(path) if path.is_absolute() else relative_path(path, folder)
