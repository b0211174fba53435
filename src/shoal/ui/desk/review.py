"""The policy as it is now: what is wrong with it, what it can reach, what would help, and how long a run takes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

from shoal.encode.resolve import data_problems, unknown_columns
from shoal.errors import PolicyError, PolicyProblem
from shoal.io.source import TableSource
from shoal.models import model_title
from shoal.pipeline.forecast import Forecast, TimeEstimate, estimate_time, forecast
from shoal.pipeline.prepare import Prepared, prepare_again
from shoal.pipeline.run import check_utility
from shoal.policy import Policy
from shoal.present.diagnosis import suggestion
from shoal.present.forecast import about_model, about_table, estimate_basis, overall, range_text, typical_text
from shoal.search import ALGORITHMS
from shoal.search.diagnosis.relaxations import Relaxation
from shoal.search.local.range_method import RangeOptions
from shoal.search.local.ranged_columns import ranged_columns
from shoal.table.distinct_rows import DistinctRows
from shoal.ui.desk import document
from shoal.ui.desk.desk import Desk
from shoal.ui.desk.document import CheckedPolicy

_PREPARED = "prepared"  # where the desk keeps the encoded table


def review(desk: Desk, query: Mapping[str, Any]) -> dict[str, Any]:
    """Every problem of the policy; with ``forecast`` also those with the data, what can be reached and the time.

    ``document`` is the policy that was just written as ``revision``, so that its file need not be read again.
    """
    if "document" in query:
        desk.hold(document.from_page(query["document"]), str(query["revision"]))
    checked = desk.checked()
    if not query.get("forecast"):
        return {"problems": _to_page(checked, checked.problems)}
    problems, ready = _with_data(desk, checked)
    if problems or ready is None:
        return {"problems": _to_page(checked, problems), "forecast": None, "estimate": None}
    return {
        "problems": [],
        "forecast": _forecast_to_page(forecast(ready, ready.policy)),
        "estimate": _estimate_to_page(estimate_time(ready, ready.policy)),
    }


def _to_page(checked: CheckedPolicy, problems: list[PolicyProblem]) -> list[dict[str, Any]]:
    return [document.problem_to_page(each, checked.document) for each in problems]


def _with_data(desk: Desk, checked: CheckedPolicy) -> tuple[list[PolicyProblem], Prepared | None]:
    """All problems of the policy, in itself and with the data; without any, the encoded table."""
    if checked.problems or checked.policy is None:
        return [*checked.problems, *_of_valid_parts(desk, checked)], None
    try:
        ready = prepared(desk, checked.policy)
    except PolicyError as error:
        return list(error.problems), None
    return list(_of_options(ready)), ready


def _of_valid_parts(desk: Desk, checked: CheckedPolicy) -> list[PolicyProblem]:
    """What the valid parts of a policy with problems have against the data."""
    draft = checked.draft
    if draft is None or not draft.columns or draft.data is None:
        return []
    return _problems_of(desk, draft.columns, draft.models)


def _problems_of(desk: Desk, columns: Mapping[str, Any], models: Any) -> list[PolicyProblem]:
    """What columns and models of a policy have against the data."""
    table = desk.table()
    lacking = unknown_columns(columns, table.column_names, "")
    used = [name for name in table.column_names if name in columns and columns[name].role != "identifier"]
    rows = DistinctRows.of(table.select(used))
    return [*lacking, *data_problems(columns, models, rows, desk.workspace.folder)]


def _of_options(ready: Prepared) -> Iterator[PolicyProblem]:
    """What is wrong with the algorithm's options and the task, which a run would say only after it began."""
    problem, policy = ready.resolved.problem, ready.policy
    try:
        if ALGORITHMS[policy.algorithm.name].search == "one-result":
            RangeOptions.read(problem)
        else:
            ranged_columns(problem)
    except PolicyError as error:
        yield from error.problems
    try:
        check_utility(policy, ready.reading, ready.resolved)
    except PolicyError as error:
        yield from error.problems


def prepared(desk: Desk, policy: Policy) -> Prepared:
    """The table, encoded; once for as long as only models, algorithm and suppression change."""
    table = desk.table()
    before: Prepared | None = desk.cache.get(_PREPARED)
    known = before is not None and before.source.table is table and before.policy.data == policy.data
    if unknown_columns(policy.columns, table.column_names, ""):
        raise PolicyError(_problems_of(desk, policy.columns, policy.placed_models()), policy.source)
    given = before if known and before is not None else TableSource(table, table.column_names)
    desk.cache[_PREPARED] = ready = prepare_again(given, policy)
    return ready


def _forecast_to_page(found: Forecast) -> dict[str, Any]:
    """What the page shows of a forecast: verdicts, and sentences where they belong."""
    return {
        "verdict": found.verdict,
        "by_algorithm": found.by_algorithm,
        "overall": overall(found, model_title),
        "models": [
            {
                **{key: getattr(each, key) for key in ("entry", "model", "sensitive", "alone")},
                "reaches": [asdict(reach) for reach in each.reaches],
                "sentences": about_model(each, found.facts.may_suppress, model_title),
            }
            for each in found.models
        ],
        "suggestions": suggestions_to_page(found.relaxations),
        "table": about_table(found.facts),
    }


def suggestions_to_page(relaxations: tuple[Relaxation, ...]) -> list[dict[str, Any]]:
    """Suggested changes as buttons: what each says, and the edits that it makes."""
    return [
        {"label": suggestion(each, model_title), "code": each.code, "edits": [edit.to_dict() for edit in each.edits]}
        for each in relaxations
    ]


def _estimate_to_page(estimate: TimeEstimate) -> dict[str, Any]:
    texts = {"typical": typical_text(estimate), "range": range_text(estimate), "basis": estimate_basis(estimate)}
    return {"low": estimate.low, "high": estimate.high, **texts}


ANSWERS = {"review": review}
