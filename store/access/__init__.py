"""Access keys of callers and sessions of browsers."""
