"""Effects that a text states in numbers. Pure."""
