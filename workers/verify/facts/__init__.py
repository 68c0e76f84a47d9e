"""Hard facts: what code decides of a claim for certain, against any judge."""
