"""What a run on records that were not held had to do without: the reason for each code, for the evidence."""

from collections.abc import Iterable, Sequence

from shoal.formatting import listing

_REASONS = {
    "utility-streamed": (
        "utility",
        "models are trained on records, and these were streamed: run without --memory.",
    ),
    "insensitive-streamed": (
        "insensitive columns",
        "{columns} tell too many records apart to be counted: that each record has its own values there was not "
        "checked against the original, and nobody was linked by them.",
    ),
    "survey-absent": ("survey risk", "the new records lack a column of households or weights."),
    "survey-of-union": (
        "survey risk",
        "the households and weights of the records that were published before are no longer known.",
    ),
    "survey-coarse": (
        "survey risk",
        "quasi-identifiers were made coarser while they were counted, so the risk before is not known.",
    ),
    "utility-in-cluster": ("utility", "models are trained on records, and these are in a cluster."),
    "insensitive-in-cluster": (
        "insensitive",
        "that each record has its own values of {columns} was not compared with the original, only that no "
        "combination of them is released more often than the original has it.",
    ),
    "truthfulness-in-cluster": (
        "truthfulness",
        "the driver does not hold the values of columns that were made coarser, so records were not matched to "
        "originals.",
    ),
}


def not_done_reasons(codes: Iterable[str], uncounted: Sequence[str]) -> dict[str, str]:
    """What was not done, and why; ``uncounted`` are the insensitive columns that were not counted."""
    return {what: why.replace("{columns}", listing(uncounted)) for what, why in (_REASONS[code] for code in codes)}
