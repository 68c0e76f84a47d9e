"""`attest verify`: checks any text with the verifier, and prints the result for people."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rich.text import Text

from cli.output.printing import Console
from store.core.plurals import counted
from workers.file_formats import UnreadableDocument, read
from workers.verify.pasted.report import checked
from workers.verify.pasted.sources import sent_along
from workers.verify.pasted.statements import TooLong, statements

_MARKS = {
    "supported": ("✓", "green"),
    "contradicted": ("✗", "red"),
    "not_stated": ("?", "dim"),
}
_NOT_JUDGED = {
    "heading": " (a heading, not judged)",
    "question": " (a question, not judged)",
    "reference": " (names a source, not judged)",
    "no_statement": " (states nothing, not judged)",
    "other_language": " (not in English, not judged)",
}
_GOOD_QUOTATIONS = ("verbatim", "normalized")


class VerifyFailed(RuntimeError):
    """The text could not be checked; the message says what to do."""


def text_of(path: Path) -> str:
    """Return the text of a file, in any supported format.

    Raises:
        VerifyFailed: it cannot be read.
    """
    return "\n\n".join(document["text"] for document in _documents(path))


def documents_in(corpus: Path) -> list[dict[str, Any]]:
    """Return the documents of a file or of all files of a folder, in the form of a request.

    Raises:
        VerifyFailed: there is no document, or a file cannot be read.
    """
    if not corpus.exists():
        raise VerifyFailed(f"there is no {corpus}")
    files = (
        sorted(file for file in corpus.rglob("*") if file.is_file())
        if corpus.is_dir()
        else [corpus]
    )
    documents = [document for file in files for document in _documents(file)]
    if not documents:
        raise VerifyFailed(f"{corpus} holds no document")
    return documents


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


def verify_here(text: str, documents: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Check a text against documents in this process, without a server.

    Raises:
        VerifyFailed: the text is too long.
    """
    try:
        parsed = statements(text)
        sources = sent_along(documents, parsed)
    except TooLong as error:
        raise VerifyFailed(str(error)) from error
    return checked(
        text,
        parsed,
        sources,
        against="documents",
        at=datetime.now(UTC),
    )


def anything_checked(result: dict[str, Any]) -> bool:
    """Return true if a claim or quotation of the text was compared with a source."""
    return any(statement["claims"] or statement["quotations"] for statement in result["statements"])


def holds(result: dict[str, Any]) -> bool:
    """Return true if every claim is verified, every quotation stands and every identifier is held;
    false for a text in which nothing was checked."""
    return (
        anything_checked(result)
        and all(
            statement["verification_status"] == "verified"
            for statement in result["statements"]
            if statement["claims"]
        )
        and all(
            quoted["quote_verdict"] in _GOOD_QUOTATIONS
            for statement in result["statements"]
            for quoted in statement["quotations"]
        )
        and all(identifier["state"] == "held" for identifier in result["identifiers"])
    )


def _mark(line: dict[str, Any]) -> tuple[str, str]:
    """Return the mark of a statement; a quotation that no source has is as bad."""
    quoted = {quotation["quote_verdict"] for quotation in line["quotations"]}
    if not quoted <= {*_GOOD_QUOTATIONS, "unchecked"}:
        return _MARKS["contradicted"]
    return _MARKS.get(line["relation"], ("·", "dim"))


def _warnings(result: dict[str, Any]) -> Iterator[str]:
    """What became of the text and its sources by their own words, and what was not searched."""
    if away := result.get("without"):
        yield f"Compared without {', '.join(away)}, which was away"
    stated = [("the text", result["fate"])]
    stated += [(one["title"] or one["source"], one.get("fate")) for one in result["sources"]]
    for name, fate in stated:
        if fate:
            yield f"{name}: says of itself: {fate.replace('_', ' ')}"


def render(console: Console, result: dict[str, Any]) -> None:
    """Print each statement with its verdict and the passage it rests on, or why it has none."""
    titles = {entry["source"]: entry["title"] for entry in result["sources"]}
    for line in result["statements"]:
        words = " ".join(line["text"].split())
        if not any(map(str.isalnum, words)):
            continue
        mark, color = _mark(line)
        reason = _NOT_JUDGED.get(line.get("not_judged"), "")
        console.print(Text.assemble((f" {mark} ", color), words, (reason, "dim")))
        if line["reason"]:
            told = f"     {line['relation'].replace('_', ' ')}: {line['reason']}"
            console.print(Text(told, style=color))
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
    for words in _warnings(result):
        console.print(Text(f" ! {words}", style="yellow"))
    for entry in result["identifiers"]:
        if entry["state"] != "held":
            console.print(
                Text(
                    f" ! {entry['identifier']}: {entry['state'].replace('_', ' ')}", style="yellow"
                )
            )
    if not anything_checked(result):
        console.print()
        console.print(
            "Nothing was checked: the text holds no claim and no quotation.", style="bold red"
        )
        return
    counts = result["summary"]
    console.print()
    console.print(
        f"{counted(counts['claims'], 'claim')}: "
        + ", ".join(f"{counts['relations'].get(one, 0)} {one.replace('_', ' ')}" for one in _MARKS),
        style="bold",
    )
