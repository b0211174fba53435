"""Whether every released record can stand for an original record of its own."""
