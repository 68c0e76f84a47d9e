"""Dead letters: list, show, replay and discard them."""
