"""What the models, measures and stages mean, for a reader who does not program."""

from __future__ import annotations

CLASS = (
    "A class is a group of released records that are equal in all quasi-identifiers, the columns by which a person "
    "might be recognized. Someone who recognizes a person by them finds the class, not the record."
)

STAGES = {
    "read": "Reading the data",
    "encode": "Preparing columns and hierarchies",
    "search": "Searching for the release",
    "recode": "Generalizing the records",
    "write": "Writing the release",
    "verify": "Independent check",
    "bound": "Finding the least possible loss",
    "attack": "Attacking the release",
    "evidence": "Measuring the release",
    "utility": "Measuring utility for the task",
}

ROLES = {
    "identifier": "identifier",
    "quasi": "quasi-identifier",
    "sensitive": "sensitive",
    "insensitive": "insensitive",
}

RELEASED_AS = {
    "identifier": "not released",
    "quasi": "generalized",
    "insensitive": "as it is",
}

PUBLISHED = {
    "values": "values as they are",
    "categories": "categories in place of values",
    "both": "values and their categories",
}

NOT_PROTECTED = (
    (
        "Several records of one person.",
        "The models count records, not people. Where a person has several records, a class of k records may hold fewer "
        "than k people, perhaps one. They count people only if the table has one row a person.",
    ),
    (
        "Knowledge from elsewhere.",
        "Someone who knows more about a person than the quasi-identifiers (a date of admission, a relative's illness, "
        "an answer that can be ruled out) may narrow a class down further than the figures say.",
    ),
    (
        "Likely guesses.",
        "A class with several sensitive values can still make one of them much more likely than the others. Only the "
        "models on sensitive columns limit this, and only as far as their limits go.",
    ),
    (
        "Presence.",
        "The models do not hide that a person is in the table at all. Where being in it is itself sensitive, that "
        "remains open.",
    ),
    (
        "Other releases.",
        "Two releases about the same people, each safe alone, can be joined. The models look at this one only.",
    ),
    (
        "Wrong roles.",
        "A column by which people can be recognized, but which the policy does not call a quasi-identifier, is not "
        "generalized, and the classes do not take it into account.",
    ),
    (
        "General patterns.",
        "What the table shows about groups (a region, an age band) holds for the people in these groups, whether or "
        "not their records are in it.",
    ),
)
"""What the models do not protect from, whichever are asked: in short, and in a sentence."""
