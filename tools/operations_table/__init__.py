"""Makes torchlint's table of operations by calling everything that the installed torch offers."""
