"""What a model trained on the release scores on held-out records, against one trained on the originals.

The records to test on are held out before anything is anonymized: the release that is trained on is made from the
others alone, under the same policy, so that it cannot know them. Test records are used as they are, ungeneralized.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.encode.resolve import resolve
from shoal.errors import InfeasibleError, PolicyError
from shoal.io import in_order_of_content
from shoal.policy import Policy
from shoal.policy.utility_spec import UtilitySpec
from shoal.search.problem import Progress, no_progress
from shoal.table.distinct_rows import DistinctRows
from shoal.utility.columns import Anonymize, Codes, Floats, Rows, ValueColumn, original_columns, released_columns
from shoal.utility.features import Layout, layout_of, matrix
from shoal.utility.learners import libraries, predictions
from shoal.utility.scores import Predicted, Resampled, differences, figures


@dataclass(frozen=True, eq=False)
class _Records:
    """Records as a model reads them."""

    features: Floats
    classes: Codes


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
        "libraries": libraries(),
    }


def _records(
    layouts: Sequence[Layout], columns: Mapping[str, ValueColumn], rows: Rows, target: str, rng: np.random.Generator
) -> _Records:
    """Some records; a class that is released in a generalized form is drawn from the values under it."""
    taken = {name: column.take(rows) for name, column in columns.items()}
    return _Records(matrix(layouts, taken), drawn_values(taken[target].first, taken[target].last, rng))


def _score(
    trained: Mapping[str, _Records], test: _Records, n_classes: int, seed: int, progress: Progress
) -> dict[str, Any]:
    """The scores of each model on the test, by what it was trained on, and what the release loses."""
    drawn = Resampled.of(len(test.classes), np.random.default_rng([seed, 1]))
    found: dict[str, dict[str, Any]] = {}
    scored: dict[str, dict[str, dict[str, Floats]]] = {}
    progress("training models", 0.0)
    for place, (name, records) in enumerate(trained.items(), start=1):
        made = predictions(records.features, records.classes, test.features, n_classes=n_classes, seed=seed)
        for each in made:
            scores = Predicted(each.chances, test.classes).scores(drawn)
            scored.setdefault(each.learner, {})[name] = scores
            found.setdefault(each.learner, {"converged": {}})[name] = figures(scores)
            found[each.learner]["converged"][name] = each.converged
        progress("training models", place / len(trained))
    for learner, by_table in scored.items():
        found[learner]["difference"] = differences(by_table["original"], by_table["release"])
    return {"baseline": _baseline(trained["original"].classes, test.classes, n_classes), "scores": found}


def _baseline(trained: Codes, truth: Codes, n_classes: int) -> dict[str, float | None]:
    """What always guessing the commonest class scores."""
    constant = np.zeros((len(truth), n_classes))
    constant[:, np.bincount(trained, minlength=n_classes).argmax()] = 1.0
    once = Resampled(np.ones((1, len(truth))))
    return {name: figure["value"] for name, figure in figures(Predicted(constant, truth).scores(once)).items()}


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
