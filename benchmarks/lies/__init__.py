"""`python -m benchmarks.lies`: a model that lies on purpose, and what gets past the gate."""
