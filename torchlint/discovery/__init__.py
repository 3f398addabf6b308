"""Which files a run is about."""
