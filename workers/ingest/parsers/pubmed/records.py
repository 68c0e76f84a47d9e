"""PubMed: reads a `PubmedArticleSet` from efetch or the yearly and daily files (WIRE 1)."""

import re
from collections.abc import Iterable, Iterator
from typing import Any
from xml.etree.ElementTree import Element

from pydantic import ValidationError

from knowledge.works.publication_types import most_telling
from store.documents.records import Identifiers, Notice, NoticeKind, SourceRecord
from workers.http.errors import Malformed
from workers.ingest.parsers.base import Doubt, Parsed, Problem
from workers.ingest.parsers.markup import words
from workers.ingest.parsers.pubmed.article import AbstractPart, Article, Correction, OtherAbstract
from workers.ingest.parsers.pubmed.entries import NotCut, apart, entries
from workers.ingest.parsers.pubmed.fields import LEFT_OUT, count_unmapped
from workers.ingest.parsers.pubmed.reader import read_article, read_book
from workers.ingest.parsers.registries import NCT_ID, is_registry, registry_id_fits
from workers.ingest.parsers.xml import parse_xml

__all__ = ["LEFT_OUT", "Article", "parse", "record"]

MAX_LINE = 1000  # store.records.Line
NO_TITLE = "[Not Available]."
"""As PubMed itself writes a title that it does not have (NLM, MEDLINE data element `TI`)."""

_PMID = re.compile(r"[1-9][0-9]{0,8}")
_PMCID = re.compile(r"PMC[1-9][0-9]*")
_DOI = re.compile(r"10\.[0-9]{4,9}/\S+")
_STATED_DOI = re.compile(r"\bdoi: ?(10\.[0-9]{4,9}/[^\s;]+)", re.IGNORECASE)

_READERS = {
    "PubmedArticle": read_article,
    "MedlineCitation": read_article,  # the record itself, in files before 2017
    "PubmedBookArticle": read_book,
}
_ROOTS = frozenset({"PubmedArticleSet", "MedlineCitationSet"})

# WIRE 1, "Retraction logic": only links from a record to its notice count, never those from a
# notice to its record, and never the word "retract".
_RETRACTED = "retracted publication"
_NOTICES: dict[str, tuple[NoticeKind, ...]] = {
    "RetractionIn": ("retraction",),
    "RetractedandRepublishedIn": ("retraction", "republication"),
    "ExpressionOfConcernIn": ("expression_of_concern",),
    "ErratumIn": ("correction",),
    "CorrectedandRepublishedIn": ("republication",),
}

# Links that are part of the record. Others (CommentIn, AssociatedPublication, …) accumulate over
# the years while the article stays the same; they would make new versions of it.
_RELATIONS = {
    "RetractionOf": "retraction_of",
    "ExpressionOfConcernFor": "expression_of_concern_for",
    "ErratumFor": "erratum_for",
    "CorrectedandRepublishedFrom": "republished_from",
    "RetractedandRepublishedFrom": "republished_from",
    "RepublishedFrom": "republished_from",
    "UpdateOf": "update_of",
    "UpdateIn": "update_in",
    "CommentOn": "comment_on",
    "ReprintOf": "reprint_of",
}


def parse(payload: bytes) -> Parsed:
    """Read a `PubmedArticleSet`: articles, books and deleted records (`gone`).

    A record that is not well-formed becomes a Problem. Raises Malformed if the payload is not XML,
    truncated, or another document, such as an error of E-utilities.
    """
    try:
        return _parsed(entries(payload))
    except NotCut:
        pass
    try:
        root = parse_xml(payload)
    except Malformed:
        try:
            return _parsed(apart(payload))
        except NotCut:
            pass
        raise
    if root.tag not in _ROOTS:
        if root.find("ERROR") is not None or root.tag in ("ERROR", "error"):
            raise Malformed("E-utilities answer with an error instead of records")
        raise Malformed("not a set of PubMed records: the root element is another")
    return _parsed(root)


def _parsed(found: Iterable[Element | Problem]) -> Parsed:
    parsed = Parsed()
    for entry in found:
        if isinstance(entry, Problem):
            parsed.problems.append(entry)
            continue
        reader = _READERS.get(entry.tag)
        if reader:
            _add(parsed, reader(entry), entry)
        elif entry.tag == "DeleteCitation":
            _add_deleted(parsed, entry)
        elif entry.tag in ("ERROR", "error"):
            raise Malformed("E-utilities answer with an error among the records")
        else:
            parsed.unmapped[entry.tag] += 1
    return parsed


