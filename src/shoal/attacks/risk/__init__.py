"""The risk of a table before anything is done to it."""
