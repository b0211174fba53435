"""The policy as it is now: what is wrong with it, what it can reach, what would help, and how long a run takes."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from functools import partial
from typing import Any

from shoal.encode.pseudonyms import key_problems
from shoal.encode.resolve import data_problems, unknown_columns
from shoal.errors import PolicyError, PolicyProblem
from shoal.io.source import TableSource
from shoal.models import model_title
from shoal.pipeline.forecast import Forecast, estimate_time, forecast
from shoal.pipeline.prepare import Prepared, prepare
from shoal.pipeline.run import check_utility
from shoal.policy import Policy
from shoal.present.diagnosis import suggestion
from shoal.present.forecast import about_model, about_table, estimate_basis, overall, range_text, typical_text
from shoal.search.diagnosis.relaxations import Relaxation
from shoal.search.local.range_method import RangeOptions
from shoal.search.local.ranged_columns import ranged_columns
from shoal.table.distinct_rows import DistinctRows
from shoal.ui.desk import document
from shoal.ui.desk.desk import Desk
from shoal.ui.desk.document import CheckedPolicy


def review(desk: Desk, query: Mapping[str, Any]) -> dict[str, Any]:
    """Every problem of the policy; with ``forecast`` also those with the data, what can be reached and the time.

    ``document`` is the policy that was just written as ``revision``, so that its file need not be read again.
    """
    if "document" in query:
        desk.hold(document.from_page(query["document"]), str(query["revision"]))
    checked = desk.checked()
    if not query.get("forecast"):
        return {"problems": checked.problems_to_page()}
    problems, ready = _with_data(desk, checked)
    if problems or ready is None:
        return {"problems": checked.problems_to_page(problems), "forecast": None, "estimate": None}
    found, estimate = forecast(ready, ready.policy), estimate_time(ready, ready.policy)
    texts = {"typical": typical_text(estimate), "range": range_text(estimate), "basis": estimate_basis(estimate)}
    bounds = {"low": estimate.low, "high": estimate.high}
    return {"problems": [], "forecast": _forecast_to_page(found), "estimate": {**bounds, **texts}}


def _with_data(desk: Desk, checked: CheckedPolicy) -> tuple[list[PolicyProblem], Prepared | None]:
    """All problems of the policy, in itself and with the data; without any, the encoded table."""
    part = checked.partial  # what is right of a policy with problems
    if checked.problems or checked.policy is None:
        if part is None or not part.columns or part.data is None:
            return checked.problems, None
        return [*checked.problems, *_problems_of(desk, part.columns, part.models)], None
    try:
        ready = prepared(desk, checked.policy)
    except PolicyError as error:
        return list(error.problems), None
    return list(_of_options(ready)), ready


def _problems_of(desk: Desk, columns: Mapping[str, Any], models: Any) -> list[PolicyProblem]:
    """What columns and models of a policy have against the data."""
    table = desk.table()
    lacking = unknown_columns(columns, table.column_names, "")
    used = [name for name in table.column_names if name in columns and columns[name].role != "identifier"]
    rows = DistinctRows.of(table.select(used))
    return [*lacking, *data_problems(columns, models, rows, desk.workspace.folder)]


def _of_options(ready: Prepared) -> Iterator[PolicyProblem]:
    """What is wrong with the algorithm's options and the task, which a run would say only after it began."""
    yield from key_problems(ready.policy)
    one_result = ready.policy.search_algorithm.search == "one-result"
    options = partial(RangeOptions.read if one_result else ranged_columns, ready.resolved.problem)
    checks: list[Callable[[], object]] = [options, partial(check_utility, ready.policy, ready.reading, ready.resolved)]
    if ready.reading.survey is not None:
        checks.append(ready.reading.survey.check)
    for check in checks:
        try:
            check()
        except PolicyError as error:
            yield from error.problems


def prepared(desk: Desk, policy: Policy) -> Prepared:
    """The table, encoded; once for as long as only models, algorithm and suppression change."""
    table = desk.table()
    if unknown_columns(policy.columns, table.column_names, ""):
        raise PolicyError(_problems_of(desk, policy.columns, policy.models_with_paths()), policy.source)
    before: Prepared | None = desk.cache.get("prepared")
    if before is None or before.source.table is not table or before.policy.data != policy.data:
        ready = prepare(TableSource(table, table.column_names), policy)
    else:
        ready = prepare(before, policy)
    desk.cache["prepared"] = ready
    return ready


def _forecast_to_page(forecast: Forecast) -> dict[str, Any]:
    """What the page shows of a forecast: verdicts, and sentences where they belong."""
    keys = ("entry", "model", "sensitive", "alone")
    return {
        "verdict": forecast.verdict,
        "by_algorithm": forecast.by_algorithm,
        "overall": overall(forecast, model_title),
        "models": [
            {
                **{key: getattr(each, key) for key in keys},
                "reaches": [asdict(reach) for reach in each.reaches],
                "sentences": about_model(each, forecast.facts.may_suppress, model_title),
            }
            for each in forecast.models
        ],
        "suggestions": suggestions_to_page(forecast.relaxations),
        "table": about_table(forecast.facts),
    }


def suggestions_to_page(relaxations: tuple[Relaxation, ...]) -> list[dict[str, Any]]:
    """Suggested changes as buttons: what each says, and the edits that it makes."""
    return [
        {"label": suggestion(each, model_title), "code": each.code, "edits": [edit.to_dict() for edit in each.edits]}
        for each in relaxations
    ]
