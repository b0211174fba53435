"""The process of one run, and what it shows of its result."""
