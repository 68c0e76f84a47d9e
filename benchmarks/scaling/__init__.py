"""What a corpus of a given size takes, from what was measured."""
