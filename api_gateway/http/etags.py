"""Conditional requests: a response that the client already has is not sent again."""


def is_known(if_none_match: str | None, etag: str) -> bool:
    """Whether the `If-None-Match` header names `etag`, compared weakly (RFC 9110, 13.1.2)."""
    if if_none_match is None:
        return False
    named = {tag.strip().removeprefix("W/") for tag in if_none_match.split(",")}
    return "*" in named or etag in named
