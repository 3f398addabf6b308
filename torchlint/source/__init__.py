"""Texts and files: positions, edits, comments, notebooks, and bytes on disk."""
