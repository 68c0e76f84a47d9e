"""The operators' desk: stages, health, erasures."""
