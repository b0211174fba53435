"""The informed adversary: which secrets explain this release, to somebody who knows how it was made?

R. C.-W. Wong, A. W.-C. Fu, K. Wang, J. Pei, "Minimality attack in privacy preserving data publishing", 2007, showed
that who knows an algorithm learns from what it did not do: if a level was raised although every group below had k
records, some group failed a model on secrets, and where one group alone can have failed, it did. The same holds for
groups that are left out although they are large enough, and for cuts that a local recoding did not make.

**Definition.** The attacker has everybody's quasi-identifiers and is told who is in which class. A *world* deals to the
people of each class the secrets that it shows, and to people left out any secret (`informed.knowledge`). Before, all
dealings are equally likely; afterwards those remain that the program turns into exactly this release. A record is
*certain* if everybody with its quasi-identifiers has its secret in all worlds that remain, and exposed as well if the
belief in its secret has risen by 0.1 or more.

Three methods, chosen by the size of the table. `informed.exact`: the algorithm is run on every world; where it
conceals, with every answer of its draws (`informed.followed`), since nobody but the owner knows the key. `informed.
decisions`: what follows from each single candidate that the algorithm refused; a lower bound. `informed.witnesses`: for
algorithms that do not say what they refused, people are found whose secret is certainly open; never a leak.

Nothing depends on secrets, and the attack does not apply, where no model reads them and records with equal
quasi-identifiers stay together; otherwise the order of their content decides which of these go where.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from shoal.attacks.attack import Attack, AttackResult, Scene, not_applicable, not_tried
from shoal.attacks.chance.statistics import wilson
from shoal.attacks.informed.dealings import Dealings
from shoal.attacks.informed.decisions import decided_beliefs
from shoal.attacks.informed.exact import exact_beliefs, few_worlds
from shoal.attacks.informed.followed import MOST_WORLDS as MOST_CONCEALED
from shoal.attacks.informed.followed import RUNS_PER_WORLD, followed_beliefs, reproduced
from shoal.attacks.informed.knowledge import PriorKnowledge, classes_of_rows, columns_read, knowledge_of
from shoal.attacks.informed.outcome import Beliefs, outcome
from shoal.attacks.informed.possible_originals import PossibleOriginals, key_unknown, made_again
from shoal.attacks.informed.witnesses import TRIES, runs_allowed, witnesses
from shoal.attacks.released_classes import Codes, Ints
from shoal.search.conceal import NothingRefused
from shoal.search.engine import LocalEngine
from shoal.search.refusals import Refusals

MADE_AGAIN = 5_000  # records of a table that is recoded again to see who is in which class, where labels overlap


class Informed(Attack):
    """Asks which secrets explain the release."""

    name = "informed"
    title = "Knowing how the release was made"
    attacker = (
        "Somebody who has a list of everybody's quasi-identifiers, including people who were left out, and knows the "
        "policy, the program and its version."
    )
    attempt = (
        "Asks which sensitive values would have led to exactly this release, and which to another one. A success is "
        "a record whose value becomes certain, or more likely by 10 percentage points or more."
    )
    baseline = "the frequencies in the class, and for people who were left out the overall frequencies"
    position = 50
    on_sensitive = True
    needs_original = True
    stopped_by_option = "conceal"

    @staticmethod
    def run(scene: Scene, column: str) -> AttackResult:
        """The beliefs in everybody's secret."""
        assert scene.original is not None
        if column not in columns_read(scene):
            return not_applicable("secrets-not-read")
        if scene.policy.pseudonym is not None:
            return not_tried("records-linked")
        if scene.original.problem.options.get("refine") is not None:  # by seconds, so it cannot be repeated
            return not_tried("refined")
        classes = classes_of_rows(scene)
        if classes is None and scene.original.problem.table.n_rows <= MADE_AGAIN:
            classes = made_again(scene)
        if classes is None:
            return not_tried("classes-overlap")
        known = knowledge_of(scene, *classes)
        if known is None:
            return not_tried("too-many-beliefs")
        concealed = known.problem.concealing is not None
        parts = few_worlds(known, MOST_CONCEALED, RUNS_PER_WORLD) if concealed else few_worlds(known)
        if parts is None:
            return _decided(scene, known, column)
        return (_followed if concealed else _exact)(scene, known, column, parts)


