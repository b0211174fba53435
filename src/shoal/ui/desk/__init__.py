"""The desk process of a session: holds the table and answers questions about it."""
