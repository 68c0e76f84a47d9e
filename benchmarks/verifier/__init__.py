"""Trains and measures the verifier that reads claim and passage: docs/verifier.md."""
