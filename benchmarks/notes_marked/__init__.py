"""Forty notes in eight styles, marked statement by statement: see README.md."""
