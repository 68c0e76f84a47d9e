"""Makers of synthetic clinical documents with their gold fields."""
