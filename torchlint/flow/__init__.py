"""What becomes of a value: who shares its memory, who keeps it, whether it is written or learned from."""
