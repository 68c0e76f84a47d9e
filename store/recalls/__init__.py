"""Answers whose sources changed."""