def _exact(scene: Scene, known: PriorKnowledge, column: str, parts: Sequence[tuple[Ints, Dealings]]) -> AttackResult:
    """Every world, by running the algorithm on it."""
    worlds = PossibleOriginals(scene, known)
    if not worlds.reproduces():
        return not_tried("not-reproduced")
    beliefs = exact_beliefs(known, column, parts, worlds)
    if beliefs is None:
        return not_tried("unexplained")
    return outcome(known, column, beliefs, method="exact", worlds=worlds.runs - 1)


def _followed(scene: Scene, known: PriorKnowledge, column: str, parts: Sequence[tuple[Ints, Dealings]]) -> AttackResult:
    """Every world with every answer of the draws by which the search conceals."""
    worlds = PossibleOriginals(scene, known)
    if not reproduced(known, worlds):
        return not_tried("not-reproduced")
    before = worlds.runs
    found = followed_beliefs(known, column, parts, worlds)
    if found is None:
        return not_tried("unexplained")
    details = {"runs": worlds.runs - before, "unfollowed": found.unfollowed, "keys": found.keys}
    return outcome(known, column, found.beliefs, method="exact", worlds=found.worlds, **details)


def _decided(scene: Scene, known: PriorKnowledge, column: str) -> AttackResult:
    """What follows from single decisions of the algorithm."""
    assert scene.original is not None
    if known.problem.counts_people:
        return not_tried("people-counted")
    refusals = refusals_of(scene, known)
    if refusals is None:
        return _witnessed(scene, known, column)
    found = decided_beliefs(known, column, refusals, scene.seed)
    if not found.reproduced and not refusals.concealed:
        return not_tried("not-reproduced")
    if refusals.uncut is not None and not found.refused:  # no class is certain not to be several made one
        return _witnessed(scene, known, column)
    return outcome(
        known,
        column,
        found.beliefs(),
        method="decisions",
        ways=found.ways,
        refused=found.refused,
        undecided=found.undecided,
        too_large=found.too_large,
    )


def _witnessed(scene: Scene, known: PriorKnowledge, column: str) -> AttackResult:
    """For how many people another secret gives the same release; what the others have stays undecided."""
    most = runs_allowed(known, scene.policy.search_algorithm)
    if most < 1 + TRIES:
        return not_tried("too-large-to-run-again")
    if key_unknown(scene):
        return not_tried("key-unknown")
    worlds = PossibleOriginals(scene, known)
    if not worlds.reproduces():
        return not_tried("not-reproduced" if known.problem.concealing is None else "key-unknown")
    found = witnesses(known, column, worlds, scene.seed, most)
    beliefs = Beliefs(known.baseline, np.zeros((len(known.sizes), known.value_of(column).shape[1])))
    low, high = wilson(found.open, found.people)
    details = {"looked_at": found.people, "open": found.open, "open_interval": (low, high), "runs": found.runs}
    return outcome(known, column, beliefs, method="witnesses", **details)


def refusals_of(scene: Scene, known: PriorKnowledge) -> Refusals | None:
    """What the algorithm must have refused, as far as it declares that."""
    algorithm, problem = scene.policy.search_algorithm, known.problem
    if problem.concealing is not None:
        problem = replace(problem, veto=NothingRefused())
    if algorithm.refusals is None:
        return None
    engine = LocalEngine(problem.table, problem.ladders, problem.domains)
    return algorithm.refusals(problem, engine, _shown(scene, known))


def _shown(scene: Scene, known: PriorKnowledge) -> Codes:
    """The node that each tuple shows in each quasi-identifier; -1 where it is not released."""
    assert scene.original is not None
    released = known.owner >= 0
    shown = np.full(known.problem.table.codes.shape, -1, dtype=np.int32)
    for row, nodes, cells in zip(shown, scene.original.nodes, scene.released.cells, strict=True):
        row[known.tuples[released]] = nodes[cells[known.owner[released]]]
    return shown
