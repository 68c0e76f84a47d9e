"""Prints an answer for people in a terminal."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from rich.console import Group
from rich.panel import Panel
from rich.style import Style
from rich.table import Table
from rich.text import Text

from api_gateway.pages.wording import ABSTENTION
from cli.output.printing import Console


def render(console: Console, question: dict[str, Any]) -> None:
    """Print an answer: claims with their citations and both clocks, or the abstention."""
    answer = question["answer"]
    console.print(Panel(Text(question["question"], style="bold"), border_style="cyan"))
    if not answer["abstained"] or _leading(answer):  # the abstention says it otherwise
        console.print(_lead(answer))
    for remark in answer.get("remarks", ()):
        if not (answer["abstained"] and remark["code"] == "misspelt"):  # its detail has them
            console.print(Text(f"! {remark['detail']}", style="yellow"))
    if answer["abstained"]:
        body = Group(
            Text(ABSTENTION.get(answer["abstain_reason"], "No answer"), style="bold yellow"),
            Text(answer["abstain_detail"]),
            *_cure(answer["cure"]),
        )
        console.print(Panel(body, border_style="yellow", title="no answer"))
        if answer["conflicts"]:
            console.print(_conflicts(answer))
        return
    claims = {claim["claim_id"]: claim for claim in answer["claims"]}
    for section in answer["sections"]:
        left = [one for one in section["claim_ids"] if one not in _leading(answer)]
        if not left:
            continue
        console.print()
        console.print(Text(section["heading"], style="bold underline"))
        above = None
        for claim_id in left:
            evidence_id = claims[claim_id]["citations"][0]["evidence_id"]
            if evidence_id != above:
                console.print(_source(answer, evidence_id))
            console.print(_claim(claims[claim_id]))
            above = evidence_id
    if answer["conflicts"]:
        console.print(_conflicts(answer))
    console.print(_references(answer))
    if answer["images"]:
        console.print(_images(answer))
    _footer(console, question)


def _lead(answer: dict[str, Any]) -> Group:
    """Return the first line, as a table where it is one, where it stands, and how strong it is."""
    lead, level = answer.get("lead") or {}, answer.get("sufficiency") or {}
    claims = {claim["claim_id"]: claim for claim in answer.get("claims", ())}
    lines: list[Any] = [Text(lead["text"], style="bold")] if lead else []
    if lead.get("table"):
        grid = Table(*lead["table"]["columns"])
        for row in lead["table"]["rows"]:
            grid.add_row(*map(Text, row))
        lines = [grid]
    for claim_id in _leading(answer):
        claim = claims[claim_id]
        lines += [_source(answer, claim["citations"][0]["evidence_id"]), *_places(claim)]
    if level.get("score") is not None:
        lines.append(Text(f"Evidence: {level['level']} ({level['score']} of 100)", style="dim"))
    return Group(*lines)


def _leading(answer: dict[str, Any]) -> list[str]:
    """Return the ids of the first line's claims, which are not printed again."""
    return list((answer.get("lead") or {}).get("claim_ids", ()))


def _cure(cure: dict[str, Any] | str | None) -> Iterator[Text]:
    detail = cure["detail"] if isinstance(cure, dict) else cure or ""
    yield Text.assemble(("What would help: ", "bold"), detail)
    if isinstance(cure, dict) and cure["action"] == "add_sources":
        yield Text("To add them: attest ingest FILE")


def _source(answer: dict[str, Any], evidence_id: str) -> Text:
    """Return the title of the document of the claims below, with its reference number if any."""
    title = next(r["title"] for r in answer["evidence"] if r["evidence_id"] == evidence_id)
    numbers = {entry["evidence_id"]: entry["n"] for entry in answer["references"]}
    number = numbers.get(evidence_id)
    return Text(f"[{number}] {title}" if number else title, style="cyan")


_MARKS = {
    "verified": ("✓", "green"),
    "partially_verified": ("~", "yellow"),
    "conflicting": ("≠", "magenta"),
}


def _claim(claim: dict[str, Any]) -> Group:
    mark, color = _MARKS[claim["verification_status"]]
    return Group(Text.assemble((f" {mark} ", color), claim["text"]), *_places(claim))


