"""Latency and refusals at rising rates (`make load`)."""
