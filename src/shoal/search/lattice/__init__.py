"""Full-domain search: one level per column for the whole table."""
