"""Trains and measures the reader of scope: docs/questions.md."""

from pathlib import Path

HERE = Path(__file__).parent
WRITERS = ("first", "second", "third")
"""Whose questions are learned; the fourth writer's are measured on."""
