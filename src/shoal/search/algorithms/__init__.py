"""What each algorithm declares, one file each; the searches themselves are in `lattice` and `local`."""
