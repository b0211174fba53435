"""What each algorithm declares; the searches themselves are in `lattice` and `local`."""
