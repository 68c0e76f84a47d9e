"""Texts that PostgreSQL can store."""

from pydantic import AfterValidator


def _without_nul(value: str | None) -> str | None:
    if value is not None and "\x00" in value:
        raise ValueError("contains a NUL character; remove it")
    return value


STORABLE = AfterValidator(_without_nul)
"""Must come after the length limits: if first, pydantic's messages count items, not characters."""
