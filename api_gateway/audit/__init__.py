"""The audit chain and the story of one answer."""
