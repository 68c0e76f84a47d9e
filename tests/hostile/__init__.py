"""Hostile texts at every way in: what they cost, and whether they lose a process."""
