"""The audit chain: written, read, exported, verified."""
