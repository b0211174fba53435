"""New records recoded with a published recoding."""
