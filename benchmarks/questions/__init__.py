"""Trains and measures the reader of scope: docs/questions.md."""
