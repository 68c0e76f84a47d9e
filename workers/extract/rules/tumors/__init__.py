"""Tumors: type, grade, stage, margins, stains, genes, and what is of earlier times."""
