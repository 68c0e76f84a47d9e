"""Adding evidence: what a form says becomes a record, what was sent becomes a view. Pure."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any
from uuid import UUID

from api_gateway.pages.clocks import Moment, moment
from api_gateway.pages.links import evidence_link
from api_gateway.pages.wording import Badge
from api_gateway.problems import GIVEN_UP, FieldError, Problem
from knowledge.sources import source_policies
from store.documents.submissions import SentBatch, SentDocument, SentItem

MOST_FILES = 20
"""Ours: of one form; a folder of hundreds is for `attest ingest`."""
MAX_PASTED_CHARS = 300_000
"""Ours: as much as of a clinical document; what is longer is a file."""
MAX_LINE_CHARS = 1000
"""Of a title and other single lines, see `store.documents.records.Line`."""
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
"""What the fields of the form are called."""
DETAILS = ("title", "published", "url", "authors", *LINES, *IDENTIFIERS)
"""Fields of the form that say more about a text."""
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
"""What a field has to be like, for people; programs are told the pattern."""
_BEFORE_NUMBERS = re.compile(r"(?:https?://(?:dx\.)?doi\.org/|(?:pmid|pmcid|doi|nct)\s*:\s*)", re.I)
"""What people copy along with an identifier."""
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
    """Kinds of sources with their names; a note is about one patient and no evidence for others."""
    named = {name: one.name for name, one in source_policies().items() if name != "note"}
    own = named.pop("document")
    return [("document", own), *sorted(named.items(), key=lambda one: one[1].lower())]


def has_details(fields: Mapping[str, str]) -> bool:
    """Whether anything is said about a text."""
    return any(fields.get(name, "").strip() for name in DETAILS)


def record_body(
    fields: Mapping[str, str], text: str, most: int = MAX_PASTED_CHARS
) -> tuple[dict[str, Any], dict[str, str]]:
    """The record that a text and its details are, as the API takes it, and what is wrong with
    fields that the form itself can tell; those are filled so that the others can be looked at.

    Args:
        most: characters of the text.
    """
    errors: dict[str, str] = {}
    given = {name: fields.get(name, "").strip() for name in DETAILS}
    if not given["title"]:
        errors["title"] = "write a title"
    if len(text) > most:
        errors["text"] = f"has more than {most:,} characters: send it as a file"
    body: dict[str, Any] = {"title": given["title"] or "-", "text": text}
    body["source_type"] = fields.get("source_type", "").strip() or "document"
    if given["published"]:
        try:
            body |= _published(given["published"])
        except ValueError:
            errors["published"] = IN_WORDS["published"]
    names = [one.strip() for one in fields.get("authors", "").splitlines() if one.strip()]
    if names:
        body["authors"] = names
    body |= {name: given[name] for name in ("url", *LINES) if given[name]}
    known = {name: _identifier(name, given[name]) for name in IDENTIFIERS if given[name]}
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
    found = _BEFORE_NUMBERS.sub("", written, count=1).strip()
    return found.upper() if name in ("nct_id", "pmcid") else found


def misfits(found: Sequence[FieldError]) -> dict[str, str]:
    """What the API says of a record's fields, by the form's own names and in its words."""
    told: dict[str, str] = {}
    for one in found:
        name = next((part for part in reversed(one.field.split(".")) if part in _NAMES), "text")
        field = _NAMES.get(name, name)
        plain = one.message if "NUL" in one.message else IN_WORDS.get(field, one.message)
        told.setdefault(field, plain)
    return told


_NAMES = {
    **{name: name for name in ("text", "source_type", *DETAILS)},
    "published_at": "published",
}


def why_not(name: str, problem: Problem) -> str:
    """Why a file is refused, for whoever chose it."""
    told = "; ".join(one.message for one in problem.errors) or problem.detail
    told = told.replace(
        "neither the suffix nor the media type names a kind that is read",
        "files of this kind are not read",
    )
    if name.lower().endswith(_OFFICE):
        told = f"{told}. Save it as PDF"
    return told[:1].upper() + told[1:]


@dataclass(frozen=True)
class DocumentLine:
    """A document that an item became; `href` is its page."""

    title: str
    href: str | None
    badge: Badge


@dataclass(frozen=True)
class ItemView:
    """What was sent, and how far it is.

    `reason`: why it could not be read. `problems`: lines of it that are no records; `others`: what
    is not listed of both, in words.
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
    """All that was sent together. `state` changes whenever the page would show something else."""

    items: Sequence[ItemView]
    waiting: int
    held: int
    failed: int
    state: str

    @property
    def is_open(self) -> bool:
        """Whether anything is still to be done."""
        return self.waiting > 0


def sent_view(items: Sequence[SentItem]) -> SentView:
    """The view of what was sent together."""
    shown = [_item(one) for one in items]
    failed = sum(one.badge in (NOT_READ, STUCK) for one in shown)
    waiting = sum(one.is_open for one in shown)
    still = [f"{len(shown)}", *(one.badge.label for one in shown)]
    return SentView(shown, waiting, len(shown) - failed - waiting, failed, "/".join(still))


def _item(item: SentItem) -> ItemView:
    documents = [_document(one) for one in item.documents]
    is_open = item.status == "pending" or any(one.badge == INDEXING for one in documents)
    is_open = is_open or item.others_open > 0
    found = [f"Line {one['line']}: {one['reason']}" for one in item.problems[:_BEYOND]]
    left = len(item.problems) - len(found)
    others = [f"and {item.others} more documents"] if item.others else []
    return ItemView(
        name=item_name(item.filename, documents[0].title if len(documents) == 1 else ""),
        badge=_badge(item, documents, is_open),
        is_open=is_open,
        reason=_reason(item),
        documents=documents,
        problems=found,
        others=[*others, f"and {left} more lines that are no records"] if left > 0 else others,
        claims=item.claims,
    )


def _badge(item: SentItem, documents: Sequence[DocumentLine], is_open: bool) -> Badge:
    if item.status == "failed":
        return NOT_READ if item.read else STUCK
    if is_open:
        return WAITING if item.status == "pending" else INDEXING
    badges = [one.badge for one in documents]
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
    if any(one.work == "dead" for one in item.documents):
        return GIVEN_UP
    told = item.error or ""
    return told[:1].upper() + told[1:]


def item_name(filename: str, title: str = "") -> str:
    """What people call an item. A record that was pasted has no file name of its own."""
    if filename == "record.json":
        return title or "A text"
    return filename


@dataclass(frozen=True)
class BatchLine:
    """What was sent together, as a line of the list."""

    href: str
    name: str
    badge: Badge
    sent: Moment | None


def batch_line(batch: SentBatch) -> BatchLine:
    """The view of a line of the list."""
    more = f" and {batch.items - 1} more" if batch.items > 1 else ""
    if batch.pending:
        badge = WAITING
    elif batch.failed:
        badge = NOT_READ
    else:
        badge = Badge("Read", "good", "check", "It was read")
    return BatchLine(
        href=sent_page(batch.batch_id),
        name=item_name(batch.filename) + more,
        badge=badge,
        sent=moment(batch.sent_at),
    )


def sent_page(batch_id: UUID, question_id: UUID | None = None) -> str:
    """The address of the page of what was sent together, for the sake of a question."""
    return f"/evidence/sent/{batch_id}" + (f"?question={question_id}" if question_id else "")
