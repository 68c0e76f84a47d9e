"""Where a claim's words stand in the versions that it cites, and what is theirs in it."""
