"""What torchlint says: edits, fixes, findings, and the registry of the rules that find them."""
