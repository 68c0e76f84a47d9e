"""Dead letters: listed, shown, replayed, discarded."""
