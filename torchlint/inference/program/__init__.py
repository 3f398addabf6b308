"""What the program's text alone tells: names, imports, files, and what other files of the project say."""
