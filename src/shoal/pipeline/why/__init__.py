"""Why a record or a class was generalized as far as it was."""
