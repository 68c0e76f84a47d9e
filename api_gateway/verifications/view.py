"""The view of a pasted text and the result of its checks. Pure."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from api_gateway.pages import links
from api_gateway.pages.clocks import ClockView, clocks
from api_gateway.pages.differences import Word
from api_gateway.pages.wording import IDENTIFIER, QUOTE, RELATION, Badge, badge
from api_gateway.sources.view import notices

_SENT_ALONG = re.compile(r"D([1-9][0-9]{0,3})")
"""The key of a source that was pasted with the text; it contains the source's number."""


@dataclass(frozen=True)
class PassageView:
    """The passage that a verdict is based on, in its own words."""

    title: str
    quote: str
    href: str | None
    where: str
    clocks: ClockView | None
    notices: Sequence[str]


@dataclass(frozen=True)
class QuotationView:
    """A quotation of the text: its verdict, and the place where it was found."""

    text: str
    badge: Badge
    detail: str
    passage: PassageView | None


@dataclass(frozen=True)
class IdentifierView:
    """An identifier in the text; `href` links to the work that has it."""

    words: str
    badge: Badge
    title: str
    href: str | None


@dataclass(frozen=True)
class StatementView:
    """A sentence of the text; `badge` is None if it claims nothing, `words` mark where its source
    says otherwise, `reason` is the main one why it is not supported, `more` are the others."""

    anchor: str
    words: Sequence[Word]
    badge: Badge | None
    reason: str
    more: Sequence[str]
    passages: Sequence[PassageView]
    quotations: Sequence[QuotationView]
    identifiers: Sequence[IdentifierView]

    @property
    def is_told(self) -> bool:
        """Whether there is a verdict or a quotation to show."""
        return bool(self.badge or self.quotations)


@dataclass(frozen=True)
class RunView:
    """A run of the pasted text, and its statement if it is one."""

    text: str
    statement: StatementView | None


@dataclass(frozen=True)
class VerificationView:
    """The whole text, its statements, and the counts."""

    runs: Sequence[RunView]
    statements: Sequence[StatementView]
    identifiers: Sequence[IdentifierView]
    counts: Sequence[tuple[Badge, int]]
    claims: int
    against: str


def verification_view(
    verification_id: Any, text: str, result: Mapping[str, Any]
) -> VerificationView:
    """The view of a text and its result; offsets are code points of `text`."""
    sources = {body["source"]: body for body in result["sources"]}
    named = {
        body["identifier"]: _identifier(body, verification_id, sources)
        for body in result["identifiers"]
    }
    statements = [
        _statement(body, verification_id, sources, named) for body in result["statements"]
    ]
    relations = Counter(map(_relation, filter(_claims, result["statements"])))
    return VerificationView(
        runs=_runs(text, result["statements"], statements),
        statements=[statement for statement in statements if statement.is_told],
        identifiers=list(named.values()),
        counts=[(shown, relations[name]) for name, shown in RELATION.items()],
        claims=relations.total(),
        against=_against(result),
    )


def _against(result: Mapping[str, Any]) -> str:
    if result["against"] != "held":
        return "the sources pasted with it"
    away = ", ".join(result.get("without", ()))
    return f"the evidence that is held{f', without {away}, which was away' if away else ''}"


def _runs(
    text: str, bodies: Sequence[Mapping[str, Any]], statements: Sequence[StatementView]
) -> list[RunView]:
    """The text split at its statements; those out of order or overlapping are skipped."""
    runs, at = [], 0
    for body, statement in zip(bodies, statements, strict=True):
        start, end = body["start"], body["end"]
        if start < at or end <= start:
            continue
        if start > at:
            runs.append(RunView(text[at:start], None))
        runs.append(RunView(text[start:end], statement if statement.is_told else None))
        at = end
    if at < len(text):
        runs.append(RunView(text[at:], None))
    return runs


def _claims(body: Mapping[str, Any]) -> bool:
    return bool(body["claims"])


def _relation(body: Mapping[str, Any]) -> str:
    """What its source is to a statement; results of older releases do not tell all of it."""
    told = "supported" if body["verification_status"] == "verified" else "not_stated"
    return body.get("relation") or told


def _words(body: Mapping[str, Any]) -> list[Word]:
    """The statement, marked where its source says otherwise."""
    text, words, at = body["text"], list[Word](), 0
    for one in sorted(body.get("differences", ()), key=lambda one: one["start"]):
        start, end = one["start"] - body["start"], one["end"] - body["start"]
        if start >= at:
            words += [Word(text[at:start], False), Word(text[start:end], True)]
            at = end
    return [word for word in (*words, Word(text[at:], False)) if word.text]


def _statement(
    body: Mapping[str, Any],
    verification_id: Any,
    sources: Mapping[str, Mapping[str, Any]],
    named: Mapping[str, IdentifierView],
) -> StatementView:
    details = [finding["detail"] for finding in body["findings"]]
    reason = body.get("reason") or next(iter(details), "")
    words = _words(body)
    shown = [f"“{word.text}”" for word in words if word.changed]
    return StatementView(
        anchor=f"statement-{body['statement_id']}",
        words=words,
        badge=badge(RELATION, _relation(body)) if body["claims"] else None,
        reason=reason,
        more=[one for one in details if one != reason and not any(map(one.__contains__, shown))],
        passages=[_passage(citation, verification_id, sources) for citation in body["citations"]],
        quotations=[
            QuotationView(
                text=quotation["text"],
                badge=badge(QUOTE, quotation["quote_verdict"]),
                detail=quotation["detail"],
                passage=_passage(quotation["found"], verification_id, sources)
                if quotation["found"]
                else None,
            )
            for quotation in body["quotations"]
        ],
        identifiers=[named[key] for key in body["identifiers"] if key in named],
    )


def _passage(
    body: Mapping[str, Any], verification_id: Any, sources: Mapping[str, Mapping[str, Any]]
) -> PassageView:
    source = sources.get(body["source"]) or {}
    place = (body["start"], body["end"])
    return PassageView(
        title=source.get("title") or f"Source {body['source']}",
        quote=body["quote"],
        href=links.evidence_link(body.get("document_id"), body.get("version"), *place)
        or _own(verification_id, body["source"], *place),
        where=body.get("section") or "",
        clocks=clocks(source["clocks"]) if source.get("clocks") else None,
        notices=notices(source),
    )


def _own(verification_id: Any, key: str, start: int, end: int) -> str | None:
    """The address of the viewer of a source that was pasted with the text, at a span."""
    match = _SENT_ALONG.fullmatch(key)
    if match is None:
        return None
    return f"/verify/{verification_id}/sources/{match[1]}?start={start:d}&end={end:d}#span"


def _identifier(
    body: Mapping[str, Any], verification_id: Any, sources: Mapping[str, Mapping[str, Any]]
) -> IdentifierView:
    key = next((source_key for source_key in body["sources"] if source_key in sources), None)
    source = sources.get(key or "") or {}
    own = _SENT_ALONG.fullmatch(key) if key else None
    href = links.evidence_link(source.get("document_id"), source.get("version"))
    if href is None and own is not None:
        href = f"/verify/{verification_id}/sources/{own[1]}"
    return IdentifierView(
        words=body["identifier"],
        badge=badge(IDENTIFIER, body["state"]),
        title=source.get("title") or "",
        href=href,
    )
