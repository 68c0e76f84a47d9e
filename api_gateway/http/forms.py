"""Forms, read within limits: how many parts, of what size, in which encoding.

The parser decodes each field as the request's `charset` says, and Python knows encodings that take
minutes for a megabyte (punycode is quadratic): there is one that counts here.
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
    """How many files and fields there may be, and bytes of a field; files are bounded by the body.

    Every route that may read one form has to have the same limits: the first one reads it.
    """

    files: int
    fields: int
    field_bytes: int


async def form_of(request: Request, most: FormLimits) -> FormData:
    """The form that the request brings, its files still open; the same whoever asks again.

    Raises:
        Problem: it cannot be read, or has more or larger parts than may be.
    """
    kind, options = parse_options_header(request.headers.get("content-type"))
    if options.get(b"charset", b"").decode("latin-1").strip().lower() not in _UTF_8:
        raise Problem(415, "send the form in UTF-8: no other charset is read")
    if kind == b"application/x-www-form-urlencoded":
        kept = getattr(request.state, "form", None)
        if isinstance(kept, FormData):
            return kept
        found = await run_in_threadpool(_fields, await request.body(), most)
        request.state.form = found
        return found
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
    """The fields of a form as browsers write it (WHATWG URL, 5.1). A megabyte of escapes takes a
    tenth of a second: run in a thread.

    Raises:
        Problem: there are more or larger ones than may be.
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
    """The form that the request brings; its files are closed behind the block.

    Raises:
        Problem: as `form_of`.
    """
    form = await form_of(request, most)
    try:
        yield form
    finally:
        await form.close()


def _refused(why: str, most: FormLimits) -> Problem:
    """What the parser refuses, in words that say what may be sent."""
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
