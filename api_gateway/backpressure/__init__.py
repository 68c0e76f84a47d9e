"""What is refused before it is accepted: too large, too much, too long a queue."""
