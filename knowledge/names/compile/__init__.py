"""Compiles the tables of names from standard terminologies. The product never imports it."""
