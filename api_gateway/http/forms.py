"""Forms, read within limits on the number of parts, their size and their encoding.

The parser decodes each field in the request's `charset`, and some of Python's encodings take
minutes for a megabyte (punycode is quadratic). So only UTF-8 is accepted.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from urllib.parse import unquote_plus

from fastapi import Request
from fastapi.concurrency import run_in_threadpool
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import parse_options_header
from starlette.datastructures import FormData
from starlette.exceptions import HTTPException

from api_gateway.problems import Problem

_UTF_8 = frozenset({"", "utf-8", "utf8"})


@dataclass(frozen=True)
class FormLimits:
    """The most files, fields, and bytes of a field. The body limit bounds the size of files.

    All code that may read a form must use the same limits, as the first reader parses it.
    """

    files: int
    fields: int
    field_bytes: int


async def form_of(request: Request, most: FormLimits) -> FormData:
    """The form of the request, its files open. Later calls return the same form.

    Raises:
        Problem: it cannot be read, or has too many or too large parts.
    """
    kind, options = parse_options_header(request.headers.get("content-type"))
    if options.get(b"charset", b"").decode("latin-1").strip().lower() not in _UTF_8:
        raise Problem(415, "send the form in UTF-8: no other charset is read")
    if kind == b"application/x-www-form-urlencoded":
        kept = getattr(request.state, "form", None)
        if isinstance(kept, FormData):
            return kept
        form = await run_in_threadpool(_fields, await request.body(), most)
        request.state.form = form
        return form
    try:
        return await request.form(
            max_files=most.files, max_fields=most.fields, max_part_size=most.field_bytes
        )
    except FormParserError as error:
        raise Problem(400, "the form cannot be read") from error
    except HTTPException as error:
        if isinstance(error, Problem):
            raise
        raise _refused(str(error.detail), most) from error


def _fields(body: bytes, most: FormLimits) -> FormData:
    """The fields of a URL-encoded form (WHATWG URL, 5.1). A megabyte of escapes takes 0.1 s, so
    run it in a thread.

    Raises:
        Problem: there are too many or too large fields.
    """
    if body.count(b"&") >= most.fields:
        raise _too_many(most)
    pairs = [pair.partition(b"=") for pair in body.split(b"&") if pair]
    if any(len(name) + len(value) > most.field_bytes for name, _, value in pairs):
        raise _too_large(most)
    written = [(name.decode("latin-1"), value.decode("latin-1")) for name, _, value in pairs]
    return FormData([(unquote_plus(name), unquote_plus(value)) for name, value in written])


@asynccontextmanager
async def open_form(request: Request, most: FormLimits) -> AsyncIterator[FormData]:
    """The form of the request; its files are closed after the block.

    Raises:
        Problem: as `form_of`.
    """
    form = await form_of(request, most)
    try:
        yield form
    finally:
        await form.close()


def _refused(why: str, most: FormLimits) -> Problem:
    """The problem for an error of the parser, saying what may be sent."""
    if "exceeded maximum size" in why:
        return _too_large(most)
    if why.startswith("Too many"):
        return _too_many(most)
    return Problem(400, "the form cannot be read: send it as multipart/form-data with its boundary")


def _too_large(most: FormLimits) -> Problem:
    return Problem(
        413, f"a field of the form may have up to {most.field_bytes} bytes: send it as a file"
    )


def _too_many(most: FormLimits) -> Problem:
    return Problem(
        413, f"the form may have up to {most.files} files and {most.fields} fields: send fewer"
    )
