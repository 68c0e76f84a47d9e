"""Sources: freshness, refreshes, findings."""
