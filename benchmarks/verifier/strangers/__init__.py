"""Claims of a writer who saw nothing of the product: a measure only (README.md beside it)."""
