"""Why a search ends where it does: what blocks, what is reachable, what would help."""
