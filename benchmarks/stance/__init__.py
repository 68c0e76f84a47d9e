"""Training and measuring the reader that says whether a sentence answers yes or no."""
