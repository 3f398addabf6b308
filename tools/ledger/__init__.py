"""Proves what the rules claim of their fixes, and writes down what held: ``torchlint/verify/ledger.json``."""
