"""`attest search`: shows the passages that the retrieve stage would find."""

from typing import Annotated

import typer

from cli.commands.evidence.ingest import find, passage_body, show
from cli.commands.questions.ask import asked
from cli.instance.context import Instance, JsonOption, print_json
from cli.instance.instance import resolve
from cli.options import (
    AsOfOption,
    DecisionsOption,
    DiseasesOption,
    SinceOption,
    SourceTypesOption,
    UntilOption,
)
from cli.output.printing import say, say_beside
from store.documents import browse


def search(
    ctx: typer.Context,
    text: Annotated[str, typer.Argument(help="what to look for")],
    k: Annotated[int, typer.Option("--k", min=1, max=50)] = 5,
    as_json: JsonOption = False,
    as_of: AsOfOption = None,
    source_type: SourceTypesOption = None,
    disease: DiseasesOption = None,
    decision: DecisionsOption = None,
    since: SinceOption = None,
    until: UntilOption = None,
) -> None:
    """Show the passages that the retrieve stage would find."""
    request = asked(
        text,
        as_of=as_of,
        source_types=source_type,
        diseases=disease,
        decisions=decision,
        published_from=since,
        published_to=until,
    )
    instance = Instance.of(ctx)
    found = find(resolve(instance.settings), instance.store, request.question, request.options(), k)
    passages = found.passages
    if found.without:
        say_beside(f"searched without {', '.join(found.without)}, which is away")
    if as_json:
        print_json([passage_body(passage) for passage in passages])
    elif passages:
        show(passages)
    else:
        with instance.store.reading() as session:
            is_empty = browse.holds_nothing(session)
        say(
            "nothing is held yet: attest ingest FILES, or follow a source (attest refresh)"
            if is_empty
            else "nothing that is held speaks to this"
        )
