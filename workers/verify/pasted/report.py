"""What is told of a pasted text. Pure."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

from clinical_text.fates import fate_of_text
from knowledge.feeds.sources import source_policy
from knowledge.version import knowledge_version
from store.core.hashes import text_hash
from store.core.spans import Span
from store.documents.records import ENDING_NOTICES
from workers.verify.answers.answer import STATUS, Held
from workers.verify.answers.evidence import standing_body
from workers.verify.passages.texts import place_of
from workers.verify.pasted.against import PAIR
from workers.verify.pasted.check import Judged, QuotationCheck, check_quotations, judge_statements
from workers.verify.pasted.differing import Difference, differences, named_in
from workers.verify.pasted.identifiers import is_malformed, kind_and_value
from workers.verify.pasted.sources import Sources
from workers.verify.pasted.statements import Statement


def checked(
    text: str,
    statements: Sequence[Statement],
    sources: Sources,
    *,
    against: str,
    at: datetime,
) -> dict[str, Any]:
    """The whole check of a text whose sources are at hand, and what is told of it."""
    return report(
        text=text,
        statements=statements,
        judged=judge_statements(statements, sources.texts, sources.cited),
        quoted=check_quotations(text, statements, sources.texts, sources.cited),
        sources=sources,
        against=against,
        at=at,
    )


def report(
    *,
    text: str,
    statements: Sequence[Statement],
    judged: Sequence[Judged],
    quoted: Mapping[str, Sequence[QuotationCheck]],
    sources: Sources,
    against: str,
    at: datetime,
) -> dict[str, Any]:
    """Verdicts by statement, what each identifier is, the sources with their clocks, and counts.

    Args:
        against: "documents" that came with the text, or what is "held".
    """
    verdicts = {one.statement.statement_id: one for one in judged}
    lines = [
        _statement(text, one, verdicts.get(one.statement_id), quoted[one.statement_id], sources)
        for one in statements
    ]
    identifiers = _identifiers(statements, sources, against, _misattributed(lines))
    used = {
        place["source"]
        for line in lines
        for place in (*line["citations"], *line["quotations"])
        if place["source"]
    }
    used |= {key for one in identifiers for key in one["sources"]} | sources.fates.keys()
    return {
        "text_hash": text_hash(text),
        "against": against,
        "checked_at": at.isoformat(),
        "fate": fate_of_text(text),
        "statements": lines,
        "identifiers": identifiers,
        "sources": [_source(key, sources) for key in sources.titles if key in used],
        "summary": _summary(lines, identifiers),
        **({"without": list(sources.without)} if sources.without else {}),
        "provenance": {"knowledge_version": knowledge_version()},
    }


def _statement(
    text: str,
    statement: Statement,
    judged: Judged | None,
    quoted: Sequence[QuotationCheck],
    sources: Sources,
) -> dict[str, Any]:
    best = judged.best if judged else None
    citations = []
    if best is not None and best.place is not None:
        citations = [_place(best.evidence_id, best.place, best.quote_verdict, sources, statement)]
    words, details = text[statement.start : statement.end], _told_once(judged)
    differing: list[Difference] = []
    if judged and judged.relation == "contradicted" and citations:
        named = (_named(code, detail, statement) for code, detail in details)
        differing = differences(words, citations[0]["quote"], filter(None, named))
    return {
        "statement_id": statement.statement_id,
        "start": statement.start,
        "end": statement.end,
        "text": words,
        "claims": statement.claims,
        "not_judged": statement.not_judged,
        "verdict": judged.verdict.value if judged else None,
        "verification_status": STATUS[judged.verdict] if judged else None,
        "basis": best.basis.value if best else None,
        "relation": judged.relation if judged else None,
        "reason": _reason(words, differing, details),
        "differences": [
            {
                "start": statement.start + one.place.start,
                "end": statement.start + one.place.end,
                "source_has": one.source,
            }
            for one in differing
        ],
        "findings": [{"code": code, "detail": detail} for code, detail in details],
        "citations": citations,
        "quotations": [_quotation(text, one, sources, statement) for one in quoted],
        "identifiers": list(statement.identifiers),
    }


def _told_once(judged: Judged | None) -> list[tuple[str, str]]:
    """What was found, each in the words of its first code, the main reason first."""
    told: dict[str, str] = {}
    for code, detail in judged.details if judged else ():
        told.setdefault(detail, code)
    # Whose a number is says more than that a passage lacks it.
    return sorted(((code, detail) for detail, code in told.items()), key=lambda one: one[0] != PAIR)


def _named(code: str, detail: str, statement: Statement) -> str | None:
    """The words of a statement that a detail is about."""
    if code == PAIR:
        return next((name for name in statement.identifiers if name in detail), None)
    return named_in(detail)


def _reason(
    words: str, differing: Sequence[Difference], details: Sequence[tuple[str, str]]
) -> str | None:
    """The main reason why a statement is not supported, for people."""
    for one in differing:
        if one.source is not None:
            return f"the source has “{one.source}” where this says “{one.place.of(words)}”"
    return details[0][1] if details else None


def _place(
    key: str, place: Span, quote_verdict: str, sources: Sources, statement: Statement
) -> dict[str, Any]:
    """The passage that a verdict rests on: what anybody can look up."""
    words = place.of(sources.texts[statement.statement_id][key].source.text)
    held = sources.held.get(key)
    where = place_of(sources.chunks[key], place) if held else None
    return {
        "source": key,
        "document_id": str(held.version.document_id) if held else None,
        "version": held.version.n if held else None,
        "chunk_id": where.chunk_id if where else None,
        "section": where.section if where else None,
        "start": place.start,
        "end": place.end,
        "quote": words,
        "quote_verdict": quote_verdict,
        "citation": where.citation if where else None,
    }


def _quotation(
    text: str, one: QuotationCheck, sources: Sources, statement: Statement
) -> dict[str, Any]:
    found = None
    if one.key is not None and one.found is not None:
        found = _place(one.key, one.found, one.verdict, sources, statement)
    return {
        "start": one.place.start,
        "end": one.place.end,
        "text": one.place.of(text),
        "quote_verdict": one.verdict,
        "detail": one.detail,
        "source": one.key,
        "found": found,
    }


def _misattributed(lines: Sequence[Mapping[str, Any]]) -> set[str]:
    """The identifiers that a statement gives to a trial or work that has another one."""
    return {
        name
        for line in lines
        for name in line["identifiers"]
        for one in line["findings"]
        if one["code"] == PAIR and name in one["detail"]
    }


def _identifiers(
    statements: Sequence[Statement], sources: Sources, against: str, wrong: Collection[str]
) -> list[dict[str, Any]]:
    """Each identifier of the text once: held, not among the sources, malformed, misattributed,
    retracted."""
    told = []
    for name in dict.fromkeys(name for one in statements for name in one.identifiers):
        keys = list(sources.bearers.get(name, ()))
        kind, value = kind_and_value(name)
        ended = [
            key
            for key in keys
            if sources.fates.get(key) in ENDING_NOTICES
            or (key in sources.held and sources.held[key].ended)
        ]
        if is_malformed(name):
            state = "malformed"
        elif name in wrong:
            state = "misattributed"
        elif ended:
            state = "retracted"
        elif keys:
            state = "held"
        else:
            state = "not_held" if against == "held" else "not_among_the_documents"
        told.append(
            {"identifier": name, "kind": kind, "value": value, "state": state, "sources": keys}
        )
    return told


def _source(key: str, sources: Sources) -> dict[str, Any]:
    held: Held | None = sources.held.get(key)
    if held is None:
        told = {"source": key, "title": sources.titles[key], "document_id": None}
        return told | ({"fate": sources.fates[key]} if key in sources.fates else {})
    version = held.version
    return {
        "source": key,
        "title": version.title,
        "document_id": str(version.document_id),
        "version": version.n,
        "source_type": version.source_type,
        "tier": source_policy(version.source_type).tier,
        "url": held.cited.page,
        "identifiers": held.cited.identifiers,
        "clocks": held.clocks.as_body(),
        "standing": standing_body(held.cited.standing),
    }


def _summary(
    lines: Sequence[Mapping[str, Any]], identifiers: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """Counts only, so that they may be logged."""
    states = Counter(line["verification_status"] for line in lines if line["claims"])
    return {
        "claims": sum(1 for line in lines if line["claims"]),
        "verified_count": states["verified"],
        "partial_count": states["partially_verified"],
        "unverified_count": states["unverified"],
        "conflicting_count": states["conflicting"],
        "relations": dict(Counter(line["relation"] for line in lines if line["claims"])),
        "not_judged": dict(Counter(line["not_judged"] for line in lines if not line["claims"])),
        "quotations": dict(
            Counter(one["quote_verdict"] for line in lines for one in line["quotations"])
        ),
        "identifiers": dict(Counter(one["state"] for one in identifiers)),
    }
