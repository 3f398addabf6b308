"""TNS2: `Tensor.data`."""
