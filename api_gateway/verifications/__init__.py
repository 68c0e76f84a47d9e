"""Pasted texts, checked against what is held."""