def _add(parsed: Parsed, article: Article, entry: Element) -> None:
    count_unmapped([entry] if entry.tag == "MedlineCitation" else entry, parsed.unmapped)
    source_id = f"pmid:{article.pmid}" if _PMID.fullmatch(article.pmid) else None
    if source_id is None:
        parsed.problems.append(Problem(None, "PMID: it is missing or no number"))
        return
    try:
        parsed.records.append(record(article))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        place = ".".join(str(step) for step in first["loc"])
        parsed.problems.append(Problem(source_id, f"{place}: {first['msg']}"))
        return
    parsed.doubts += _doubts(article, source_id)


def _add_deleted(parsed: Parsed, entry: Element) -> None:
    for child in entry:
        pmid = words(child)
        if _PMID.fullmatch(pmid):
            parsed.gone.append(f"pmid:{pmid}")
        else:
            parsed.problems.append(Problem(None, "DeleteCitation: a PMID is no number"))


def record(article: Article) -> SourceRecord:
    """The stored record of an article.

    The date is the journal's own, however imprecise, because issues are cited by it; the electronic
    date is a fact and counts only if there is no other. A preprint keeps its PMID but has the
    source type `preprint`, because it is not reviewed. `DateRevised`, the indexing status and links
    that accumulate over time are not facts: they would make new versions of an unchanged article.

    Raises pydantic.ValidationError if a value does not fit a record.
    """
    types = [term.name for term in article.publication_types]
    kind = most_telling(name for name in types if name.lower() != _RETRACTED)
    published = article.published or article.electronic or article.contributed
    return SourceRecord(
        source_type="preprint" if "Preprint" in types else "pubmed",
        title=_line(article.title or article.vernacular_title or NO_TITLE),
        text=_text(article),
        url=f"https://pubmed.ncbi.nlm.nih.gov/{article.pmid}/",
        published_at=published.moment if published else None,
        published_precision=published.precision if published else "day",
        identifiers=Identifiers(
            pmid=article.pmid,
            pmcid=_first(article.pmcids, _PMCID),
            doi=_first(article.dois, _DOI),
        ),
        authors=tuple(_line(name) for author in article.authors if (name := author.name)),
        publisher=_line(_publisher(article)) or None,
        publication_type=_line(kind.name) if kind else None,
        evidence_level=kind.level if kind else None,
        subjects=tuple(_line(heading.descriptor.name) for heading in article.mesh),
        facts=_facts(article, types),
        notices=tuple(_notices(article, types)),
    )


def _line(text: str) -> str:
    return text if len(text) <= MAX_LINE else text[: MAX_LINE - 1].rstrip() + "…"


def _first(values: Iterable[str], pattern: re.Pattern[str]) -> str | None:
    return next((value for value in values if pattern.fullmatch(value)), None)


def _publisher(article: Article) -> str:
    if article.book:
        return article.book.publisher or article.book.title
    return article.journal.title or article.journal.medline_abbreviation


def _text(article: Article) -> str:
    """The abstract under its labels, unlabelled paragraphs under `Abstract`; else the title."""
    sections = list(_sections(article.abstract, "Abstract"))
    if instead := _instead(article):
        sections += _sections(instead.parts, "Abstract")
    for abstract in article.other_abstracts:
        if _is_plain(abstract):
            sections += _sections(abstract.parts, "Plain language summary")
    if not sections:
        return article.title or article.vernacular_title or NO_TITLE
    return "\n\n".join(sections)


def _instead(article: Article) -> OtherAbstract | None:
    """The abstract of a publisher or translator where there is no other, the English one first."""
    if article.abstract:
        return None
    others = [one for one in article.other_abstracts if one.parts and not _is_plain(one)]
    return min(others, key=lambda one: one.language != "eng", default=None)


def _is_plain(abstract: OtherAbstract) -> bool:
    return abstract.kind == "plain-language-summary" and abstract.language == "eng"


def _sections(parts: Iterable[AbstractPart], unlabelled: str) -> Iterator[str]:
    current = None
    for part in parts:
        heading = " ".join(part.label.split()) or part.category
        if heading in ("", "UNASSIGNED", "UNLABELLED"):
            heading = unlabelled
        if heading != current:
            current = heading
            yield f"## {heading}"
        yield part.text


