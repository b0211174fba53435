"""Every algorithm with every model: a table with several spellings of its values is released as one without."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from contract.test_releases_pass_the_verifier import MODELS, RUNS, VALUES, policy_of, tables
from shoal.encode.spellings import Spellings
from shoal.errors import InfeasibleError, PolicyError

pytestmark = pytest.mark.slow


def spellings_of(value: str) -> list[str]:
    return [value.lower(), f" {value}", f"{value}.", f"{value.lower()}!"]


SAME = {value: spellings_of(value) for value in VALUES if value is not None}


def released(table: pa.Table, policy: shoal.Policy) -> tuple[pa.Table, dict[str, Any]] | None:
    try:
        release = shoal.anonymize(table, policy)
    except InfeasibleError:
        return None
    return release.table, {
        key: release.evidence[key] for key in ("models", "measures", "attacks", "exposure", "levels")
    }


@pytest.mark.filterwarnings("ignore::shoal.errors.DisclosureWarning")
@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("model", MODELS)
@settings(max_examples=4)
@given(data=st.data())
def test_merged_spellings_are_released_as_their_value(run: str, model: str, data: st.DataObject) -> None:
    clean, policy = data.draw(tables()), policy_of(model, RUNS[run], data.draw)
    cells = [
        value if value is None else data.draw(st.sampled_from([value, *SAME[value]]))
        for value in clean.column("condition").to_pylist()
    ]
    spelled = clean.set_column(clean.column_names.index("condition"), "condition", pa.array(cells, pa.string()))
    columns = policy.to_dict()["columns"]
    columns["condition"]["same"] = SAME
    assert released(spelled, policy.changed(columns=columns)) == released(clean, policy)
    alike = Spellings.of("condition", policy.columns["condition"], dict.fromkeys(cells, 1).items()).groups
    if alike:
        with pytest.raises(PolicyError) as raised:
            shoal.anonymize(spelled, policy)
        assert "spellings-of-one-value" in {problem.code for problem in raised.value.problems}
