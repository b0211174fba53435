"""Local recoding: every class is generalized only as far as its own records need."""
