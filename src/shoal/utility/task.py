"""The task of a policy (its key ``utility``) measured on a release: scores of models, and errors of count queries.

The records to test a model on are held out before anything is anonymized: the release that is trained on is made from
the others alone, under the same policy, so that it cannot know them. Test records are used ungeneralized.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.encode.resolve import Resolved, resolve
from shoal.errors import InfeasibleError, PolicyError, PolicyProblem
from shoal.io import in_order_of_content
from shoal.policy import Policy
from shoal.policy.utility_spec import UtilitySpec
from shoal.search.problem import Progress, no_progress
from shoal.table.distinct_rows import DistinctRows
from shoal.utility.columns import (
    Anonymize,
    Codes,
    EncodedRecords,
    Floats,
    Layout,
    Rows,
    ValueColumn,
    layout_of,
    matrix,
    original_columns,
    released_columns,
)
from shoal.utility.learners import check_installed, figures, predictions, resamples, scores
from shoal.utility.queries import (
    SANITY,
    SELECTIVITY,
    all_generalized,
    compare_answers,
    draw_queries,
    error_bins,
    error_spread,
    listed_answers,
    read_queries,
)


def measure_models(
    policy: Policy, spec: UtilitySpec, table: pa.Table, anonymize: Anonymize, progress: Progress = no_progress
) -> dict[str, Any]:
    """Hold records out, anonymize the rest, train on the originals and on their release, test on those held out."""
    progress("anonymizing the training records", 0.0)
    table = in_order_of_content(table)
    rows = DistinctRows.of(table)
    resolved = resolve(policy, rows).of_records(rows)
    originals = original_columns(policy, table, resolved)
    target, rng = str(spec.target), np.random.default_rng(spec.seed)
    train, test = held_out(originals[target].first, spec.test, rng)
    asked = {"target": target, "seed": spec.seed, "test_share": spec.test}
    try:
        part = anonymize(table.take(pa.array(train)))
    except (InfeasibleError, PolicyError) as error:
        reason = f"the {len(train)} records left to train on cannot be released under the policy. {error}"
        return {**asked, "not_measured": reason}
    released = released_columns(originals, part.table, part.resolved, part.recoding)
    every = np.arange(len(released[target].first))
    used = {
        "train": sampled(train, spec.sample, rng),
        "released": sampled(every, spec.sample, rng),
        "test": sampled(test, spec.sample, rng),
    }
    layouts = [layout_of(column.take(train)) for name, column in originals.items() if name != target]
    found = _score(
        {
            "original": _records(layouts, originals, used["train"], target, rng),
            "release": _records(layouts, released, used["released"], target, rng),
        },
        _records(layouts, originals, used["test"], target, rng),
        originals[target].domain.size,
        spec.seed,
        progress,
    )
    sizes = {"train": len(train), "released": len(every), "test": len(test)}
    return {
        **asked,
        "classes": len(np.unique(originals[target].first)),
        "records": {**sizes, **{f"{name}_used": len(rows) for name, rows in used.items()}},
        "columns": {layout.domain.name: layout.words for layout in layouts},
        **found,
        "libraries": {"scikit-learn": version("scikit-learn")},
    }


def _records(
    layouts: Sequence[Layout], columns: Mapping[str, ValueColumn], rows: Rows, target: str, rng: np.random.Generator
) -> Records:
    """Some records; a class that is released in a generalized form is drawn from the values under it."""
    taken = {name: column.take(rows) for name, column in columns.items()}
    return matrix(layouts, taken), drawn_values(taken[target].first, taken[target].last, rng)


def _score(
    trained: Mapping[str, Records], test: Records, n_classes: int, seed: int, progress: Progress
) -> dict[str, Any]:
    """The scores of each model on the test, by what it was trained on, and what the release loses."""
    features, truth = test
    counts = resamples(len(truth), np.random.default_rng([seed, 1]))
    found: dict[str, dict[str, Any]] = {}
    scored: dict[str, dict[str, dict[str, Floats]]] = {}
    progress("training models", 0.0)
    for place, (name, (train, classes)) in enumerate(trained.items(), start=1):
        for each in predictions(train, classes, features, n_classes=n_classes, seed=seed):
            own = scored.setdefault(each.learner, {})[name] = scores(each.chances, truth, counts)
            found.setdefault(each.learner, {"converged": {}})[name] = figures(own)
            found[each.learner]["converged"][name] = each.converged
        progress("training models", place / len(trained))
    for learner, by_table in scored.items():
        original, release = by_table["original"], by_table["release"]
        found[learner]["difference"] = figures({name: original[name] - release[name] for name in original})
    return {"baseline": _baseline(trained["original"][1], truth, n_classes), "scores": found}


def _baseline(trained: Codes, truth: Codes, n_classes: int) -> dict[str, float | None]:
    """What always guessing the commonest class scores."""
    constant = np.zeros((len(truth), n_classes))
    constant[:, np.bincount(trained, minlength=n_classes).argmax()] = 1.0
    scored = figures(scores(constant, truth, np.ones((1, len(truth)))))
    return {name: figure["value"] for name, figure in scored.items()}


def held_out(classes: Codes, share: float, rng: np.random.Generator) -> tuple[Rows, Rows]:
    """The rows to train on and the rows to test on; of every class the same share is held out, to the nearest record.

    The rows of a class must be in an order of their content, so that the order of the input decides nothing. A class
    keeps at least one record to train on.
    """
    train, test = [], []
    for each in np.unique(classes):
        rows = rng.permutation(np.flatnonzero(classes == each))
        held = min(int(share * len(rows) + 0.5), len(rows) - 1)
        test.append(rows[:held])
        train.append(rows[held:])
    return np.sort(np.concatenate(train)), np.sort(np.concatenate(test))


def sampled(rows: Rows, most: int, rng: np.random.Generator) -> Rows:
    """At most ``most`` of the rows, drawn without replacement, in their order."""
    if len(rows) <= most:
        return rows
    return np.sort(rng.choice(rows, size=most, replace=False))


def drawn_values(first: Codes, last: Codes, rng: np.random.Generator) -> Codes:
    """One value for each cell, drawn from all that it may be, each equally likely."""
    return first + rng.integers(0, last - first + 1)


Records = tuple[Floats, Codes]
"""Records as a model reads them: features and classes."""
MOST_CLASSES = 50
"""A column with more values is not a target for classification."""


def check_task(policy: Policy, table: pa.Table, resolved: Resolved) -> None:
    """Raise what prevents measuring the task, before a long search: `PolicyError` or `MissingExtraError`."""
    spec = policy.utility
    if spec is None:
        return
    originals = original_columns(policy, table, resolved)
    problems: list[PolicyProblem] = []
    if spec.target is not None:
        check_installed()
        problems += _target_problems(spec, originals)
    if isinstance(spec.queries, list):
        problems += read_queries(spec.queries, {name: column.domain for name, column in originals.items()})[1]
    if problems:
        raise PolicyError(problems, policy.source)


def _target_problems(spec: UtilitySpec, originals: Mapping[str, ValueColumn]) -> list[PolicyProblem]:
    column = originals[str(spec.target)]
    classes = len(np.unique(column.first))
    where = "utility.target"
    if len(originals) < 2:
        message = "There is no other released column to predict it from."
        return [PolicyProblem(where, message, "Release another column, or use queries only.", code="nothing-to-learn")]
    if not 2 <= classes <= MOST_CLASSES:
        message = f"{spec.target!r} has {classes} different values in the data; a target must have 2 to {MOST_CLASSES}."
        return [PolicyProblem(where, message, "Name another column, or use queries only.", code="target-values")]
    if not len(held_out(column.first, spec.test, np.random.default_rng(spec.seed))[1]):
        message = f"No record is held out: {spec.test:g} of the records of any class is less than one."
        return [PolicyProblem("utility.test", message, "Hold out a larger share.", code="test-empty")]
    return []


def measure_task(
    policy: Policy, release: EncodedRecords, anonymize: Anonymize, progress: Progress = no_progress
) -> dict[str, Any]:
    """What the release is worth for the task, as plain data. The policy names one, and `check_task` has passed it."""
    spec = policy.utility
    assert spec is not None, "a policy without a task has nothing to measure"
    found: dict[str, Any] = {}
    if spec.target is not None:
        found["model"] = measure_models(policy, spec, release.table, anonymize, progress)
    if spec.queries is not None:
        progress("answering count queries", 0.0)
        found["queries"] = _measure_queries(policy, spec, release)
    return found


def _measure_queries(policy: Policy, spec: UtilitySpec, release: EncodedRecords) -> dict[str, Any]:
    """Answer the queries from the release, and compare with the original."""
    originals = original_columns(policy, release.table, release.resolved)
    released = released_columns(originals, release.table, release.resolved, release.recoding)
    domains = {name: column.domain for name, column in originals.items()}
    quasi, secrets = policy.names("quasi"), policy.names("sensitive")
    if isinstance(spec.queries, list):
        queries, _ = read_queries(spec.queries, domains)
        drawn: dict[str, Any] = {}
    else:
        queries = draw_queries(domains, quasi, secrets, int(spec.queries or 0), np.random.default_rng([spec.seed, 2]))
        drawn = {"seed": spec.seed, "selectivity": SELECTIVITY}
    records = release.recoding.n_rows
    answers = compare_answers(queries, originals, released, records)
    generalized = compare_answers(queries, originals, all_generalized(originals, quasi), records)
    return {
        "count": len(queries),
        **drawn,
        "sanity_bound": SANITY * records,
        "relative_error": error_spread(answers),
        "all_generalized": error_spread(generalized),
        "bins": error_bins(answers),
        **({"listed": listed_answers(spec.queries, answers)} if isinstance(spec.queries, list) else {}),
    }
