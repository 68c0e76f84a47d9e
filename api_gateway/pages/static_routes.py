"""Styles, scripts and drawings of the pages."""

from fastapi import APIRouter, Response

from api_gateway.pages.rendering import static_files
from api_gateway.problems import not_found

router = APIRouter(prefix="/static", include_in_schema=False)

FOREVER = "public, max-age=31536000, immutable"
"""Addresses hold the hash of the content: another content has another address."""


@router.get("/{name:path}")
async def static_file(name: str, v: str = "") -> Response:
    """One file, to be kept for good where its address names this very content."""
    found = static_files().get(name)
    if found is None:
        raise not_found("file")
    kept = FOREVER if v == found.version else "no-cache"
    return Response(found.content, media_type=found.media_type, headers={"Cache-Control": kept})
