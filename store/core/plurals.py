"""Counts of things in words. Pure."""


def counted(n: int, noun: str) -> str:
    """Return `1 claim`, `2 claims`, `1,000 claims`."""
    return f"{n:,} {noun}" + ("" if n == 1 else "s")
