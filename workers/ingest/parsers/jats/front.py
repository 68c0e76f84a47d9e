"""Reads the front matter of a JATS article: identifiers, dates, people, licence, links."""

import re
from collections.abc import Iterable, Iterator
from typing import Any
from xml.etree.ElementTree import Element

from knowledge.works.publication_types import PublicationType, of_article_type
from store.documents.records import Notice, NoticeKind
from workers.ingest.parsers.markup import squeeze, words
from workers.ingest.parsers.pubmed.dates import PartialDate, partial_date
from workers.ingest.parsers.registries import registry_id_fits

_XLINK = "{http://www.w3.org/1999/xlink}"
_ALI = "{http://www.niso.org/schemas/ali/1.0/}"
LANGUAGE = "{http://www.w3.org/XML/1998/namespace}lang"
MAX_LINE = 1000  # store.records.Line
_NONE = Element("none")

_PATTERNS = {
    "pmid": re.compile(r"[1-9][0-9]{0,8}"),
    "pmcid": re.compile(r"PMC[1-9][0-9]*"),
    "doi": re.compile(r"10\.[0-9]{4,9}/\S+"),
}
_ID_TYPES = {"pmid": "pmid", "pmc": "pmcid", "pmcid": "pmcid", "doi": "doi"}

# Dates of the archive, not of the article.
_ARCHIVE_DATES = frozenset(
    {"pmc-release", "nihms-submitted", "manuscript", "preprint", "retracted"}
)

# Links from an article to its own notices. `_RELATIONS` are links from a notice to its article.
_NOTICES: dict[str, NoticeKind] = {
    "retraction-forward": "retraction",
    "correction-forward": "correction",
}
_RELATIONS = {
    "retracted-article": "retraction_of",
    "corrected-article": "erratum_for",
    "object-of-concern": "expression_of_concern_for",
    "commentary-article": "comment_on",
}
_LINK_TYPES = {"doi": "doi", "pmid": "pmid", "pubmed": "pmid", "pmc": "pmcid", "pmcid": "pmcid"}


def below(element: Element, tag: str) -> Element:
    """The first element at path `tag` below `element`, or an empty element."""
    child = element.find(tag)
    return _NONE if child is None else child


def identifiers(meta: Element) -> tuple[dict[str, str], list[tuple[str, str]]]:
    """The article's own identifiers by kind, and the invalid ones as pairs (kind, value)."""
    ids: dict[str, str] = {}
    doubts: list[tuple[str, str]] = []
    for element in meta.findall("article-id"):
        kind = _ID_TYPES.get(element.get("pub-id-type", ""))
        value = words(element)
        if kind is None or not value:
            continue
        if kind == "pmcid" and value.isascii() and value.isdigit():
            value = f"PMC{value}"  # older files omit the letters
        if not _PATTERNS[kind].fullmatch(value):
            doubts.append((kind, value))
        else:
            ids.setdefault(kind, value)
    return ids, doubts


def publication_type(article_type: str) -> PublicationType | None:
    """The publication type for an article type, or the article type itself if there is none."""
    name = squeeze(article_type)[:200]
    return of_article_type(name) or (PublicationType(name, None) if name else None)


def published(dates: Iterable[Element]) -> PartialDate | None:
    """The earliest date of publication, in print or online; within a month, the most precise one.
    Dates of the archive do not count."""
    days = [
        day
        for element in dates
        if (element.get("pub-type") or element.get("date-type")) not in _ARCHIVE_DATES
        and (day := _date(element))
    ]
    if not days:
        return None
    year = min(day.year for day in days)
    within = [day for day in days if day.year == year]
    return min(within, key=lambda day: (day.month or 13, day.day or 32))


def _date(element: Element) -> PartialDate | None:
    parts = {part.tag: (part.text or "").strip()[:40] for part in element}
    return partial_date(
        parts.get("year", ""), parts.get("month") or parts.get("season", ""), parts.get("day", "")
    )


def authors(meta: Element) -> Iterator[str]:
    """The authors in order: people as `Last FM`, groups by their name."""
    for group in meta.findall("contrib-group"):
        for contrib in group.findall("contrib"):
            if contrib.get("contrib-type", "author") == "author":
                name = _author(contrib)
                if name:
                    yield name


def _author(contrib: Element) -> str:
    """`Last FM`, as PubMed cites people, or the name of a group."""
    name = contrib.find("name")
    if name is None:
        name = contrib.find("name-alternatives/name")
    if name is None:
        collab = contrib.find("collab")
        if collab is not None and len(collab):
            # the members are listed inside; the group's own name comes first
            return squeeze(collab.text or "") or words(collab.find("institution"))
        return words(collab) or words(contrib.find("string-name"))
    given_names = name.find("given-names")
    initials = (
        (given_names.get("initials") or _initials(words(given_names)))
        if given_names is not None
        else ""
    )
    return " ".join(
        filter(None, (words(name.find("surname")), initials, words(name.find("suffix"))))
    )


