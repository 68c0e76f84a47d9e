"""Texts of callers: clinical notes, pasted texts, and their idempotency keys."""
