"""Questions that are answered with a drawing: all runs by risk and loss, and the lattice, of which a node is picked."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from shoal.errors import InputError
from shoal.metrics import METRICS, metric_title
from shoal.pipeline.compare.result import frontier, risks
from shoal.pipeline.forecast import pick_node as node_edit
from shoal.policy import Policy
from shoal.present.comparison import RISKS
from shoal.present.html.markup import Markup
from shoal.present.plots.lattice_plot import lattice_figure, node_lines
from shoal.present.plots.point_plots import Dot, legend, scatter_plot
from shoal.ui.desk.desk import Desk
from shoal.ui.server.runs import OUT, STATUS
from shoal.ui.server.workspace import read_json


def runs_plot(desk: Desk, query: Mapping[str, Any]) -> dict[str, Any]:
    """All finished releases by a measure (``across``) and a risk (``up``); the frontier is marked."""
    across, up = str(query.get("across", "loss")), str(query.get("up", "average"))
    if across not in METRICS or up not in RISKS:
        raise InputError(f"There is no measure {across!r} or no risk {up!r}.", code="unknown-measure")
    folders = sorted(path for path in desk.workspace.runs.iterdir() if (path / STATUS).exists())
    runs = [run for run in map(_released, folders) if run is not None]
    shown = [run for run in runs if up in run["risk"] and run["measures"].get(across) is not None]
    metric = METRICS[across]
    best = frontier([(metric.cost(run["measures"][across]), run["risk"][up]) for run in shown])
    ranks = {index: rank for rank, index in enumerate(best, start=1)}
    algorithms = sorted({run["algorithm"] for run in shown})
    dots = []
    for index, run in enumerate(shown):
        name = f"run {run['run']}" + (f" {run['name']}" if run["name"] else "")
        x, y, colour = run["measures"][across], run["risk"][up], algorithms.index(run["algorithm"])
        dots.append(Dot(name, x, y, colour, ranks.get(index), mark=str(int(run["run"]))))
    return {
        "measures": [[name, metric.title] for name, metric in METRICS.items()],
        "risks": [[name, head, words] for name, (head, words) in RISKS.items()],
        "algorithms": algorithms,
        "points": [
            {**{key: run[key] for key in ("run", "name", "algorithm")}, "across": dot.x, "up": dot.y, "rank": dot.rank}
            for run, dot in zip(shown, dots, strict=True)
        ],
        "without": [run["run"] for run in runs if run not in shown],
        "higher_is_better": metric.higher_is_better,
        "figure": legend(algorithms) + _scatter(dots, across, up) if dots else None,
    }


def _scatter(dots: list[Dot], across: str, up: str) -> Markup:
    side = "more is better" if METRICS[across].higher_is_better else "less is better"
    title = metric_title(across).partition(" (")[0]
    described = "; ".join(f"{dot.name}: {dot.x:.4g}, {dot.y:.4g}" for dot in dots)
    head = RISKS[up][0]
    return scatter_plot(dots, across=f"{title}, {side}", up=f"{head}, less is better", description=f"{described}.")


def _released(folder: Path) -> dict[str, Any] | None:
    """What the plot has of a run; None where it has no release."""
    path, status = folder / OUT / "evidence.json", read_json(folder / STATUS)
    if status.get("state") != "done" or status.get("kind") != "release" or not path.is_file():
        return None
    evidence = read_json(path)
    if not evidence["released"]:
        return None
    return {
        "run": folder.name,
        "name": str(status.get("name") or ""),
        "algorithm": str(evidence["algorithm"]),
        "measures": evidence["measures"],
        "risk": risks(evidence),
    }


def lattice_svg(desk: Desk, query: Mapping[str, Any]) -> dict[str, Any]:
    """The lattice that a run looked at, drawn, and whether the policy has changed since then."""
    picture = _picture(desk, query)
    facts = {key: picture[key] for key in ("quasi", "heights", "metric", "satisfiable", "nodes")}
    texts = {node["id"]: node_lines(node, picture) for node in picture["drawn"]}
    figure = lattice_figure(picture)
    return {**facts, "minimal": _minimal(picture), "figure": figure, "texts": texts, "changed": _changed(desk, query)}


def _minimal(picture: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The minimal nodes that are drawn, the best by the policy's metric first."""
    metric = METRICS[picture["metric"]]
    nodes = [node for node in picture["drawn"] if node["minimal"]]
    nodes.sort(key=lambda node: (metric.cost(node["measures"][metric.name]), node["height"], node["place"]))
    return [
        {**{key: node[key] for key in ("id", "levels", "classes", "suppressed")}, "loss": node["measures"][metric.name]}
        for node in nodes
    ]


def pick_node(desk: Desk, query: Mapping[str, Any]) -> dict[str, Any]:
    """The edit of the policy that releases a node of the lattice; `PolicyError` where it cannot be picked."""
    levels = {str(name): int(level) for name, level in dict(query.get("levels", {})).items()}
    edit = node_edit(_picture(desk, query), levels)
    return {"edits": [edit.to_dict()], "changed": _changed(desk, query)}


def _picture(desk: Desk, query: Mapping[str, Any]) -> dict[str, Any]:
    path = desk.workspace.run(str(query.get("run", ""))) / OUT / "lattice.json"
    if not path.is_file():
        message = f"Run {query.get('run')} has no lattice: it is not finished, it failed, or it made a release."
        raise InputError(message, code="no-lattice")
    return read_json(path)


def _changed(desk: Desk, query: Mapping[str, Any]) -> bool:
    """Whether what decides the lattice - columns, models, suppression - is another now than when it was drawn."""
    then = Policy.load(desk.workspace.run(str(query.get("run", ""))) / "policy.yaml").to_dict()
    now = desk.policy().to_dict()
    return any(then.get(key) != now.get(key) for key in ("data", "columns", "privacy", "suppression"))


ANSWERS = {"runs_plot": runs_plot, "lattice_svg": lattice_svg, "pick_node": pick_node}
