"""Greedy clustering within boundaries: Campan et al. 2010, GreedyCPKA, and ways to find classes that lose less.

The boundaries cut the table into blocks (MAM); blocks that fail are left out (OUT); each other block is partitioned
into classes that satisfy every model. With ``faithful: true`` the partition is the paper's GreedyPKClustering to the
letter (`shoal.search.local.pk_clustering`), which compares all records with each other. Otherwise prices of records
guide the search for classes (`diving`). Where models may refuse a part of a class that holds, classes are carved out
of larger ones (`carving`). Otherwise, and on small tables as well, they are found by generalized keys in order of cost
(`cover`), or by neighbours where the lattice is too large to walk (`neighbours`). On small tables the paper's partition
is made too. The one that loses least is refined (`refinement.refine`).
"""

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from shoal.search.engine import LocalEngine
from shoal.search.kernels.compiling import compile_ahead
from shoal.search.kernels.load import GUIDING, PROVING, neighbour_kernels, refining_kernels
from shoal.search.local.blocks import Blocks, Classes, Codes, Indices, prepare, refuse_with_conceal
from shoal.search.local.carving import carve
from shoal.search.local.concealed_clusters import concealed_clusters
from shoal.search.local.cover import FINE_STEPS, STEPS, BoxCover, covering_needs
from shoal.search.local.diving import dive
from shoal.search.local.finish import cost_of, finish, refine_if_asked, refined
from shoal.search.local.joining import placed
from shoal.search.local.mondrian import or_cheaper
from shoal.search.local.near_tuples import near_tuples
from shoal.search.local.neighbours import NeighbourCover, neighbours_by_block
from shoal.search.local.pk_clustering import faithful_clusters
from shoal.search.prices.solver import PriceSolver
from shoal.search.prices.work import guiding_work, has_few_tuples, prices_may_guide
from shoal.search.problem import Problem
from shoal.search.search_result import SearchResult
from shoal.table.encoded import distinct_codes
from shoal.table.recoding import SUPPRESSED, Recoding

NEIGHBOURS = "neighbours"  # what the facts of the search call it where not the whole lattice was walked
SMALL = 400  # records up to which the paper's partition is made too: it takes time with the square of the records
PIECE = 30_000  # tuples that are covered at once: larger blocks are cut first
_WITHOUT_BEING_ASKED = (5, 6000)
"""Rounds of refining, and among how many classes neighbours are looked for: that brings most of what there is."""
_IN_LARGE_TABLES = (3, 2000)  # the same where there are many tuples: time must grow with them no more than it has to
_AMONG_NEIGHBOURS = 15  # rounds where classes are looked for among neighbours only, which takes little time
SERVED = 30_000  # tuples up to which outliers are served early: their bounds take time with the square of the tuples
_SIZES = (2, 3, 5, 10, 20, 50, 100, 200, 500, 1000)
"""Sizes of classes that are tried where models may refuse a class that holds with more records."""
_MOST_TIMES = 20  # how many times as large as they have to be
_COVERED = 12_000_000  # tuples times nodes that they are tried on in all
_LONG = 6  # rounds of refining classes of each size
_DIGITS = 12  # costs that agree in so many digits are equal: of equals the first


def greedy_clustering(problem: Problem, engine: LocalEngine) -> SearchResult:
    """Partition every block and release each class as the lowest common ancestor of its values."""
    refuse_with_conceal(problem, "faithful", "refine")
    blocks = prepare(problem, engine)
    if problem.options.get("faithful"):
        seed, weights = int(problem.options.get("seed") or 0), problem.weights
        recoding = finish(blocks, faithful_clusters(blocks, seed=seed, weights=weights))
        return refine_if_asked(blocks, recoding, {"mode": "faithful"})
    if problem.concealing is not None:
        recoding = concealed_clusters(blocks, lambda sized: _clustered(sized).recoding)
        found = SearchResult(recoding, {"mode": "concealed", "classes": recoding.n_classes})
        return or_cheaper(problem, engine, found)
    return _clustered(blocks)


