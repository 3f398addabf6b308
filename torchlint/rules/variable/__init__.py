"""TNS4: `torch.autograd.Variable`."""
