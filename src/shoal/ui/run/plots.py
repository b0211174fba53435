"""Questions that are answered with a drawing: all runs by risk and loss, and the lattice, of which a node is picked."""

from collections.abc import Mapping
from typing import Any

from shoal.errors import InputError
from shoal.metrics import METRICS, metric_title
from shoal.pipeline.compare.result import frontier, risks
from shoal.pipeline.lattice import pick_node as node_edit
from shoal.policy import Policy
from shoal.present.comparison import RISKS
from shoal.present.plots.lattice_plot import lattice_figure, node_lines
from shoal.present.plots.point_plots import Dot, legend, scatter_plot
from shoal.ui.desk.desk import Desk
from shoal.ui.server.workspace import OUT, STATUS, read_json


def runs_plot(desk: Desk, query: Mapping[str, Any]) -> dict[str, Any]:
    """All finished releases by a measure (``across``) and a risk (``up``); the frontier is marked."""
    across, up = str(query.get("across", "loss")), str(query.get("up", "average"))
    if across not in METRICS or up not in RISKS:
        raise InputError(f"There is no measure {across!r} or no risk {up!r}.", code="unknown-measure")
    runs = []
    for folder in desk.workspace.run_folders():
        status, evidence = read_json(folder / STATUS), read_json(folder / OUT / "evidence.json")
        if status.get("state") == "done" and evidence.get("released"):
            about = {"run": folder.name, "name": str(status.get("name") or ""), "algorithm": str(evidence["algorithm"])}
            runs.append({**about, "measures": evidence["measures"], "risk": risks(evidence)})
    shown = [run for run in runs if up in run["risk"] and run["measures"].get(across) is not None]
    metric = METRICS[across]
    best = frontier([(metric.cost(run["measures"][across]), run["risk"][up]) for run in shown])
    ranks = {index: rank for rank, index in enumerate(best, start=1)}
    algorithms = sorted({run["algorithm"] for run in shown})
    dots, points = [], []
    for index, run in enumerate(shown):
        name = f"run {run['run']}" + (f" {run['name']}" if run["name"] else "")
        x, y, rank = run["measures"][across], run["risk"][up], ranks.get(index)
        dots.append(Dot(name, x, y, algorithms.index(run["algorithm"]), rank, mark=str(int(run["run"]))))
        about = {key: run[key] for key in ("run", "name", "algorithm")}
        points.append({**about, "across": x, "up": y, "rank": rank})
    side = "more is better" if metric.higher_is_better else "less is better"
    axes = {
        "across": f"{metric_title(across).partition(' (')[0]}, {side}",
        "up": f"{RISKS[up][0]}, less is better",
        "description": "; ".join(f"{dot.name}: {dot.x:.4g}, {dot.y:.4g}" for dot in dots) + ".",
    }
    return {
        "measures": [[name, metric.title] for name, metric in METRICS.items()],
        "risks": [[name, head, words] for name, (head, words) in RISKS.items()],
        "algorithms": algorithms,
        "points": points,
        "without": [run["run"] for run in runs if run not in shown],
        "higher_is_better": metric.higher_is_better,
        "figure": legend(algorithms) + scatter_plot(dots, **axes) if dots else None,
    }


def lattice_svg(desk: Desk, query: Mapping[str, Any]) -> dict[str, Any]:
    """The lattice that a run looked at, drawn, with its minimal nodes, the best by the policy's metric first."""
    picture, changed = _picture(desk, query)
    metric = METRICS[picture["metric"]]
    nodes = [node for node in picture["drawn"] if node["minimal"]]
    nodes.sort(key=lambda node: (metric.cost(node["measures"][metric.name]), node["height"], node["place"]))
    shown = ("id", "levels", "classes", "suppressed")
    return {
        **{key: picture[key] for key in ("quasi", "heights", "metric", "satisfiable", "nodes")},
        "minimal": [{**{key: node[key] for key in shown}, "loss": node["measures"][metric.name]} for node in nodes],
        "figure": lattice_figure(picture),
        "texts": {node["id"]: node_lines(node, picture) for node in picture["drawn"]},
        "changed": changed,
    }


def pick_node(desk: Desk, query: Mapping[str, Any]) -> dict[str, Any]:
    """The edit of the policy that releases a node of the lattice; `PolicyError` where it cannot be picked."""
    picture, changed = _picture(desk, query)
    levels = {str(name): int(level) for name, level in dict(query.get("levels", {})).items()}
    return {"edits": [node_edit(picture, levels).to_dict()], "changed": changed}


def _picture(desk: Desk, query: Mapping[str, Any]) -> tuple[dict[str, Any], bool]:
    """The lattice of a run, and whether what decides it - columns, models, suppression - is another now."""
    number = str(query.get("run", ""))
    folder = desk.workspace.run(number)
    if not (folder / OUT / "lattice.json").is_file():
        message = f"Run {number} has no lattice: it is not finished, it failed, or it made a release."
        raise InputError(message, code="no-lattice")
    then, now = Policy.load(folder / "policy.yaml").to_dict(), desk.policy().to_dict()
    changed = any(then.get(key) != now.get(key) for key in ("data", "columns", "privacy", "suppression"))
    return read_json(folder / OUT / "lattice.json"), changed
