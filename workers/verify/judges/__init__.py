"""A language model asked for its verdicts, with controls among the claims, and what they decide."""