def _initials(given: str) -> str:
    if given.isupper() and len(given) <= 4 and given.isalpha():
        return given
    return "".join(part[0].upper() for part in re.split(r"[\s.\-‐]+", given) if part)


def facts(
    article: Element, journal: Element, meta: Element, properties: dict[str, str]
) -> dict[str, Any]:
    """The facts that the article states in fields; see the tests for their names."""
    pages = "-".join(filter(None, (words(meta.find("fpage")), words(meta.find("lpage")))))
    open_access = properties.get("pmc-prop-open-access")
    fields: dict[str, Any] = {
        "article_type": squeeze(article.get("article-type", "")),
        "journal": _filled(
            abbreviation=_journal_id(journal, "nlm-ta") or _journal_id(journal, "iso-abbrev"),
            issn=words(journal.find("issn")),
            publisher=words(next(journal.iter("publisher-name"), None)),
            volume=words(meta.find("volume")),
            issue=words(meta.find("issue")),
            pages=pages or words(meta.find("elocation-id")),
        ),
        "license": _license(below(meta, "permissions")),
        "copyright": words(below(meta, "permissions").find("copyright-statement")),
        "open_access": None if open_access is None else open_access == "yes",
        "categories": _unique(meta.findall("article-categories//subject")),
        "keywords": _unique(meta.findall("kwd-group//kwd")),
        "funders": _unique(meta.findall("funding-group//funding-source")),
        "funding": " ".join(_unique(meta.findall("funding-group/funding-statement"))),
        "conflict_of_interest": _conflicts(meta),
        "registry_ids": _registry_ids(meta),
        "other_abstracts": [
            {"language": abstract.get(LANGUAGE, ""), "text": words(abstract)}
            for abstract in meta.findall("trans-abstract")
            if words(abstract)
        ],
        **_history(meta),
        **_relations(meta),
    }
    return _filled(**fields)


def _filled(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value or value is False}


def _unique(elements: Iterable[Element]) -> list[str]:
    return list(dict.fromkeys(filter(None, map(words, elements))))


def _journal_id(journal: Element, kind: str) -> str:
    return next(
        (words(e) for e in journal.findall("journal-id") if e.get("journal-id-type") == kind), ""
    )


def _license(permissions: Element) -> dict[str, str]:
    """The licence of the text: its type, address and wording."""
    licence = permissions.find("license")
    if licence is None:
        return {}
    link = licence.get(f"{_XLINK}href") or words(licence.find(f"{_ALI}license_ref"))
    if not link:
        link = next((e.get(f"{_XLINK}href", "") for e in licence.iter("ext-link")), "")
    return _filled(
        type=licence.get("license-type", ""),
        href="".join(link.split())[:500],
        text=" ".join(filter(None, map(words, licence.findall("license-p")))),
    )


def properties(meta: Element) -> dict[str, str]:
    """The properties that PMC states about its copy (`pmc-prop-…`)."""
    return {
        words(entry.find("meta-name")): words(entry.find("meta-value"))
        for entry in meta.findall("custom-meta-group/custom-meta")
    }


def _conflicts(meta: Element) -> str:
    return " ".join(
        words(note)
        for note in meta.findall("author-notes/fn")
        if note.get("fn-type", "").lower() in ("conflict", "coi-statement")
    )


def _registry_ids(meta: Element) -> dict[str, list[str]]:
    numbers: dict[str, list[str]] = {}
    for link in meta.findall("related-object"):
        registry, number = link.get("source-id", ""), link.get("document-id", "").strip()
        if registry and number and registry_id_fits(registry, number):
            numbers.setdefault(registry, []).append(number)
    return numbers


def _history(meta: Element) -> dict[str, str]:
    return {
        kind: str(day)
        for element in meta.findall("history/date")
        if (kind := element.get("date-type", "")) in ("received", "accepted")
        and (day := _date(element))
    }


def _linked(link: Element) -> str | None:
    """The identifier of a related article, such as `doi:10.1/x`."""
    kind = _LINK_TYPES.get(link.get("ext-link-type", ""))
    value = link.get(f"{_XLINK}href", "").strip()
    if kind == "pmcid" and value.isascii() and value.isdigit():
        value = f"PMC{value}"
    if kind is None or not _PATTERNS[kind].fullmatch(value) or len(value) > MAX_LINE - 10:
        return None
    return f"{kind}:{value.lower() if kind == 'doi' else value}"


def _relations(meta: Element) -> dict[str, list[str]]:
    relations: dict[str, list[str]] = {}
    for link in meta.findall("related-article"):
        name, linked = _RELATIONS.get(link.get("related-article-type", "")), _linked(link)
        if name and linked:
            relations.setdefault(name, []).append(linked)
    return relations


def notices(meta: Element) -> Iterator[Notice]:
    """Notices of retraction or correction in the article itself. These are rare; PubMed's record
    always has them."""
    for link in meta.findall("related-article"):
        kind = _NOTICES.get(link.get("related-article-type", ""))
        if kind:
            yield Notice(kind=kind, notice_id=_linked(link))
