"""Figures over time: quality, grounding, usage, cost."""
