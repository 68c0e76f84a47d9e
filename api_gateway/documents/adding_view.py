"""Adding evidence: makes a record of a form, and views of what was sent. Pure."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any
from uuid import UUID

from api_gateway.pages.links import evidence_link
from api_gateway.pages.wording import Badge
from api_gateway.problems import GIVEN_UP, FieldError, Problem
from knowledge.feeds.sources import source_policies
from store.documents.submissions import SentBatch, SentDocument, SentItem

SAMPLES = Path(__file__).resolve().parents[2] / "samples" / "records"
"""The sample records; a release that is installed without them offers none."""
MOST_FILES = 20
"""Our choice, per form; a folder of hundreds is for `attest ingest`."""
MAX_PASTED_CHARS = 300_000
"""Our choice: the same as for a clinical document; a longer text must be sent as a file."""
MAX_LINE_CHARS = 1000
"""The most characters of a title or other single line, see `store.documents.records.Line`."""
SUFFIXES = ".txt,.text,.md,.markdown,.html,.htm,.xhtml,.pdf,.json,.jsonl,.ndjson"
IDENTIFIERS: Mapping[str, str] = {
    "pmid": "PMID",
    "pmcid": "PMCID",
    "doi": "DOI",
    "nct_id": "ClinicalTrials.gov number",
    "registry_id": "Number of another registry",
}
LINES: Mapping[str, str] = {
    "publisher": "Journal, registry or organization",
    "publication_type": "Kind of publication",
    "version_label": "Version of a guideline",
}
LABELS: Mapping[str, str] = {
    "source_type": "What it is",
    "file": "Files",
    "text": "Text",
    "title": "Title",
    "published": "Published",
    "url": "Web address",
    "authors": "Authors",
    **LINES,
    **IDENTIFIERS,
}
"""The labels of the form's fields."""
DETAILS = ("title", "published", "url", "authors", *LINES, *IDENTIFIERS)
"""The form's fields that describe a text."""
IN_WORDS: Mapping[str, str] = {
    "title": f"has 1 to {MAX_LINE_CHARS} characters",
    "published": "is no date: write it as 2026-01-31, 2026-01 or 2026",
    "url": "begins with http:// or https:// and has no spaces",
    "authors": f"has one name a line, of up to {MAX_LINE_CHARS} characters",
    "pmid": "is a number of up to nine digits",
    "pmcid": "is PMC and a number",
    "doi": "begins with 10. and a number, then a slash, without spaces",
    "nct_id": "is NCT and eight digits",
    "registry_id": "is the number of ISRCTN, ACTRN, UMIN, jRCT or EUCTR, such as ISRCTN and eight "
    "digits",
    **dict.fromkeys(LINES, f"has up to {MAX_LINE_CHARS} characters"),
}
"""The valid form of each field, in words for people; programs get the pattern."""
_BEFORE_NUMBERS = re.compile(r"(?:https?://(?:dx\.)?doi\.org/|(?:pmid|pmcid|doi|nct)\s*:\s*)", re.I)
"""Prefixes that people copy along with an identifier."""
_DATE = re.compile(r"\d{4}(?:-\d{2}(?:-\d{2})?)?")
_PRECISION = {4: "year", 7: "month", 10: "day"}
_OFFICE = (".docx", ".doc", ".odt", ".rtf", ".pptx", ".ppt")
_BEYOND = 20

WAITING = Badge("Waiting", "quiet", "clock", "It has not been read yet")
INDEXING = Badge("Being indexed", "quiet", "clock", "It was read; answers cannot find it yet")
HELD = Badge("Held", "good", "check", "Answers can find its words and cite them")
SAME = Badge("Held already", "good", "check", "The same words were held before")
NOT_TAKEN = Badge("Not taken", "warn", "half", "What is held was fetched later")
RETRACTED = Badge("Retracted", "bad", "cross", "It is kept, and no answer rests on it")
SUPERSEDED = Badge("Superseded", "warn", "half", "A newer version has taken its place")
NOT_READ = Badge("Not read", "bad", "cross", "It could not be read")
STUCK = Badge("Stuck", "bad", "cross", "A stage gave up on it")
_OUTCOMES: Mapping[str, Badge] = {
    "new": HELD,
    "changed": HELD,
    "unchanged": SAME,
    "outdated": NOT_TAKEN,
    "deferred": NOT_TAKEN,
}


def kinds() -> list[tuple[str, str]]:
    """The kinds of sources with their names, without notes: a note is no evidence for others."""
    named = {name: policy.name for name, policy in source_policies().items() if name != "note"}
    own = named.pop("document")
    return [("document", own), *sorted(named.items(), key=lambda kind: kind[1].lower())]


def has_details(fields: Mapping[str, str]) -> bool:
    """Whether any field that describes a text is filled in."""
    return any(fields.get(name, "").strip() for name in DETAILS)


def record_body(
    fields: Mapping[str, str], text: str, most: int = MAX_PASTED_CHARS
) -> tuple[dict[str, Any], dict[str, str]]:
    """The record of a text and its details for the API, and the errors by field that the form
    itself detects. A missing title is filled in, so that the other fields can be checked.

    Args:
        most: the most characters of the text.
    """
    errors: dict[str, str] = {}
    details = {name: fields.get(name, "").strip() for name in DETAILS}
    if not details["title"]:
        errors["title"] = "write a title"
    if len(text) > most:
        errors["text"] = f"has more than {most:,} characters: send it as a file"
    body: dict[str, Any] = {"title": details["title"] or "-", "text": text}
    body["source_type"] = fields.get("source_type", "").strip() or "document"
    if details["published"]:
        try:
            body |= _published(details["published"])
        except ValueError:
            errors["published"] = IN_WORDS["published"]
    names = [line.strip() for line in fields.get("authors", "").splitlines() if line.strip()]
    if names:
        body["authors"] = names
    body |= {name: details[name] for name in ("url", *LINES) if details[name]}
    known = {name: _identifier(name, details[name]) for name in IDENTIFIERS if details[name]}
    if known:
        body["identifiers"] = known
    return body, errors


