"""A policy and a table become a search problem; a recoding becomes the released table."""
