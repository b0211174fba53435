"""How little any release could lose."""
