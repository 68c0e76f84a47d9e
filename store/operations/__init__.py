"""Backup, erasure, retention, and other work of operators."""
