"""Commands that ask, search and check."""
