"""Keys of callers and sessions of browsers."""