def _clustered(blocks: Blocks) -> SearchResult:
    """Find classes in every way that fits the table and the models, and refine the best."""
    problem = blocks.problem
    if blocks.by_neighbours:
        _compile_kernels(blocks)  # near tuples are looked for first of all
    near = near_tuples(blocks) if blocks.by_neighbours else None
    rounds, piece = _WITHOUT_BEING_ASKED if problem.table.n_tuples <= SERVED else _IN_LARGE_TABLES
    rounds = _AMONG_NEIGHBOURS if blocks.by_neighbours else rounds
    solver = _guiding_prices(blocks)
    starts = list(_starts(blocks, near, solver))
    if blocks.by_neighbours:  # where refining all of them would take long, the cheapest is refined
        starts = [min(starts, key=lambda start: round(cost_of(problem, start[0]), _DIGITS))]
    results = [
        refine_if_asked(blocks, recoding, facts, rounds=rounds, piece=piece, near=near, timed=False)
        for recoding, facts in starts
    ]
    best = min(results, key=lambda result: round(cost_of(problem, result.recoding), _DIGITS))
    return replace(refine_if_asked(blocks, best.recoding, best.search, near=near), solver=solver)


def _starts(
    blocks: Blocks, near: Codes | None, solver: PriceSolver | None
) -> Iterator[tuple[Recoding, dict[str, object]]]:
    """Recodings to begin with, and what the evidence is told about each.

    Prices that know nothing of some models, or of ranges, are not relied on alone.
    """
    problem = blocks.problem
    refused = 0
    if solver is not None:
        partition, refused = dive(blocks, solver.steps)
        yield finish(blocks, placed(blocks, partition)), {"mode": "prices"}
    if solver is None or refused or blocks.ranged or len(blocks.class_models) < len(problem.models):
        _compile_kernels(blocks)
        if not problem.closed:
            yield finish(blocks, carve(blocks)), {"mode": "carving"}
        elif near is not None:
            yield finish(blocks, placed(blocks, _covered_by_neighbours(blocks, near))), {"mode": NEIGHBOURS}
        if _covers(blocks):
            yield _covered(blocks)
    if problem.table.n_rows <= SMALL:
        seed, weights = int(problem.options.get("seed") or 0), problem.weights
        yield finish(blocks, faithful_clusters(blocks, seed=seed, weights=weights)), {"mode": "faithful"}


def _covers(blocks: Blocks) -> bool:
    """Whether classes are found by boxes of the whole lattice; beside carving only where that takes little time."""
    problem = blocks.problem
    short = problem.table.n_tuples * math.prod(problem.shape) <= _COVERED
    return not blocks.by_neighbours and (problem.closed or short)


def _compile_kernels(blocks: Blocks) -> None:
    """Compile what finding classes without prices and refining them need, at once."""
    problem = blocks.problem
    kernels = list(refining_kernels(problem.table.n_rows, problem.options.get("refine"), repeated=problem.repeated))
    kernels += neighbour_kernels(problem.table.n_rows) if blocks.by_neighbours else ()
    kernels += covering_needs(problem) if _covers(blocks) else ()
    compile_ahead(kernels, problem.progress)


def _guiding_prices(blocks: Blocks) -> PriceSolver | None:
    """Prices that have settled enough to guide; None where they cannot within the work that they are worth."""
    problem = blocks.problem
    if not prices_may_guide(problem):
        return None
    compiled = not has_few_tuples(problem)
    refining = refining_kernels(problem.table.n_rows, problem.options.get("refine"), repeated=problem.repeated)
    guiding = dict.fromkeys((*PROVING, *GUIDING)) if compiled else ()  # what proves their bound, at the same time
    compile_ahead([*guiding, *refining], problem.progress)
    problem.progress("clustering", 0.0)
    solver = PriceSolver(problem, compiled=compiled)
    solver.run(work=guiding_work(problem))
    return solver if solver.steps.scale > 0.0 else None


def _covered(blocks: Blocks) -> tuple[Recoding, dict[str, object]]:
    """Cover with boxes of the whole lattice; where models may refuse a part of a class that holds, in several sizes.

    Any release of larger classes is one for smaller ones, so asking for less should not cost more. Therefore the result
    of each size is refined, and so is that of the next larger size, whose classes may now become smaller.
    """
    partition, facts = _cover(blocks)
    smallest, best = finish(blocks, placed(blocks, partition)), None
    for size in reversed(_larger_sizes(blocks)):
        own = finish(blocks, placed(blocks, _cover(blocks, size)[0]))
        best = _cheapest_refined(blocks, size, own, best)
    return smallest if best is None else _cheapest_refined(blocks, 1, smallest, best), facts


