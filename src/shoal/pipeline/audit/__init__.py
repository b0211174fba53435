"""A release held against the evidence that describes it."""
