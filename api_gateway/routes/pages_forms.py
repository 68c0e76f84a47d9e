"""Forms as browsers send them."""

from collections.abc import Mapping
from typing import Annotated

from fastapi import Depends, Request
from fastapi.responses import HTMLResponse
from starlette.datastructures import UploadFile

from api_gateway.problems import Problem

FORM = "application/x-www-form-urlencoded"
MOST_FIELDS = 100


async def _form(request: Request) -> Mapping[str, str]:
    """The fields of a form; of one that comes twice the last.

    Raises:
        Problem: the body is no form.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != FORM:
        raise Problem(415, f"send a form with Content-Type: {FORM}")
    async with request.form(max_files=0, max_fields=MOST_FIELDS) as form:
        return {name: value for name, value in form.items() if not isinstance(value, UploadFile)}


Form = Annotated[Mapping[str, str], Depends(_form)]
"""A route's parameter of this type holds the fields of the form."""


def refused_form(form: HTMLResponse, problem: Problem) -> HTMLResponse:
    """A form that is shown again because of `problem`, with what the problem says in headers."""
    form.headers.update(problem.headers or {})
    return form
