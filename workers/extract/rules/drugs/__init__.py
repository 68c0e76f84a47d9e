"""Drugs: their names, doses, lists and records, and whether they are taken."""