def _facts(article: Article, types: list[str]) -> dict[str, Any]:
    journal, book = article.journal, article.book
    facts: dict[str, Any] = {
        "has_abstract": bool(article.abstract),
        "publication_types": [name for name in types if name.lower() != _RETRACTED],
        "mesh_major": [heading.descriptor.name for heading in article.mesh if heading.major],
        "mesh_qualifiers": {
            heading.descriptor.name: [qualifier.name for qualifier in heading.qualifiers]
            for heading in article.mesh
            if heading.qualifiers
        },
        "supplementary_mesh": [term.name for term in article.supplementary_mesh],
        "keywords": [keyword.name for keyword in article.keywords],
        "chemicals": [chemical.name for chemical in article.chemicals],
        "genes": list(article.genes),
        "languages": list(article.languages),
        "journal": _filled(
            abbreviation=journal.medline_abbreviation or journal.iso_abbreviation,
            issn=journal.issn,
            issn_linking=journal.issn_linking,
            nlm_id=journal.nlm_id,
            volume=journal.volume,
            issue=journal.issue,
            pages=article.pages,
        ),
        "registry_ids": _numbers(article, registries=True),
        "accessions": _numbers(article, registries=False),
        "grant_agencies": sorted(set(article.grant_agencies)),
        "published_as": article.published_as,
        "electronic_date": str(article.electronic or ""),
        "contribution_date": str(article.contributed or ""),
        "vernacular_title": article.vernacular_title,
        "full_title": article.title if len(article.title) > MAX_LINE else "",
        "copyright": article.copyright,
        "conflict_of_interest": article.conflicts,
        "other_abstracts": [
            {"kind": abstract.kind, "language": abstract.language, "text": text}
            for abstract in article.other_abstracts
            if not _is_plain(abstract)
            and abstract is not _instead(article)
            and (text := "\n\n".join(part.text for part in abstract.parts))
        ],
        "pmid_version": article.version if article.version != "1" else "",
        **_relations(article.corrections),
    }
    if book:
        facts["book"] = _filled(
            title=book.title,
            accession=book.accession,
            place=book.place,
            edition=book.edition,
            volume=book.volume,
            collection=book.collection,
            isbns=list(book.isbns),
            editors=[name for editor in book.editors if (name := editor.name)],
            sections=list(book.sections),
        )
    return _filled(**facts)


def _filled(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value or value is False}


def _numbers(article: Article, *, registries: bool) -> dict[str, list[str]]:
    """Accession numbers by data bank, either those of trial registries or the others."""
    by_bank: dict[str, list[str]] = {}
    for bank, number in article.accessions:
        if is_registry(bank) is registries and registry_id_fits(bank, number):
            numbers = by_bank.setdefault(bank, [])
            if number not in numbers[-50:]:
                numbers.append(number)
    return by_bank


def _relations(corrections: Iterable[Correction]) -> dict[str, list[str]]:
    """Links by relation; each is `pmid:…`, a stated DOI, or else the citation of its source."""
    relations: dict[str, list[str]] = {}
    for link in corrections:
        name = _RELATIONS.get(link.ref_type)
        target = _linked(link) or link.source
        if name and target:
            relations.setdefault(name, []).append(target)
    return relations


def _notices(article: Article, types: list[str]) -> Iterator[Notice]:
    stated = article.retracted.whole if article.retracted else None
    retracted = False
    for link in article.corrections:
        for kind in _NOTICES.get(link.ref_type, ()):
            retracted = retracted or kind == "retraction"
            yield Notice(
                kind=kind,
                notice_id=_linked(link),
                stated_on=stated if kind == "retraction" else None,
            )
    if not retracted and any(name.lower() == _RETRACTED for name in types):
        yield Notice(kind="retraction", stated_on=stated)


def _linked(link: Correction) -> str | None:
    """`pmid:…` of the linked record, or the DOI (`doi:…`) in its citation."""
    if _PMID.fullmatch(link.pmid):
        return f"pmid:{link.pmid}"
    doi = _STATED_DOI.search(link.source[:2000])
    return f"doi:{doi[1].rstrip('.,)').lower()}" if doi else None


def _doubts(article: Article, source_id: str) -> Iterator[Doubt]:
    for kind, values, pattern in (
        ("pmcid", article.pmcids, _PMCID),
        ("doi", article.dois, _DOI),
    ):
        for value in values:
            if not pattern.fullmatch(value):
                yield Doubt(source_id, kind, value[:200])
    for bank, number in article.accessions:
        if not registry_id_fits(bank, number):
            kind = "nct_id" if bank == NCT_ID else "registry_id"
            yield Doubt(source_id, kind, number[:200])
