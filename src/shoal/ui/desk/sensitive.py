"""Questions about a sensitive column: its categories, what they weigh, how far values lie apart, what is published."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.encode.sensitive import SensitiveColumn, Values, encode_sensitive
from shoal.encode.spellings import Spellings
from shoal.errors import InputError
from shoal.models import MODELS
from shoal.models.sensitivity import category_distance, category_weight
from shoal.policy.policy import published
from shoal.policy.spec import ColumnSpec
from shoal.table.classes import ClassView, Histogram, SensitiveDomain
from shoal.ui.desk.desk import Desk
from shoal.ui.desk.hierarchy import counted, merged_column
from shoal.ui.server.policy_limits import hierarchy_file_problems

_BY_DISTANCE: Any = next(model for model in MODELS.values() if model.needs_order)
"""The model that is about distances between values."""
DISTANCES = next(each.choices for each in _BY_DISTANCE.parameters if each.choices)
_FULL = 15  # up to this many values, the distances between all of them are shown; beyond, those from one value
_PAGE = 200


def sensitivity(desk: Desk, query: Mapping[str, Any]) -> dict[str, Any]:
    """The weights and distances that the models take from the categories, and those of t-closeness between values.

    With ``distance`` (equal, ordered, hierarchical) and more values than a table can show, ``value`` is the one that
    the distances are shown from.
    """
    name = str(query.get("name"))
    given, part, problems = merged_column(desk, name)
    if part.value is None or part.value.role != "sensitive":
        raise InputError(f"The column {name!r} is not sensitive in the policy.", code="not-sensitive")
    checked = desk.checked()
    if checked.policy is not None:
        models = list(checked.policy.models())
    else:  # of a policy with problems, the models that are right
        models = [model for _, model in checked.partial.models] if checked.partial is not None else []
    publish = published(name, part.value, models)
    answer: dict[str, Any] = {
        "name": name,
        "publish": publish,
        "models": sorted({model.name for model in models if model.column == name}),
        "categories": _categories(part.value),
        "distances": None,
    }
    problems = [*problems, *hierarchy_file_problems(name, part.value.hierarchy)]
    if not problems:
        labels, counts = counted(given)  # each value for itself: no row is needed to judge them
        problems = Spellings.of(name, part.value, given.counts.items()).problems()
        values = Values(tuple(labels), np.arange(len(labels), dtype=np.int32), np.array(counts, dtype=np.int64))
        column, found = encode_sensitive(name, part.value, values, publish, Path())
        problems += found
        if column is not None:
            answer["distances"] = _distances(column, query)
    return {**answer, "problems": checked.problems_to_page(problems)}


def _categories(spec: ColumnSpec) -> dict[str, Any]:
    """What Sun's models make of the categories: the weight of each, and how far they lie apart."""
    names = list(spec.category_values)
    m = len(names)
    numbers = range(1, m + 1) if m > 1 else range(0)
    weights = [str(category_weight(i, m)) for i in numbers]
    return {
        "names": names,
        "weights": weights,
        "apart": [[str(category_distance(i, j, m)) for j in numbers] for i in numbers],
    }


def _distances(column: SensitiveColumn, query: Mapping[str, Any]) -> dict[str, Any]:
    """Distances between published values as t-closeness has them; which of the three there are, and why not others."""
    domain, chosen = column.domain, str(query.get("distance", "equal"))
    if chosen not in DISTANCES:
        raise InputError(f"There is no distance {chosen!r}.", code="unknown-distance")
    lacking = {each: _model(domain, each).domain_problems(domain) for each in DISTANCES}
    facts = {"kinds": {kind: found[0].message if found else "" for kind, found in lacking.items()}, "kind": chosen}
    present = np.unique(column.codes[domain.known[column.codes]])
    values = [domain.values[code] for code in present.tolist()]
    if lacking[chosen] or len(values) < 2:
        return {**facts, "values": [], "apart": []}
    if len(values) <= _FULL:
        rows = [_from(domain, chosen, present, at) for at in range(len(values))]
        return {**facts, "values": values, "apart": rows}
    start = values.index(query["value"]) if "value" in query and query["value"] in values else 0
    row = _from(domain, chosen, present, start)
    near = np.argsort(row, kind="stable")[:_PAGE].tolist()
    listed = {"from": values[start], "values": [values[at] for at in near]}
    return {**facts, **listed, "apart": [[row[at] for at in near]], "count": len(values)}


def _model(domain: SensitiveDomain, distance: str) -> Any:
    """The model that measures distances between values, with the loosest limit."""
    limit, kind = _BY_DISTANCE.parameters
    given = {limit.name: limit.high, kind.name: distance, "sensitive": domain.column}
    return _BY_DISTANCE(**given)


def _from(domain: SensitiveDomain, distance: str, present: NDArray[np.int32], at: int) -> list[float]:
    """How far every value that occurs lies from one of them, read off the model itself.

    The earth mover's distance of a class of one value i from a release q is the mean of d(i, j) over q. With u for the
    release that has each value once, and q for u and value j in equal parts, d(i, j) = 2 EMD(i, q) - EMD(i, u).
    """
    m = len(present)
    classes = Histogram.of(np.arange(m, dtype=np.int64), present, m, len(domain.values))
    sizes = np.ones(m, dtype=np.int64)
    once = np.zeros(len(domain.values), dtype=np.int64)
    once[present] = 1
    more = once.copy()
    more[present[at]] += m
    model = _model(domain, distance)
    mixed, alone = (model.distances(ClassView(sizes, classes, domain, whole)) for whole in (more, once))
    return [round(float(each), 9) + 0.0 for each in 2 * mixed - alone]