def _places(claim: dict[str, Any]) -> list[Text]:
    return [
        Text(
            f"   {place['quote_verdict']} · version {place['version']} · {place['citation']}"
            + (f" · {place['evidence_id']} says so too" if n else ""),
            style="dim",
        )
        for n, place in enumerate(claim["citations"])
    ]


def _conflicts(answer: dict[str, Any]) -> Group:
    """Return both sides of each conflict in their own words, and which of them stands."""
    titles = {record["evidence_id"]: record["title"] for record in answer["evidence"]}
    lines = [Text(), Text("Sources that contradict each other", style="bold underline")]
    for conflict in answer["conflicts"]:
        about = " · ".join(filter(None, (conflict["subject"], conflict["outcome"])))
        decided = f"decided by {conflict['rule']}" if conflict["resolved"] else "undecided"
        lines.append(Text.assemble((" ≠ ", "magenta"), f"{about} ({decided})"))
        for side in conflict["sides"]:
            key = side["evidence_id"]
            stands = " stands" if conflict["stands"] == key else ""
            words = " ".join(side["quote"].split())
            title = _side_title(side) or titles.get(key, key)
            lines.append(Text(f"     {title}{stands}: “{words}”", style="dim"))
            if side.get("source"):
                lines.append(_side_source(side))
    return Group(*lines)


def _side_title(side: dict[str, Any]) -> str:
    """Return the title of a side's document; empty in old answers, whose sides have none."""
    title, earlier = side.get("title"), "@" in side["evidence_id"]
    return f"{title}{' (an earlier version)' if earlier else ''}" if title else ""


def _side_source(side: dict[str, Any]) -> Text:
    """Return the source with both clocks; text that it no longer states has not been checked."""
    source, age = side["source"], side.get("clocks")
    line = f"       {source['name']} · {_published(age or source)}"
    if not age:
        return Text(line, style="dim")
    return Text.assemble(f"{line} · checked ", _checked_text(age), style="dim")


def _references(answer: dict[str, Any]) -> Group:
    records = {record["evidence_id"]: record for record in answer["evidence"]}
    lines = [Text(), Text("References", style="bold underline")]
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
    """Return the style of a title that links to its page (EB-8.1). The address is printed below it
    as well, for terminals without links."""
    return Style(bold=True, link=entry["url"])


def _images(answer: dict[str, Any]) -> Group:
    lines = [Text(), Text("Images", style="bold underline")]
    for image in answer["images"]:
        by = " · ".join(filter(None, (image["source"], image.get("license"))))
        lines += [
            Text.assemble(" ", (image["title"], _link(image))),
            Text(f"     {by}"),
            Text(f"     {image['url']}", style="blue"),
        ]
    return Group(*lines)


def _notices(record: dict[str, Any]) -> list[str]:
    """Return what sources state about a cited work, such as a retraction, each notice once."""
    texts = (
        " ".join(
            filter(
                None, (notice["kind"].replace("_", " "), notice["notice_id"], notice["stated_on"])
            )
        )
        for notice in record.get("standing", {}).get("notices", ())
    )
    return list(dict.fromkeys(texts))


def _published(age: dict[str, Any]) -> str:
    """Return the publication date as precisely as the source states it."""
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
    counts = answer["verification_summary"]
    took = "?"
    if question.get("finished_at"):
        begun = datetime.fromisoformat(question["created_at"])
        ended = datetime.fromisoformat(question["finished_at"])
        took = f"{(ended - begun).total_seconds() * 1000:.0f} ms"
    provenance = answer["provenance"]
    if fallback := provenance.get("fallback"):
        console.print(Text(fallback["note"], style="yellow"))
    hedged = f", {counts['partial_count']} hedged" if counts["partial_count"] else ""
    by = " ".join(filter(None, (provenance["generator"], provenance.get("model"))))
    stale = stale_sources(answer)
    console.print(
        Text.assemble(
            f"{counts['verified_count']} verified{hedged}, {counts['unverified_count']} withheld · "
            f"{by} · {took} · question {question['id']}",
            (f" · stale: {', '.join(stale)}" if stale else "", "yellow"),
            style="dim",
        )
    )


def stale_sources(answer: dict[str, Any]) -> list[str]:
    """Return the kinds of sources of an answer that were not checked within their limit."""
    kinds: list[str] = answer.get("freshness_summary", {}).get("stale_sources", [])
    return kinds
