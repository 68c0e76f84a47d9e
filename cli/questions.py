"""`attest ask` and the rendering of an answer for people."""

import time
from datetime import datetime
from typing import Any

import httpx
from pydantic import ValidationError
from rich.console import Console, Group
from rich.markup import escape
from rich.panel import Panel
from rich.style import Style
from rich.text import Text

from api_gateway.filters import Filters
from api_gateway.schemas import QuestionIn
from cli.gateway import call

POLL_SECONDS = 20
_OPTIONS = {
    "as_of": "--as-of",
    "source_types": "--source-type",
    "diseases": "--disease",
    "decisions": "--decision",
    "published_from": "--since",
    "published_to": "--until",
}


class AskFailed(RuntimeError):
    """The answer did not come in time."""


def asked(text: str, **options: Any) -> QuestionIn:
    """The question with what was given of its options, those of its filters among them.

    Raises:
        ValueError: something does not fit; names the option of the command and what it takes.
    """
    given = {name: value for name, value in options.items() if value not in (None, [])}
    filters = {name: given.pop(name) for name in Filters.model_fields if name in given}
    try:
        return QuestionIn(question=text, filters=filters or None, **given)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        name = next((_OPTIONS[part] for part in first["loc"] if part in _OPTIONS), first["loc"][0])
        raise ValueError(f"{name}: {first['msg'].removeprefix('Value error, ')}") from None


def ask(url: str, body: dict[str, Any], *, timeout_seconds: float = 120.0) -> dict[str, Any]:
    """Submit a question and wait for its end; gives the question resource.

    Raises:
        GatewayRefused: with the gateway's own words, or what to do.
        AskFailed: there is no answer yet.
    """
    encrypted = url.startswith("https:")  # loading certificates takes longer than an answer
    with httpx.Client(base_url=url, timeout=POLL_SECONDS + 10, verify=encrypted) as client:
        accepted = call(client, "POST", "/v1/questions", json=body)
        deadline = time.monotonic() + timeout_seconds
        while time.monotonic() < deadline:
            path = f"/v1/questions/{accepted['id']}"
            question = call(client, "GET", path, params={"wait": POLL_SECONDS})
            if question["status"] in ("answered", "failed"):
                return question
    raise AskFailed(f"no answer within {timeout_seconds:.0f} s; question {accepted['id']} goes on")


def render(console: Console, question: dict[str, Any]) -> None:
    """Print an answer: claims with their citations and both clocks, or the abstention."""
    answer = question["answer"]
    console.print(Panel(Text(question["question"], style="bold"), border_style="cyan"))
    if answer["abstained"]:
        body = Text.assemble(
            (f"Abstained: {answer['abstain_reason']}\n", "bold yellow"),
            f"{answer['abstain_detail']}\n",
            ("What would cure it: ", "bold"),
            _cure(answer["cure"]),
        )
        console.print(Panel(body, border_style="yellow", title="no answer"))
        return
    claims = {claim["claim_id"]: claim for claim in answer["claims"]}
    for section in answer["sections"]:
        console.print(f"\n[bold underline]{escape(section['heading'])}[/]")
        above = None
        for claim_id in section["claim_ids"]:
            evidence_id = claims[claim_id]["citations"][0]["evidence_id"]
            if evidence_id != above:
                console.print(_source(answer, evidence_id))
            console.print(_claim(claims[claim_id]))
            above = evidence_id
    console.print(_references(answer))
    if answer["images"]:
        console.print(_images(answer))
    _footer(console, question)


def _cure(cure: dict[str, Any] | str | None) -> str:
    return cure["detail"] if isinstance(cure, dict) else str(cure or "")


def _source(answer: dict[str, Any], evidence_id: str) -> Text:
    """The document that the claims below it come from; its number, if it has a public page."""
    title = next(r["title"] for r in answer["evidence"] if r["evidence_id"] == evidence_id)
    numbers = {entry["evidence_id"]: entry["n"] for entry in answer["references"]}
    number = numbers.get(evidence_id)
    return Text(f"[{number}] {title}" if number else title, style="cyan")


