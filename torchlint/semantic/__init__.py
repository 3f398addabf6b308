"""What a program means by its text alone: the value-flow graph of each file, names resolved, no value computed."""
