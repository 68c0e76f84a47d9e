"""Laboratory values: how they are written, their tables, what they are of."""