def _claim(claim: dict[str, Any]) -> Group:
    place = claim["citations"][0]
    mark = "✓" if claim["verification_status"] == "verified" else "?"
    head = Text.assemble((f" {mark} ", "green"), claim["text"])
    span = f"   {place['quote_verdict']} · version {place['version']} · {place['citation']}"
    return Group(head, Text(span, style="dim"))


def _references(answer: dict[str, Any]) -> Group:
    records = {record["evidence_id"]: record for record in answer["evidence"]}
    lines: list[Text] = [Text("\nReferences", style="bold underline")]
    for entry in answer["references"]:
        record = records[entry["evidence_id"]]
        age = record["clocks"]
        by = " · ".join(filter(None, (entry["authors"], entry["source"], _published(age))))
        lines += [
            Text.assemble((f" [{entry['n']}] ", "cyan"), (entry["title"], _link(entry))),
            Text(f"     {by}"),
            Text.assemble(
                f"     [{'] ['.join(entry['badges'])}]  checked ", _checked_text(age), style="dim"
            ),
            Text(f"     {entry['url']}", style="blue"),
            *(Text(f"     {line}", style="yellow") for line in _notices(record)),
        ]
    if not answer["references"]:
        lines.append(Text(" none with a page of its own; the documents are named above"))
    return Group(*lines)


def _link(entry: dict[str, Any]) -> Style:
    """How a title is written that opens its page (EB-8.1); the page stands below it as well, for
    terminals without links."""
    return Style(bold=True, link=entry["url"])


def _images(answer: dict[str, Any]) -> Group:
    lines = [Text("\nImages", style="bold underline")]
    for image in answer["images"]:
        by = " · ".join(filter(None, (image["source"], image.get("license"))))
        lines += [
            Text.assemble(" ", (image["title"], _link(image))),
            Text(f"     {by}"),
            Text(f"     {image['url']}", style="blue"),
        ]
    return Group(*lines)


def _notices(record: dict[str, Any]) -> list[str]:
    """What sources say became of a cited work, each notice once."""
    found = (
        " ".join(filter(None, (one["kind"].replace("_", " "), one["notice_id"], one["stated_on"])))
        for one in record.get("standing", {}).get("notices", ())
    )
    return list(dict.fromkeys(found))


def _published(age: dict[str, Any]) -> str:
    """The publication date as far as the source states it."""
    if age["published_at"] is None:
        return "publication date unknown"
    length = {"year": 4, "month": 7}.get(age["published_precision"], 10)
    return f"published {age['published_at'][:length]}"


def _checked_text(age: dict[str, Any]) -> Text:
    hours = age["freshness_hours"]
    ago = f"{hours:.0f} h ago" if hours < 72 else f"{hours / 24:.0f} d ago"
    if age["sla_hours"] is None:
        return Text(f"{ago}, fresh by version")
    limit = f"{age['sla_hours']:g} h" if age["sla_hours"] <= 48 else f"{age['sla_hours'] / 24:g} d"
    state, style = ("stale", "yellow") if age["stale"] else ("fresh", "")
    return Text.assemble(f"{ago}, ", (state, style), f" (SLA {limit})")


def _footer(console: Console, question: dict[str, Any]) -> None:
    answer = question["answer"]
    counts, level = answer["verification_summary"], answer["sufficiency"]
    took = "?"
    if question.get("finished_at"):
        begun = datetime.fromisoformat(question["created_at"])
        ended = datetime.fromisoformat(question["finished_at"])
        took = f"{(ended - begun).total_seconds() * 1000:.0f} ms"
    console.print(
        Text(
            f"{counts['verified_count']} verified, {counts['unverified_count']} withheld · "
            f"evidence {level['level']} ({level['score']}/100) · "
            f"{answer['provenance']['generator']} · {took} · question {question['id']}",
            style="dim",
        )
    )
