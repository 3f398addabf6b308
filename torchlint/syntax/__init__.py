"""The text as trees: the stdlib's for knowing, LibCST's for seeing and repairing."""
