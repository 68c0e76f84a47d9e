"""What is held, for people and programs that look through it."""
