"""torchlint finds the places where PyTorch code converts tensors unsafely, says why, and repairs them."""

from torchlint.version import VERSION as __version__

__all__ = ["__version__"]
