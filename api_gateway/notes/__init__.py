"""Clinical notes: summary and plan with citations."""
