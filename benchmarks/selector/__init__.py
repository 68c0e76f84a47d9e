"""Trains and measures the selector that reads question and sentence: docs/selector.md."""
