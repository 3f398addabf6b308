"""Results of earlier runs as plain data in a folder, each good while all that it rests on is the same."""
