"""What would stop a leak: changes to the policy at hand, each with its edits.

What helps follows from declarations: models say which attacks they stop, attacks what they need to succeed. Nothing is
advised that the policy does already, and every edit is tried: a policy that it would break is not advised. Whether a
release with the change exists is for a run to find out.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from shoal.attacks.attack import AttackResult
from shoal.attacks.battery import ATTACKS
from shoal.attacks.verdict.verdict import Advice
from shoal.declarations import Parameter, ParameterKind
from shoal.edits import PolicyEdit, apply_edits
from shoal.errors import InputError
from shoal.models import MODELS, Model, least_size
from shoal.policy import Policy
from shoal.search import ALGORITHMS, all_options, shared_options

_DECIMALS = 4


def advice_for(policy: Policy, results: Iterable[AttackResult]) -> tuple[Advice, ...]:
    """For each of some attacks the changes of which each would stop what it found."""
    found = [
        each
        for result in results
        if result.name in ATTACKS
        for part in (_columns, _models, _algorithm, _others)
        for each in part(policy, result)
    ]
    fits: dict[str, bool] = {}  # several leaks may take the same edits
    for each in found:
        key = repr(each.edits)
        if key not in fits:
            fits[key] = _fits(policy, each)
    return tuple(each for each in found if fits[repr(each.edits)])


def _advice(code: Any, result: AttackResult, edits: list[PolicyEdit], *columns: str, **others: str) -> Advice:
    by = tuple(result.columns or ())
    return Advice(code, result.name, result.sensitive, by, columns, tuple(edits), **others)


def _fits(policy: Policy, advice: Advice) -> bool:
    """Whether a policy with the edits of an advice is a right policy, and another one."""
    if not advice.edits:
        return True
    try:
        changed = Policy.model_validate(apply_edits(policy.to_dict(), advice.edits))
    except InputError:
        return False
    return changed != policy


# --- columns ----------------------------------------------------------------------------------------------------------


def _columns(policy: Policy, result: AttackResult) -> Iterator[Advice]:
    """Columns by which an attack works are left out, or generalized like the others that people may know."""
    names = [name for name in result.columns or () if name in policy.columns]
    if not names:
        return
    asked = [entry.model_dump(exclude_unset=True) for entry in policy.privacy]
    still = [each for entry in asked if (each := _without(entry, names))]
    fewer = [] if still == asked else [PolicyEdit(("privacy",), still)]
    kept = [entry.model_dump(exclude_unset=True) for entry in policy.accept if entry.column not in names]
    forgotten = [PolicyEdit(("accept",), kept or None)] if len(kept) < len(policy.accept) else []
    yield _advice(
        "omit-columns", result, [*(PolicyEdit(("columns", name)) for name in names), *fewer, *forgotten], *names
    )
    if all(policy.columns[name].role == "insensitive" for name in names):
        edits = [PolicyEdit(("columns", name, "role"), "quasi") for name in names]
        yield _advice("make-quasi", result, edits, *names)


def _without(entry: dict[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """An entry of ``privacy`` without columns that are left out; nothing where it is on no other."""
    on = entry.get("sensitive")
    if on is None:
        return entry
    left = [name for name in ([on] if isinstance(on, str) else on) if name not in names]
    return {**entry, "sensitive": left[0] if isinstance(on, str) else left} if left else {}


# --- models -----------------------------------------------------------------------------------------------------------


def _models(policy: Policy, result: AttackResult) -> Iterator[Advice]:
    """A model that is made to stop the attack: its limit made stricter, or the model added."""
    column, needed = result.sensitive, ATTACKS[result.name].needed(result)
    if column is None or result.columns:
        return
    asked = [(path, model) for path, model in policy.models_with_paths() if model.column == column]
    for path, model in asked:
        limit = _limit(type(model), result, needed)
        if limit is not None:
            edits = _strengthened(policy, path, model, limit)
            if edits:
                yield _advice("strengthen-model", result, edits, column, model=model.name)
                return
    names = {model.name for _, model in asked}
    for name, kind in MODELS.items():
        limit = _limit(kind, result, needed)
        if limit is None or name in names or not _suits(policy, kind, column):
            continue
        entry = {"model": name, **{each.name: each.start for each in kind.parameters if each.required}}
        entry |= {limit[0].name: limit[1], "sensitive": column}
        edits = [PolicyEdit(("privacy", len(policy.privacy)), entry), *_larger_classes(policy, *limit)]
        yield _advice("add-model", result, edits, column, model=name)
        return


def _limit(kind: type[Model], result: AttackResult, needed: Mapping[str, float]) -> tuple[Parameter, float] | None:
    """The parameter of a model by which it stops the attack, and the value that takes; None where it does not."""
    if result.name not in kind.stops or kind.needs_numbers:  # limits in the column's own unit are for its owner to set
        return None
    first = kind.parameters[0]
    if kind.counts in needed:
        return first, int(needed[str(kind.counts)])
    alone = [each for each in kind.parameters if each.required] == [first]
    if "distance" in needed and kind.whole_table and alone and first.kind is ParameterKind.NUMBER:
        return first, max(math.floor(needed["distance"] * 100) / 100, 0.01)
    return None


def _suits(policy: Policy, kind: type[Model], column: str) -> bool:
    """Whether a model can be asked for on a column with the parameters that it declares to start with."""
    spec = policy.columns.get(column)  # evidence that was forged may name any column
    lacks = spec is None or (kind.needs_categories and not spec.categories)
    return not lacks and all(each.start is not None for each in kind.parameters if each.required)


def _strengthened(policy: Policy, path: str, model: Model, limit: tuple[Parameter, float]) -> list[PolicyEdit]:
    """The edits that make a limit of a model of the policy stricter; none where it is as strict already."""
    entry = _entry(path)
    current = model.single_limits().get(limit[0].name)
    if entry is None or current is None:
        return []
    stricter = limit[1] > current.value if limit[0].at_least else limit[1] < current.value
    value = limit[1] if stricter else None if limit[0].at_least else round(current.value / 2, _DECIMALS)
    if value is None:
        return []
    edit = PolicyEdit(model.policy_path(entry, current), value, model.column)
    return [edit, *_larger_classes(policy, limit[0], value)]


def _larger_classes(policy: Policy, parameter: Parameter, value: float) -> list[PolicyEdit]:
    """The edit that makes classes as large as a count in them has to be; none where they are."""
    if not parameter.within_class_size or value <= least_size(policy.models()):
        return []
    for path, model in policy.models_with_paths():
        entry = _entry(path)
        if model.counts == "records" and model.only_counts and entry is not None:
            return [PolicyEdit(model.policy_path(entry, model.single_limits()[model.parameters[0].name]), int(value))]
    return []


def _entry(path: str) -> int | None:
    """The index of an entry under ``privacy`` by its path."""
    head, _, index = path.partition("[")
    return int(index[:-1]) if head == "privacy" else None


# --- the algorithm, and others ----------------------------------------------------------------------------------------


def _algorithm(policy: Policy, result: AttackResult) -> Iterator[Advice]:
    """An option that stops the attack, or an algorithm that releases each column at one level."""
    attack, asked = ATTACKS[result.name], policy.algorithm
    option = attack.stopped_by_option
    if option is not None and option in all_options() and not getattr(asked, option):
        edit = PolicyEdit(("algorithm", option), True)
        if not isinstance(policy.to_dict().get("algorithm"), Mapping):  # a name alone, or the default
            edit = PolicyEdit(("algorithm",), {"name": asked.name, option: True})
        yield _advice("switch-option", result, [edit], option=option)
    if attack.stopped_by_full_domain and policy.search_algorithm.scope != "full-domain":
        name = next(each.name for each in ALGORITHMS.values() if each.search == "best-node")
        given, shared = asked.model_dump(exclude_unset=True), shared_options(name)
        value = {"name": name, **{key: each for key, each in given.items() if key in shared}}
        yield _advice("full-domain", result, [PolicyEdit(("algorithm",), value)], option=name)


def _others(policy: Policy, result: AttackResult) -> Iterator[Advice]:
    attack, column = ATTACKS[result.name], result.sensitive
    needed = attack.needed(result)
    if "width" in needed and column is not None:
        yield _advice(
            "widen-bins", result, [PolicyEdit(("columns", column, "bins"), _round_width(needed["width"]))], column
        )
    if "events" in needed and policy.person is not None and policy.person.events < needed["events"]:
        yield _advice("know-events", result, [PolicyEdit(("person", "events"), int(needed["events"]))])
    if attack.needs_earlier:
        yield _advice("withdraw-earlier", result, [])


def _round_width(width: float) -> float | int:
    """The least of 1, 2 and 5 times a power of ten that is as wide."""
    power = 10.0 ** math.floor(math.log10(width))
    found = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= width * (1 - 1e-9))
    return int(found) if found >= 1 else float(f"{found:g}")
