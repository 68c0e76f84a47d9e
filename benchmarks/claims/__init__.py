"""Trains and measures the claim verifier: docs/verification.md. Only here is torch needed."""
