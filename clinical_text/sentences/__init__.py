"""Where sentences, clauses and words begin and end."""
