"""What the graph says of one file, in the words of :mod:`torchlint.facts`."""
