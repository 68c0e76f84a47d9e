"""Sources: watches, refreshes, freshness, imports, rate limits."""
