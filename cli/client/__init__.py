"""Calls of a running gateway, and waiting for what it accepted."""
