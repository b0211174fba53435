"""The attackers, one file each with its definition and citation on top."""
