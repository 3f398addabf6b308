"""The rules: one module each, its docstring its page, and modules for what several of them ask."""
