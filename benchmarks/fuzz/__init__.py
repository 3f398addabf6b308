"""Throws random programs, damaged files, notebooks and configurations at torchlint, and holds it to its promises."""