def _published(written: str) -> dict[str, str]:
    if not _DATE.fullmatch(written):
        raise ValueError(written)
    day = date.fromisoformat(written + "-01-01"[len(written) - len("2026") :])
    return {
        "published_at": f"{day.isoformat()}T00:00:00Z",
        "published_precision": _PRECISION[len(written)],
    }


def _identifier(name: str, written: str) -> str:
    number = _BEFORE_NUMBERS.sub("", written, count=1).strip()
    return number.upper() if name in ("nct_id", "pmcid") else number


def misfits(found: Sequence[FieldError]) -> dict[str, str]:
    """The API's errors about a record's fields, by the form's own field names and in its words."""
    messages: dict[str, str] = {}
    for error in found:
        name = next((part for part in reversed(error.field.split(".")) if part in _NAMES), "text")
        field = _NAMES.get(name, name)
        plain = error.message if "NUL" in error.message else IN_WORDS.get(field, error.message)
        messages.setdefault(field, plain)
    return messages


_NAMES = {
    **{name: name for name in ("text", "source_type", *DETAILS)},
    "published_at": "published",
}


def why_not(name: str, problem: Problem) -> str:
    """The reason why a file is refused, in words for the user."""
    reason = "; ".join(error.message for error in problem.errors) or problem.detail
    reason = reason.replace(
        "neither the suffix nor the media type names a kind that is read",
        "files of this kind are not read",
    )
    if name.lower().endswith(_OFFICE):
        reason = f"{reason}. Save it as PDF"
    return reason[:1].upper() + reason[1:]


@dataclass(frozen=True)
class DocumentLine:
    """A document that was made of an item; `href` is its page."""

    title: str
    href: str | None
    badge: Badge


@dataclass(frozen=True)
class ItemView:
    """A submitted item and its progress.

    `reason` is why it could not be read. `problems` are its lines that are no records. `others`
    says in words how many documents and lines are not listed.
    """

    name: str
    badge: Badge
    is_open: bool
    reason: str
    documents: Sequence[DocumentLine]
    problems: Sequence[str]
    others: Sequence[str]
    claims: Sequence[str] = ()


@dataclass(frozen=True)
class SentView:
    """All items that were sent together. `state` changes whenever the page's content changes."""

    items: Sequence[ItemView]
    waiting: int
    held: int
    failed: int
    state: str

    @property
    def is_open(self) -> bool:
        """Whether any item is still to be processed."""
        return self.waiting > 0


def sent_view(items: Sequence[SentItem]) -> SentView:
    """The view of the items that were sent together."""
    shown = [_item(item) for item in items]
    failed = sum(item.badge in (NOT_READ, STUCK) for item in shown)
    waiting = sum(item.is_open for item in shown)
    still = [f"{len(shown)}", *(item.badge.label for item in shown)]
    return SentView(shown, waiting, len(shown) - failed - waiting, failed, "/".join(still))


def _item(item: SentItem) -> ItemView:
    documents = [_document(document) for document in item.documents]
    is_open = item.status == "pending" or any(line.badge == INDEXING for line in documents)
    is_open = is_open or item.others_open > 0
    problems = [f"Line {bad['line']}: {bad['reason']}" for bad in item.problems[:_BEYOND]]
    left = len(item.problems) - len(problems)
    others = [f"and {item.others} more document{'s'[: item.others > 1]}"] if item.others else []
    return ItemView(
        name=item_name(item.filename, documents[0].title if len(documents) == 1 else ""),
        badge=_badge(item, documents, is_open),
        is_open=is_open,
        reason=_reason(item),
        documents=documents,
        problems=problems,
        others=[*others, f"and {left} more lines that are no records"] if left > 0 else others,
        claims=item.claims,
    )


def _badge(item: SentItem, documents: Sequence[DocumentLine], is_open: bool) -> Badge:
    if item.status == "failed":
        return NOT_READ if item.read else STUCK
    if is_open:
        return WAITING if item.status == "pending" else INDEXING
    badges = [document.badge for document in documents]
    if STUCK in badges:
        return STUCK
    return badges[0] if badges and len(set(badges)) == 1 else HELD


def _document(one: SentDocument) -> DocumentLine:
    if one.work == "open":
        badge = INDEXING
    elif one.work == "dead":
        badge = STUCK
    elif one.status == "retracted":
        badge = RETRACTED
    elif one.status == "superseded":
        badge = SUPERSEDED
    else:
        badge = _OUTCOMES.get(one.outcome, NOT_TAKEN)
    return DocumentLine(one.title, evidence_link(one.document_id, one.n), badge)


def _reason(item: SentItem) -> str:
    if item.status == "failed" and not item.read:
        return GIVEN_UP
    if any(document.work == "dead" for document in item.documents):
        return GIVEN_UP
    error = item.error or ""
    return error[:1].upper() + error[1:]


def item_name(filename: str, title: str = "") -> str:
    """The name of an item for people. A pasted record has no file name of its own."""
    if filename == "record.json":
        return title or "A text"
    return filename


def batch_badge(batch: SentBatch) -> Badge:
    """How far what was sent together is."""
    if batch.pending:
        return WAITING
    return NOT_READ if batch.failed else Badge("Read", "good", "check", "It was read")


def sent_page(batch_id: UUID, question_id: UUID | None = None) -> str:
    """The address of the page of a batch, with the question that it was sent for, if any."""
    return f"/evidence/sent/{batch_id}" + (f"?question={question_id}" if question_id else "")
