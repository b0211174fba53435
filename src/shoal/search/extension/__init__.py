"""New records added to a published recoding without weakening it."""
