"""Questions with graded first lines: a measure, and material to learn from (README.md)."""
