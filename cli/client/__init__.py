"""Calls a running gateway, and waits for the work that it accepted."""
