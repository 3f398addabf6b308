"""What comments silence, and which of them silence nothing."""
