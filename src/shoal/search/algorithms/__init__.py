"""The algorithms, one file each, by what they declare; the searches are in `lattice` and `local`."""
