"""Search among up to a million chunks (`make bench-search`)."""
