"""The verdict on a release: whether to publish it, why, what was accepted, and what would stop each leak."""
