"""Notebooks: where their code stands in the JSON, as one module's text, and how edits of that text come back."""
