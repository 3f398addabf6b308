"""`torchlint server`: what the linter knows, told to an editor while one types."""
