"""`attest verify`: a text of anybody's through the gate, and what was found of it for people."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
from rich.console import Console
from rich.text import Text

from cli.gateway import call
from cli.tables import counted
from cli.waiting import POLL_SECONDS, Say, Work, nothing
from store.settings import Settings
from workers.readers import UnreadableDocument, read
from workers.verify.pasted.report import checked
from workers.verify.pasted.sources import sent_along
from workers.verify.pasted.statements import TooLong, statements
from workers.verify.verifier import verifier_of

_MARKS = {
    "verified": ("✓", "green"),
    "partially_verified": ("~", "yellow"),
    "conflicting": ("≠", "magenta"),
    "unverified": ("✗", "red"),
}
_NOT_JUDGED = {
    "heading": " (a heading, not judged)",
    "question": " (a question, not judged)",
    "reference": " (names a source, not judged)",
    "no_statement": " (states nothing, not judged)",
}
_GOOD_QUOTATIONS = ("verbatim", "normalized")


class VerifyFailed(RuntimeError):
    """The text could not be checked; the message says what to do."""


def text_of(path: Path) -> str:
    """The text of a file, in any format that is read.

    Raises:
        VerifyFailed: it cannot be read.
    """
    return "\n\n".join(one["text"] for one in _documents(path))


def documents_in(corpus: Path) -> list[dict[str, Any]]:
    """The documents of a file or of all files of a folder, as they are sent along.

    Raises:
        VerifyFailed: there is none, or one cannot be read.
    """
    if not corpus.exists():
        raise VerifyFailed(f"there is no {corpus}")
    files = (
        sorted(one for one in corpus.rglob("*") if one.is_file()) if corpus.is_dir() else [corpus]
    )
    found = [document for one in files for document in _documents(one)]
    if not found:
        raise VerifyFailed(f"{corpus} holds no document")
    return found


def _documents(path: Path) -> Iterator[dict[str, Any]]:
    try:
        records = read(path.read_bytes(), filename=path.name)
    except OSError as error:
        raise VerifyFailed(f"{path}: {error.strerror}") from error
    except UnreadableDocument as error:
        raise VerifyFailed(f"{path.name}: {error}") from error
    for record in records:
        known = record.identifiers.model_dump(exclude_none=True)
        kinds = ("pmid", "pmcid", "doi", "nct_id")
        yield {
            "title": record.title,
            "text": record.text,
            "identifiers": {kind: known[kind] for kind in kinds if kind in known},
        }


def verify_here(
    settings: Settings, text: str, documents: Sequence[dict[str, Any]]
) -> dict[str, Any]:
    """Check a text against documents in this process: no server is needed.

    Raises:
        VerifyFailed: the text is too long.
    """
    try:
        found = statements(text)
    except TooLong as error:
        raise VerifyFailed(str(error)) from error
    return checked(
        text,
        found,
        sent_along(documents, found),
        verifier_of(settings),
        against="documents",
        at=datetime.now(UTC),
    )


def verify_there(
    url: str, text: str, *, timeout_seconds: float = 300.0, say: Say = nothing
) -> dict[str, Any]:
    """Check a text against the evidence that a running instance holds.

    Args:
        say: told its id, what it waits for, and on Ctrl-C that it goes on.

    Raises:
        VerifyFailed: the gateway refused it, the check died, or it took too long.
    """
    with httpx.Client(
        base_url=url, timeout=POLL_SECONDS + 10, verify=url.startswith("https")
    ) as client:
        accepted = call(client, "POST", "/v1/verifications", json={"text": text})
        with Work(client, "verification", accepted["id"], say) as work:
            work.say_id()
            while not work.over(timeout_seconds):
                found = work.look()
                if found["status"] == "done":
                    return {"id": accepted["id"], **found["result"]}
                if found["status"] == "failed":
                    raise VerifyFailed(found["error"]["detail"])
    raise VerifyFailed(f"no result within {timeout_seconds:.0f} s; {work.goes_on}")


def anything_checked(result: dict[str, Any]) -> bool:
    """Whether the text had a claim or a quotation that was compared with a source."""
    return any(one["claims"] or one["quotations"] for one in result["statements"])


def holds(result: dict[str, Any]) -> bool:
    """Whether every claim is verified, every quotation stands and every identifier is held; a text
    in which nothing was checked does not hold."""
    return (
        anything_checked(result)
        and all(
            one["verification_status"] == "verified"
            for one in result["statements"]
            if one["claims"]
        )
        and all(
            quoted["quote_verdict"] in _GOOD_QUOTATIONS
            for one in result["statements"]
            for quoted in one["quotations"]
        )
        and all(one["state"] == "held" for one in result["identifiers"])
    )


def render(console: Console, result: dict[str, Any]) -> None:
    """Print each statement with its verdict and the passage it rests on, or why it has none."""
    titles = {one["source"]: one["title"] for one in result["sources"]}
    for line in result["statements"]:
        words = " ".join(line["text"].split())
        if not any(map(str.isalnum, words)):
            continue
        mark, color = _MARKS.get(line["verification_status"], ("·", "dim"))
        reason = _NOT_JUDGED.get(line.get("not_judged"), "")
        console.print(Text.assemble((f" {mark} ", color), words, (reason, "dim")))
        for finding in line["findings"]:
            console.print(Text(f"     {finding['code']}: {finding['detail']}", style="red"))
        for quoted in line["quotations"]:
            if quoted["quote_verdict"] not in _GOOD_QUOTATIONS:
                words = f"     quotation {quoted['quote_verdict']}: {quoted['detail']}"
                console.print(Text(words, style="red"))
        for place in line["citations"]:
            title = titles.get(place["source"]) or place["source"]
            passage = " ".join(place["quote"].split())
            console.print(
                Text(f"     {title}, {place['start']}-{place['end']}: {passage}", style="dim")
            )
    for one in result["identifiers"]:
        if one["state"] != "held":
            console.print(
                Text(f" ! {one['identifier']}: {one['state'].replace('_', ' ')}", style="yellow")
            )
    if not anything_checked(result):
        console.print(
            "\nNothing was checked: the text holds no claim and no quotation.", style="bold red"
        )
        return
    counts = result["summary"]
    console.print(
        f"\n{counted(counts['claims'], 'claim')}: {counts['verified_count']} verified, "
        f"{counts['partial_count']} partially, {counts['unverified_count']} not",
        style="bold",
    )
