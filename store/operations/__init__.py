"""Backup, erasure, retention, and other operations."""
