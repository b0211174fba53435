"""The desk process of a session: holds the table and answers questions about it (`shoal.ui.desk.main`)."""

NEWEST = frozenset({"review", "hierarchy"})
"""Questions that every change of the policy asks again: of those that wait, only the last of its name is answered."""

QUICK = frozenset({"rows", "column"})
"""Questions that only look at the table: they do not wait for those that work on it."""

INTERNAL = frozenset({"open_upload"})  # questions that only the server asks, after a file has come in
