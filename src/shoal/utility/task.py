"""The task of a policy (its key ``utility``) measured on a release: scores of models, and errors of count queries.

The records to test a model on are held out before anything is anonymized: the release that is trained on is made from
the others alone, under the same policy, so that it cannot know them. Test records are used ungeneralized.
"""

from collections.abc import Callable, Mapping
from importlib.metadata import version
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.encode.resolve import Resolved, resolve
from shoal.encode.result import Result
from shoal.errors import InfeasibleError, PolicyError, PolicyProblem
from shoal.facts import plain
from shoal.io import in_order_of_content
from shoal.policy import Policy
from shoal.policy.utility_spec import UtilitySpec
from shoal.search.problem import Progress, no_progress
from shoal.table.classes import Counts, Floats
from shoal.table.distinct_rows import DistinctRows
from shoal.utility.columns import ValueColumn, layout_of, original_columns, released_columns
from shoal.utility.learners import check_installed, figures, predictions, resamples, scores
from shoal.utility.queries import measure_queries, read_queries

Anonymize = Callable[[pa.Table], Result]  # anonymizes some of the records under the same policy
Records = tuple[Floats, Counts]  # records as a model reads them: features and classes
MOST_CLASSES = 50  # a column with more values is not a target for classification


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
    training = table.take(pa.array(train))
    try:
        part = anonymize(training)
    except (InfeasibleError, PolicyError) as error:
        reason = f"the {len(train)} records left to train on cannot be released under the policy. {error}"
        return {**asked, "not_measured": reason}
    released = released_columns(originals, training, part)
    every = np.arange(len(released[target].first))
    available = {"train": train, "released": every, "test": test}
    used = {name: sampled(rows, spec.sample, rng) for name, rows in available.items()}
    layouts = [layout_of(column.take(train)) for name, column in originals.items() if name != target]

    def records(columns: Mapping[str, ValueColumn], rows: Counts) -> Records:
        """Some records; a class that is released in a generalized form is drawn from the values under it."""
        features = np.hstack([layout.cells(columns[layout.domain.name].take(rows)) for layout in layouts])
        classes = columns[target].take(rows)
        return features, drawn_values(classes.first, classes.last, rng)

    trained = {"original": records(originals, used["train"]), "release": records(released, used["released"])}
    tested = records(originals, used["test"])
    sizes = {name: len(rows) for name, rows in available.items()}
    return {
        **asked,
        "classes": len(np.unique(originals[target].first)),
        "records": {**sizes, **{f"{name}_used": len(rows) for name, rows in used.items()}},
        "columns": {layout.domain.name: layout.words for layout in layouts},
        **_score(trained, tested, originals[target].domain.size, spec.seed, progress),
        "libraries": {"scikit-learn": version("scikit-learn")},
    }


def _score(
    trained: Mapping[str, Records], test: Records, n_classes: int, seed: int, progress: Progress
) -> dict[str, Any]:
    """The scores of each model on the test, by what it was trained on, and what the release loses; and the baseline,
    what always guessing the commonest class scores."""
    features, truth = test
    counts = resamples(len(truth), np.random.default_rng([seed, 1]))
    found: dict[str, dict[str, Any]] = {}
    scored: dict[str, dict[str, dict[str, Floats]]] = {}
    progress("training models", 0.0)
    for number, (name, (train, classes)) in enumerate(trained.items(), start=1):
        for each in predictions(train, classes, features, n_classes=n_classes, seed=seed):
            own = scored.setdefault(each.learner, {})[name] = scores(each.chances, truth, counts)
            found.setdefault(each.learner, {"converged": {}})[name] = figures(own)
            found[each.learner]["converged"][name] = each.converged
        progress("training models", number / len(trained))
    for learner, by_table in scored.items():
        original, release = by_table["original"], by_table["release"]
        found[learner]["difference"] = figures({name: original[name] - release[name] for name in original})
    constant = np.zeros((len(truth), n_classes))
    constant[:, np.bincount(trained["original"][1], minlength=n_classes).argmax()] = 1.0
    guessed = scores(constant, truth, np.ones((1, len(truth))))
    return {"baseline": {name: float(values[0]) for name, values in guessed.items()}, "scores": found}


def held_out(classes: Counts, share: float, rng: np.random.Generator) -> tuple[Counts, Counts]:
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


def sampled(rows: Counts, most: int, rng: np.random.Generator) -> Counts:
    """At most ``most`` of the rows, drawn without replacement, in their order."""
    return rows if len(rows) <= most else np.sort(rng.choice(rows, size=most, replace=False))


def drawn_values(first: Counts, last: Counts, rng: np.random.Generator) -> Counts:
    """One value for each cell, drawn from all that it may be, each equally likely."""
    return first + rng.integers(0, last - first + 1)


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
    column, where = originals[str(spec.target)], "utility.target"
    classes = len(np.unique(column.first))
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
    policy: Policy, table: pa.Table, release: Result, anonymize: Anonymize, progress: Progress = no_progress
) -> dict[str, Any]:
    """What a release is worth for the task, as plain data. The policy names one, and `check_task` has passed it."""
    spec = policy.utility
    assert spec is not None, "a policy without a task has nothing to measure"
    found: dict[str, Any] = {}
    if spec.target is not None:
        found["model"] = measure_models(policy, spec, table, anonymize, progress)
    if spec.queries is not None:
        progress("answering count queries", 0.0)
        found["queries"] = measure_queries(policy, spec, table, release)
    return dict(plain(found))
