"""The route of the pages' styles, scripts and drawings."""

from fastapi import APIRouter, Response

from api_gateway.pages.rendering import static_files
from api_gateway.problems import not_found

router = APIRouter(prefix="/static", include_in_schema=False)

FOREVER = "public, max-age=31536000, immutable"
"""Addresses contain the hash of the content, so changed content has a new address."""


@router.get("/{name:path}")
async def static_file(name: str, v: str = "") -> Response:
    """One file, to be kept for good where its address names this very content."""
    file = static_files().get(name)
    if file is None:
        raise not_found("file")
    kept = FOREVER if v == file.version else "no-cache"
    return Response(file.content, media_type=file.media_type, headers={"Cache-Control": kept})
