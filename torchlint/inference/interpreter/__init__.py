"""The abstract interpreter: statements and expressions walked on demand, functions summarised, loops to a fixpoint."""