def _cheapest_refined(blocks: Blocks, size: int, one: Recoding, other: Recoding | None) -> Recoding:
    """The cheaper of two recodings after refining, with classes of at least so many records."""
    tried = [refined(blocks, each, [], least=size, rounds=_LONG) for each in (one, other) if each is not None]
    return tried[int(np.argmin(np.round([cost_of(blocks.problem, each) for each in tried], _DIGITS)))]


def _larger_sizes(blocks: Blocks) -> list[int]:
    """Sizes of classes that are tried beside the smallest that models allow, as many as there is work for."""
    problem = blocks.problem
    if problem.closed:
        return []
    tries = _COVERED // max(problem.table.n_tuples * math.prod(problem.shape), 1)
    least = BoxCover(blocks).least
    most = min(_MOST_TIMES * least, problem.table.n_rows // 4)
    return [size for size in _SIZES[:tries] if least < size <= most]


def _cover(blocks: Blocks, size: int = 1) -> tuple[Classes, dict[str, object]]:
    """Cover with boxes of at least so many records, piece by piece."""
    problem, cover = blocks.problem, BoxCover(blocks, size)
    owner = np.full(problem.table.n_tuples, SUPPRESSED, dtype=np.int64)
    served = problem.table.n_tuples <= SERVED
    bound = 0.0
    steps = FINE_STEPS if cover.on_values else STEPS
    pieces = list(_pieces(blocks, cover))
    for index, tuples in enumerate(pieces):
        problem.progress("clustering", index / len(pieces))
        least = cover.lower_bounds(tuples) if served else None
        bound += float((least[tuples] * cover.weights[tuples]).sum()) if least is not None else 0.0
        _number_classes(owner, tuples, cover.classes(tuples, least, steps))
    facts: dict[str, object] = {"mode": "cover", "pieces": len(pieces)}
    if served and not blocks.ranged and problem.metric.name in {"ncp", "loss"}:
        proven = all(map(problem.superset_closed, problem.models))  # else a part of what is left out might be kept
        left_out = int(problem.table.counts[blocks.tuple_block == SUPPRESSED].sum()) if proven else 0
        facts["lower_bound"] = (bound / len(problem.hierarchies) + left_out) / problem.table.n_rows
    return owner[problem.table.row_tuple].astype(np.int32), facts


def _covered_by_neighbours(blocks: Blocks, near: Codes) -> Classes:
    """Classes of neighbours, block by block."""
    problem, cover = blocks.problem, BoxCover(blocks)
    neighbours, owner = NeighbourCover(cover), np.full(problem.table.n_tuples, SUPPRESSED, dtype=np.int64)
    for tuples, nearest in neighbours_by_block(blocks, near):
        problem.progress("clustering", np.count_nonzero(owner >= 0) / len(owner))
        _number_classes(owner, tuples, neighbours.classes(tuples, nearest))
    return owner[problem.table.row_tuple].astype(np.int32)


def _number_classes(owner: Indices, tuples: Indices, classes: Indices) -> None:
    """Give some tuples their classes, numbered after those that there are; -1 stays."""
    owner[tuples] = np.where(classes >= 0, classes + owner.max() + 1, SUPPRESSED)


def _pieces(blocks: Blocks, cover: BoxCover) -> Iterator[Indices]:
    """The blocks, large ones cut at medians of leaf codes where both sides satisfy (as Mondrian cuts)."""
    for block in range(blocks.n_blocks):
        stack = [np.flatnonzero(blocks.tuple_block == block)]
        while stack:
            tuples = stack.pop()
            sides = _cut(cover, tuples) if len(tuples) > PIECE else None
            if sides is None:
                yield tuples
            else:
                stack += [sides[1], sides[0]]


def _cut(cover: BoxCover, tuples: Indices) -> tuple[Indices, Indices] | None:
    """Two sides that both satisfy, cut in the column that would gain most; None if no median cut does."""
    extents = [
        (-float(cover.node_cost[c][distinct_codes(codes)].sum() + len(distinct_codes(codes))), c)
        for c, codes in enumerate(cover.codes[:, tuples])
    ]
    for _, c in sorted(extents):
        codes = cover.codes[c, tuples]
        order = np.argsort(codes, kind="stable")
        half = np.searchsorted(np.cumsum(cover.weights[tuples[order]]), cover.weights[tuples].sum() / 2)
        low = codes < codes[order[min(half, len(order) - 1)]]
        if low.any() and not low.all() and cover.holds(tuples, (~low).astype(np.int64), 2).all():
            return tuples[low], tuples[~low]
    return None
