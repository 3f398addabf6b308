"""TNS1: tensors that leave for NumPy and Python."""
