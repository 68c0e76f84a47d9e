"""`attest extract FILE`: the fields of a clinical document, each with the words that state it."""

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from cli.context import Instance, JsonOption, print_json
from store.settings import Settings
from workers.extract.documents import Part
from workers.extract.extraction import Extraction, extract_text
from workers.extract.loop import Iteration
from workers.extract.proposing import Ask
from workers.extract.readability import Unreadable
from workers.extract.rubrics import DOCUMENT_TYPES, policy
from workers.ingest.readers import UnreadableDocument, read
from workers.language_model import model_for

SHOWN = 80
"""Characters of a value's words that the table shows."""


class ExtractFailed(RuntimeError):
    """The document could not be extracted; the message says what to do."""


def extract(
    ctx: typer.Context,
    file: Annotated[Path, typer.Argument(help="a clinical document: text, Markdown, HTML, PDF")],
    profile: Annotated[
        str, typer.Option(help=f"how good is good enough: {', '.join(policy().profiles)}")
    ] = "batch",
    document_type: Annotated[
        str | None, typer.Option("--type", help=f"if known: {', '.join(DOCUMENT_TYPES)}")
    ] = None,
    rules_only: Annotated[
        bool, typer.Option("--rules-only", help="ask no language model, key or not")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Extract a clinical document: by rules, and with a key by the language model too."""
    console = Console(stderr=True)

    def tell(part: Part, one: Iteration) -> None:
        if not as_json:
            console.print(
                f"{part.document_type}: iteration {one.number}, score {one.score:.3f}",
                highlight=False,
            )

    settings = Instance.of(ctx).settings
    ask = None if rules_only else _model(settings)
    try:
        found = extract_text(
            text_of(file), profile=profile, document_type=document_type, ask=ask, progress=tell
        )
    except Unreadable as error:
        advice = "; ".join((*error.readability.issues, *error.readability.suggestions))
        raise ExtractFailed(f"{error}: {advice}") from error
    if as_json:
        print_json(found.as_body())
    else:
        render(Console(), text_of(file), found)


def text_of(path: Path) -> str:
    """The text of a file, as it stands there where it is text.

    Raises:
        ExtractFailed: it cannot be read.
    """
    try:
        if path.suffix.lower() in (".txt", ".text", ""):
            return path.read_text(encoding="utf-8-sig")
        return "\n\n".join(one.text for one in read(path.read_bytes(), filename=path.name))
    except OSError as error:
        raise ExtractFailed(f"{path}: {error.strerror}") from error
    except (UnreadableDocument, UnicodeDecodeError) as error:
        raise ExtractFailed(f"{path.name}: {error}") from error


def _model(settings: Settings) -> Ask | None:
    model = model_for(settings)
    return None if model is None else model.propose


def render(console: Console, text: str, found: Extraction) -> None:
    """The fields as a table for people, with the words that state each."""
    table = Table("field", "status", "value", "start", "end")
    for name, one in found.fields.items():
        if name == "raw_text":
            continue
        for item in one.items:
            words = " ".join(text[item.start : item.end].split())[:SHOWN]
            table.add_row(name, one.status.value, words, str(item.start), str(item.end))
        if not one.items:
            table.add_row(name, one.status.value, "", "", "")
    console.print(table)
    verdict: dict[str, Any] = {
        "type": found.classification.document_type,
        "score": f"{found.score:.3f}",
        "iterations": found.iterations,
    }
    console.print(", ".join(f"{key} {value}" for key, value in verdict.items()), highlight=False)
    if found.needs_review:
        console.print("A person should look at it.", style="yellow")
