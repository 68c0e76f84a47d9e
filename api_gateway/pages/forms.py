"""Forms as browsers send them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request
from fastapi.responses import HTMLResponse
from starlette.datastructures import UploadFile

from api_gateway.auth.access import FORM_LIMITS, InCaller
from api_gateway.http.forms import open_form
from api_gateway.http.uploads import clean_filename
from api_gateway.problems import Problem

FORM = "application/x-www-form-urlencoded"


async def _form(request: Request) -> Mapping[str, str]:
    """The fields of a form; of one that comes twice the last.

    Raises:
        Problem: the body is no form.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != FORM:
        raise Problem(415, f"send a form with Content-Type: {FORM}")
    async with open_form(request, FORM_LIMITS) as form:
        return {name: value for name, value in form.items() if not isinstance(value, UploadFile)}


def lines(text: str) -> str:
    """A text as it was written: browsers send line ends as CR LF."""
    return text.replace("\r\n", "\n")


Form = Annotated[Mapping[str, str], Depends(_form)]
"""A route's parameter of this type holds the fields of the form."""


async def _form_or_nothing(request: Request) -> Mapping[str, str]:
    """Raises Problem: there is a body, and it is no form."""
    return await _form(request) if "content-type" in request.headers else {}


FormOrNothing = Annotated[Mapping[str, str], Depends(_form_or_nothing)]
"""The same for a button: it works without any field."""


@dataclass(frozen=True)
class File:
    """A file that was chosen: its bytes, its name, and what the browser takes it for."""

    content: bytes
    name: str
    declared: str | None


@dataclass(frozen=True)
class GivenFiles:
    """A form with files: its fields, and those that were chosen, in their order."""

    fields: Mapping[str, str]
    files: Sequence[File]


@dataclass(frozen=True)
class Given:
    """A form with a file or a text: its fields, and the file if there is one."""

    fields: Mapping[str, str]
    content: bytes | None
    filename: str
    declared: str | None


async def given_files(request: Request, _: InCaller) -> GivenFiles:
    """Read the form. It asks for the caller so that nobody's form is read before he is known.

    Raises:
        Problem: the body is no form.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind not in {"multipart/form-data", "application/x-www-form-urlencoded"}:
        raise Problem(415, "send a form")
    async with open_form(request, FORM_LIMITS) as form:
        fields = {name: one for name, one in form.items() if isinstance(one, str)}
        chosen = [one for one in form.getlist("file") if isinstance(one, UploadFile)]
        files = [
            File(await one.read(), clean_filename(one.filename), one.content_type)
            for one in chosen
            if one.filename  # a browser sends a part without a name where none was chosen
        ]
        return GivenFiles(fields, files)


InGivenFiles = Annotated[GivenFiles, Depends(given_files)]


async def given(form: InGivenFiles) -> Given:
    """The form of which one file is taken."""
    if not form.files:
        return Given(form.fields, None, "", None)
    file = form.files[-1]
    return Given(form.fields, file.content, file.name, file.declared)


InGiven = Annotated[Given, Depends(given)]


def refused_form(form: HTMLResponse, problem: Problem) -> HTMLResponse:
    """A form that is shown again because of `problem`, with what the problem says in headers."""
    form.headers.update(problem.headers or {})
    return form
