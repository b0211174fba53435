"""Refinement of a local recoding: steps that lower the loss and keep every model."""
