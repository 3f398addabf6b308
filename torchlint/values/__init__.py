"""What a node of the graph may be: a lattice of possibilities, each with where it comes from."""
