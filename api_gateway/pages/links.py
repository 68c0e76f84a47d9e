"""Addresses that pages link to: our own pages, and the pages of works. Pure."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode, urlsplit
from uuid import UUID

from knowledge.works.links import is_direct


def evidence_link(
    document_id: Any, version: Any, start: int | None = None, end: int | None = None
) -> str | None:
    """The address of the viewer at a span of a version; None without a valid id and version."""
    if not _is_uuid(document_id) or not isinstance(version, int):
        return None
    page = f"/evidence/{document_id}/versions/{version}"
    return page if start is None or end is None else f"{page}?start={start:d}&end={end:d}#span"


def version_link(document_id: Any, version_id: Any, start: int, end: int) -> str | None:
    """The address of the viewer at a span of a version of which only the id is known."""
    if not _is_uuid(document_id) or not _is_uuid(version_id):
        return None
    query = urlencode({"version_id": version_id, "start": start, "end": end})
    return f"/evidence/{document_id}?{query}#span"


def page_of(body: Mapping[str, Any], key: str = "url") -> str | None:
    """The address of a work's page, if it may be shown as a link (EB-9); otherwise None."""
    url = body.get(key)
    return url if isinstance(url, str) and is_direct(url) else None


def origin_of(url: str) -> str | None:
    """The origin of an https address as a content-security policy names it; otherwise None."""
    parts = urlsplit(url)
    if parts.scheme != "https" or not parts.hostname:
        return None
    host = parts.hostname
    plain = all(char.isascii() and (char.isalnum() or char in ".-") for char in host)
    if not plain:
        return None
    return f"https://{host}:{parts.port}" if parts.port else f"https://{host}"


def _is_uuid(value: Any) -> bool:
    try:
        UUID(str(value))
    except ValueError:
        return False
    return True
