"""`attest erase`: erases words of patients."""

from enum import StrEnum
from typing import Annotated
from uuid import UUID

import typer

from cli.instance.context import Instance, JsonOption, print_json
from cli.output.printing import say
from knowledge.operation.retention import TextKind, reason_given
from store.operations import erasure

ACTOR = "cli"


class Kind(StrEnum):
    """The kinds of records that hold words of patients."""

    QUESTION = "question"
    NOTE = "note"
    VERIFICATION = "verification"
    EXTRACTION = "extraction"


def erase(
    ctx: typer.Context,
    kind: Kind,
    subject: Annotated[UUID, typer.Argument(metavar="ID")],
    reason: Annotated[
        str,
        typer.Option(help="a name of knowledge/operation/retention.yaml, such as patient-request"),
    ],
    as_json: JsonOption = False,
) -> None:
    """Erase every copy of the words of a question, note, verification or extraction.

    Its id, times and hashes stay, and the audit chain verifies as before.
    """
    why = reason_given(reason)
    of: TextKind = kind.value
    with Instance.of(ctx).store.unit_of_work(ACTOR) as work:
        erased_ids = erasure.erase(work, of, subject, why)
    if as_json:
        print_json(
            {"kind": of, "id": str(subject), "erased": [str(erased_id) for erased_id in erased_ids]}
        )
    elif not erased_ids:
        say(f"the words of this {of} were erased before")
    else:
        more = len(erased_ids) - 1
        also = f", and of {more} asked anew from it" if more else ""
        say(f"the words of {of} {subject} are erased{also}")
