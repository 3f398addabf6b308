"""What texts alone tell: names and imports of one file, and questions about all texts of a project."""
