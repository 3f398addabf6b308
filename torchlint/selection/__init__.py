"""Which findings count: the baseline, the changed lines, and comments that are added to silence."""
