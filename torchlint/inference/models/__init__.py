"""What torch, NumPy, Python's own functions and other libraries do, as tables: nothing here walks a program."""
