"""The forms that browsers send."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, TypeVar

from fastapi import Depends, Request
from fastapi.responses import HTMLResponse
from pydantic import BaseModel, ValidationError
from starlette.datastructures import UploadFile

from api_gateway.auth.access import FORM_LIMITS, InCaller
from api_gateway.http.forms import open_form
from api_gateway.http.uploads import clean_filename
from api_gateway.problems import Problem, from_validation

M = TypeVar("M", bound=BaseModel)
FORM = "application/x-www-form-urlencoded"


async def _form(request: Request) -> Mapping[str, str]:
    """The fields of a form; of a repeated field, the last value.

    Raises:
        Problem: the body is no form.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != FORM:
        raise Problem(415, f"send a form with Content-Type: {FORM}")
    async with open_form(request, FORM_LIMITS) as form:
        return {name: value for name, value in form.items() if not isinstance(value, UploadFile)}


def lines(text: str) -> str:
    """The text with line ends as LF; browsers send CR LF."""
    return text.replace("\r\n", "\n")


Form = Annotated[Mapping[str, str], Depends(_form)]
"""The type of a route's parameter for the fields of the form."""


async def _form_or_nothing(request: Request) -> Mapping[str, str]:
    """Raises Problem: there is a body that is no form."""
    return await _form(request) if "content-type" in request.headers else {}


FormOrNothing = Annotated[Mapping[str, str], Depends(_form_or_nothing)]
"""The same for a button, which may be sent without any field."""


def fitting(model: type[M], **fields: object) -> M:
    """The body of an API call, of a form. A page's button does what the call does.

    Raises:
        Problem: 422, by field.
    """
    try:
        return model.model_validate(fields)
    except ValidationError as error:
        raise from_validation(error.errors(include_input=False)) from None


@dataclass(frozen=True)
class File:
    """An uploaded file: its bytes, its name, and the media type that the browser declares."""

    content: bytes
    name: str
    declared: str | None


@dataclass(frozen=True)
class GivenFiles:
    """A form with files: its fields, and the chosen files in order."""

    fields: Mapping[str, str]
    files: Sequence[File]


@dataclass(frozen=True)
class Given:
    """A form with at most one file: its fields, and the file if there is one."""

    fields: Mapping[str, str]
    content: bytes | None
    filename: str
    declared: str | None


async def given_files(request: Request, _: InCaller) -> GivenFiles:
    """Read the form. It depends on the caller, so that no form of an unknown caller is read.

    Raises:
        Problem: the body is no form.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind not in {"multipart/form-data", "application/x-www-form-urlencoded"}:
        raise Problem(415, "send a form")
    async with open_form(request, FORM_LIMITS) as form:
        fields = {name: value for name, value in form.items() if isinstance(value, str)}
        chosen = [value for value in form.getlist("file") if isinstance(value, UploadFile)]
        files = [
            File(await upload.read(), clean_filename(upload.filename), upload.content_type)
            for upload in chosen
            if upload.filename  # a browser sends a part without a name if no file was chosen
        ]
        return GivenFiles(fields, files)


InGivenFiles = Annotated[GivenFiles, Depends(given_files)]


async def given(form: InGivenFiles) -> Given:
    """The form with only its last file."""
    if not form.files:
        return Given(form.fields, None, "", None)
    file = form.files[-1]
    return Given(form.fields, file.content, file.name, file.declared)


InGiven = Annotated[Given, Depends(given)]


def refused_form(form: HTMLResponse, problem: Problem) -> HTMLResponse:
    """A form that is shown again because of `problem`, with the problem's headers."""
    form.headers.update(problem.headers or {})
    return form
