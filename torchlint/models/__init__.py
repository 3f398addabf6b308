"""What torch, NumPy, Python and a few libraries do to a value: tables, and the transfer functions that read them."""
