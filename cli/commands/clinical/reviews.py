"""`attest reviews`: extractions that a person should look at."""

import re
from enum import StrEnum
from typing import Annotated, Any
from uuid import UUID

import typer
from rich.table import Column, Table

from cli.client.extractions import accept_review, correct_review, list_reviews, text_of_review
from cli.instance.context import Instance, JsonOption, print_json
from cli.output.printing import say
from cli.output.tables import table_console, tell_more

reviews_app = typer.Typer(help="Extractions that a person should look at.", no_args_is_help=True)
_SET = re.compile(r"(?s)([a-z][a-z0-9_]{0,80})=(.+?)(?:@(\d{1,9})-(\d{1,9}))?")
ReviewId = Annotated[UUID, typer.Argument(help="of the review")]


class Status(StrEnum):
    """The state of a review."""

    OPEN = "open"
    ACCEPTED = "accepted"
    CORRECTED = "corrected"


@reviews_app.command("list")
def list_(
    ctx: typer.Context,
    status: Annotated[Status, typer.Option(help="only these")] = Status.OPEN,
    limit: Annotated[int, typer.Option(min=1, max=200)] = 50,
    cursor: Annotated[str | None, typer.Option(help="next_cursor of the page before")] = None,
    as_json: JsonOption = False,
) -> None:
    """List reviews, those that wait longest first."""
    page = list_reviews(Instance.of(ctx).url, status.value, cursor, limit)
    if as_json:
        print_json(page)
        return
    table = Table(
        Column("review", no_wrap=True), "extraction", "status", "score", "since", "decided by"
    )
    for review in page["reviews"]:
        table.add_row(
            review["id"],
            review["extraction_id"],
            review["status"],
            f"{review['score']:.3f}",
            review["created_at"][:19],
            review["decided_by"] or "",
        )
    table_console().print(table)
    tell_more(page["next_cursor"])


@reviews_app.command()
def accept(ctx: typer.Context, review_id: ReviewId, as_json: JsonOption = False) -> None:
    """The extraction is right as it is."""
    _ended(accept_review(Instance.of(ctx).url, str(review_id)), as_json)


@reviews_app.command()
def correct(
    ctx: typer.Context,
    review_id: ReviewId,
    changes: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="FIELD=WORDS[@START-END]",
            help="the document's own words for a field, where they stand if they stand twice; "
            "repeat it for more",
        ),
    ] = None,
    absent: Annotated[
        list[str] | None,
        typer.Option("--absent", help="a field that the document does not state; repeatable"),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Put values that the document states in place of some that were extracted."""
    url = Instance.of(ctx).url
    if not changes and not absent:
        raise ValueError("name at least one field with --set or --absent")
    settings = [_given(change) for change in changes or ()]
    text = ""
    if any(start is None for _, _, start, _ in settings):
        text = text_of_review(url, str(review_id))
    corrections: dict[str, Any] = dict.fromkeys(absent or ())
    for field, words, start, end in settings:
        begin, stop = (start, end) if start is not None else _only_place(text, field, words)
        corrections.setdefault(field, [])
        if corrections[field] is None:
            raise ValueError(f"{field} is both set and absent")
        corrections[field].append({"value": words, "start": begin, "end": stop})
    _ended(correct_review(url, str(review_id), corrections), as_json)


def _given(change: str) -> tuple[str, str, int | None, int | None]:
    match = _SET.fullmatch(change)
    if match is None:
        raise ValueError(
            "write FIELD=WORDS or FIELD=WORDS@START-END, such as grade='grade 2@10-17'"
        )
    field, words, start, end = match.groups()
    return field, words, None if start is None else int(start), None if end is None else int(end)


def _only_place(text: str, field: str, words: str) -> tuple[int, int]:
    """Return where the words stand, if they occur exactly once."""
    count = text.count(words)
    if count != 1:
        raise ValueError(
            f"the words for {field} stand {count} times in the document: "
            + ("quote them as they stand there" if count == 0 else "add @START-END")
        )
    at = text.index(words)
    return at, at + len(words)


def _ended(review: dict[str, Any], as_json: bool) -> None:
    if as_json:
        print_json(review)
    else:
        say(f"{review['status']} by {review['decided_by']}")
