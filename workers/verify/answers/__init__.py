"""The answer that is made of what the gate let through, or the abstention."""
