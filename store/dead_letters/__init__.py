"""Dead letters: recorded, listed, replayed."""
