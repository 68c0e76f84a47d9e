"""Backpressure: requests refused because of their size, their number or the length of a queue."""
