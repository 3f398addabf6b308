"""The evaluator: the value of a node along a path, in a context, under an oracle, found on demand and kept."""
