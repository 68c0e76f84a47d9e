"""Extractions that a person should look at."""
