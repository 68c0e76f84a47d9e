"""`attest extract FILE`: the fields of a clinical document, each with the words that state it."""

from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from cli.client.extractions import ExtractFailed, extract_there
from cli.client.gateway import GatewayRefused, NoGateway
from cli.client.waiting import on_stderr
from cli.instance.context import Instance, JsonOption, print_json
from cli.output.printing import Console
from store.core.settings import Settings
from workers.extract.documents import Part
from workers.extract.intake.files import take_in
from workers.extract.intake.readability import Unreadable
from workers.extract.intake.refusals import IntakeRefused
from workers.extract.loop.extraction import extract_text
from workers.extract.loop.loop import Iteration
from workers.extract.loop.proposing import Ask
from workers.extract.loop.steps import TooLong, require_length
from workers.extract.rubrics import DOCUMENT_TYPES, policy
from workers.language_model import model_for
from workers.language_model.masking import through_masks

__all__ = ["ExtractFailed", "extract"]

SHOWN = 80
"""Characters of a value's words that the table shows."""


def extract(
    ctx: typer.Context,
    file: Annotated[
        Path,
        typer.Argument(help="a clinical document: text, Markdown, HTML, PDF, PNG, JPEG, TIFF"),
    ],
    profile: Annotated[
        str, typer.Option(help=f"how good is good enough: {', '.join(policy().profiles)}")
    ] = "batch",
    document_type: Annotated[
        str | None, typer.Option("--type", help=f"if known: {', '.join(DOCUMENT_TYPES)}")
    ] = None,
    here: Annotated[bool, typer.Option("--here", help="in this process, whatever runs")] = False,
    rules_only: Annotated[
        bool, typer.Option("--rules-only", help="in this process, and ask no language model")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Extract a clinical document: by rules, and with a key by the language model too.

    A running instance does it and keeps it; where none runs, this process does.
    """
    console = Console(stderr=True)

    def tell(kind: str, number: int, score: float) -> None:
        if not as_json:
            console.print(f"{kind}: iteration {number}, score {score:.3f}")

    instance = Instance.of(ctx)
    try:
        url = None if here or rules_only else instance.url_if_any
        if url is None:
            settings = None if rules_only else instance.settings
            body, text = _here(file, profile, document_type, settings, tell)
        else:
            body, text = extract_there(
                url,
                file,
                profile=profile,
                document_type=document_type,
                tell=lambda iteration: tell(
                    iteration["type"], iteration["iteration"], iteration["score"]
                ),
                say=on_stderr,
            )
    except NoGateway as error:
        raise ExtractFailed(f"{error} (or add --here)") from error
    except GatewayRefused as error:
        raise ExtractFailed(str(error.about(file.name))) from error
    if body.get("outcome") == "unreadable":
        raise ExtractFailed(_advice(body["error"], body["readability"]["issues"], body))
    if as_json:
        print_json(body)
    else:
        render(Console(), text, body)


def _advice(error: str, issues: list[str], body: dict[str, Any]) -> str:
    parts = [part for part in (*issues, *body["suggestions"]) if part != error]
    return f"{error}: {'; '.join(parts)}"


def _here(
    file: Path, profile: str, document_type: str | None, settings: Settings | None, tell: Any
) -> tuple[dict[str, Any], str]:
    """Extract in this process; return the result and the text that its span offsets refer to.

    Args:
        settings: those of the language model; None for rules alone.

    Raises:
        ExtractFailed: the document could not be extracted.
    """

    def each(part: Part, one: Iteration) -> None:
        tell(part.document_type, one.number, one.score)

    try:
        document = take_in(file.read_bytes(), filename=file.name)
        require_length(document.text)
        extraction = extract_text(
            document.text,
            profile=profile,
            document_type=document_type,
            ask=None if settings is None else _model(settings, document.text),
            progress=each,
            readability=document.readability,
        )
    except OSError as error:
        raise ExtractFailed(f"{file}: {error.strerror}") from error
    except (IntakeRefused, TooLong) as error:
        raise ExtractFailed(f"{file.name}: {error}") from error
    except Unreadable as error:
        advice = "; ".join((*error.readability.issues, *error.readability.suggestions))
        raise ExtractFailed(f"{error}: {advice}") from error
    return extraction.as_body(), document.text


def _model(settings: Settings, text: str) -> Ask | None:
    model = model_for(settings)
    if model is None or not settings.mask_identifiers:
        return None if model is None else model.propose
    return partial(through_masks, model.propose, about=text)


def render(console: Console, text: str, body: dict[str, Any]) -> None:
    """Print what is stated as a table, with its words; below it what is not, and why."""
    table = Table("field", "status", "value", "start", "end")
    unstated: dict[str, list[str]] = {}
    for name, field in body["fields"].items():
        if name == "raw_text":
            continue
        if field["status"] == "not_present":
            unstated.setdefault(field.get("reason") or "no value was read", []).append(name)
            continue
        places = field.get("items") or ([field] if field["start"] is not None else [])
        for item in places:
            words = " ".join(text[item["start"] : item["end"]].split())[:SHOWN]
            table.add_row(name, field["status"], words, str(item["start"]), str(item["end"]))
        if not places:
            table.add_row(name, field["status"], "", "", "")
    console.print(table)
    for reason, names in unstated.items():
        console.print(f"not stated, {reason}: {', '.join(names)}", highlight=False)
    console.print(
        f"type {body['type']}, score {body['score']:.3f}, iterations {body['iterations']}",
        highlight=False,
    )
    if body["needs_review"]:
        console.print("A person should look at it.", style="yellow")
