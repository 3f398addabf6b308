"""What is known about a value at a place in the code, and why; never by running it."""
