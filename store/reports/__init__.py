"""Reports over time: quality, grounding, usage, cost."""
