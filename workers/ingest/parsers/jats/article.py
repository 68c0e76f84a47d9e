"""Full texts of PMC and Europe PMC: JATS articles, alone or in a `pmc-articleset` (WIRE 1, 4)."""

from xml.etree.ElementTree import Element

from pydantic import ValidationError

from store.documents.records import Identifiers, SourceRecord
from workers.http.errors import Malformed
from workers.ingest.parsers.base import Doubt, LeftOut, Parsed, Problem
from workers.ingest.parsers.jats import front as article_front
from workers.ingest.parsers.jats.front import MAX_LINE, below
from workers.ingest.parsers.jats.text import Text
from workers.ingest.parsers.markup import words
from workers.ingest.parsers.xml import parse_xml

_PLACE = "addresses and places of people"
_MACHINE = "about the handling of the text, not about the article"

LEFT_OUT: LeftOut = {
    "article/sub-article": "reviews, replies and translations are texts of their own",
    "article/response": "a text of its own",
    "article/processing-meta": _MACHINE,
    "journal-meta/custom-meta-group": _MACHINE,
    "journal-meta/notes": _MACHINE,
    "journal-meta/self-uri": _MACHINE,
    "journal-meta/contrib-group": "the journal's editors",
    "article-meta/aff": _PLACE,
    "article-meta/aff-alternatives": _PLACE,
    "article-meta/article-version": _MACHINE,
    "article-meta/article-version-alternatives": _MACHINE,
    "article-meta/issue-id": _MACHINE,
    "article-meta/issue-title": "the theme of an issue",
    "article-meta/issue-sponsor": "who paid for an issue",
    "article-meta/pub-history": _MACHINE,
    "article-meta/self-uri": _MACHINE,
    "article-meta/counts": _MACHINE,
    "article-meta/author-notes/fn": "all but conflicts: addresses, who did what",
    "article-meta/conference": "where it was first told",
    "article-meta/supplementary-material": "files beside the text",
    "article-meta/product": "what a review is about is in its text",
    "article-meta/isbn": "of proceedings",
    "article-meta/support-group": "who helped",
    "back/ref-list": "other works, whose words and identifiers are not this one's",
    "back/bio": "people",
}
"""Path below `article` or `front` → why it and everything below it is not in the record."""

_MAPPED: dict[str, set[str]] = {
    "article": {"front", "body", "back", "floats-group"},
    "front": {"journal-meta", "article-meta", "notes", "list", "fn-group"},
    "journal-meta": {
        "journal-id", "journal-title-group", "journal-title", "issn", "issn-l", "publisher",
    },
    "article-meta": {
        "article-id", "article-categories", "title-group", "contrib-group", "author-notes",
        "pub-date", "pub-date-not-available", "volume", "issue", "fpage", "lpage", "page-range",
        "elocation-id", "volume-id", "volume-series", "history", "permissions", "related-article",
        "related-object", "abstract", "trans-abstract", "kwd-group", "funding-group",
        "custom-meta-group",
    },
}  # fmt: skip


def parse_jats(payload: bytes) -> Parsed:
    """Read full texts; each becomes a document `fulltext:PMC…` next to its PubMed record.

    XML white space becomes single spaces within a paragraph. Raises Malformed if the payload is
    not XML, not JATS, or nested too deeply.
    """
    root = parse_xml(payload)
    if root.tag not in ("article", "pmc-articleset"):
        raise Malformed("not a JATS article: the root element is another")
    parsed = Parsed()
    try:
        for entry in [root] if root.tag == "article" else root:
            if entry.tag == "article":
                _add(parsed, entry)
            elif entry.tag.lower() == "error":
                parsed.problems.append(Problem(None, "PMC has no full text for an id"))
            else:
                parsed.unmapped[entry.tag] += 1
    except RecursionError:
        raise Malformed("an article is nested too deeply") from None
    return parsed


def _add(parsed: Parsed, article: Element) -> None:
    front = below(article, "front")
    meta = below(front, "article-meta")
    for element in (article, front, below(front, "journal-meta"), meta):
        for child in element:
            path = f"{element.tag}/{child.tag}"
            if child.tag not in _MAPPED[element.tag] and path not in LEFT_OUT:
                parsed.unmapped[path] += 1
    ids, doubts = article_front.identifiers(meta)
    if "pmcid" not in ids:
        parsed.problems.append(Problem(None, "article-id: there is no PMCID, or it is none"))
        return
    source_id = f"europepmc:fulltext:{ids['pmcid']}"
    parsed.doubts += [Doubt(source_id, kind, value[:200]) for kind, value in doubts]
    text = _text(article, meta)
    parsed.unmapped.update({f"article//{tag}": count for tag, count in text.unmapped.items()})
    try:
        parsed.records.append(_record(article, front, meta, ids, str(text)))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        place = ".".join(str(step) for step in first["loc"])
        parsed.problems.append(Problem(source_id, f"{place}: {first['msg']}"))


def _record(
    article: Element, front: Element, meta: Element, ids: dict[str, str], text: str
) -> SourceRecord:
    journal = below(front, "journal-meta")
    kind = article_front.publication_type(article.get("article-type", ""))
    published = article_front.published(meta.findall("pub-date"))
    titles = below(meta, "title-group")
    title = ": ".join(
        filter(None, (words(titles.find("article-title")), words(titles.find("subtitle"))))
    )
    properties = article_front.properties(meta)
    journal_title = words(next(journal.iter("journal-title"), None))
    facts = article_front.facts(article, journal, meta, properties)
    has_text = bool(text) and _has_words(article.find("body"))
    return SourceRecord(
        source_type="preprint" if properties.get("pmc-prop-preprint") == "yes" else "europepmc",
        source_key=f"fulltext:{ids['pmcid']}",
        title=_line(title),
        text=text or title,
        url=f"https://pmc.ncbi.nlm.nih.gov/articles/{ids['pmcid']}/",
        published_at=published.moment if published else None,
        published_precision=published.precision if published else "day",
        identifiers=Identifiers(**ids),
        authors=tuple(_line(name) for name in article_front.authors(meta)),
        publisher=_line(journal_title or words(next(journal.iter("publisher-name"), None))) or None,
        publication_type=kind.name if kind else None,
        evidence_level=kind.level if kind else None,
        facts={"has_full_text": has_text, **facts},
        notices=tuple(article_front.notices(meta)),
    )


def _line(text: str) -> str:
    return text if len(text) <= MAX_LINE else text[: MAX_LINE - 1].rstrip() + "…"


def _has_words(element: Element | None) -> bool:
    return element is not None and any(piece.strip() for piece in element.itertext())


def _text(article: Element, meta: Element) -> Text:
    text = Text()
    for abstract in meta.findall("abstract"):
        kind = abstract.get("abstract-type", "")
        title = words(abstract.find("title")) if kind else ""
        text.add_heading(title or kind.replace("-", " ").capitalize() or "Abstract", 2)
        text.add_all(abstract, 3)
    text.add_all(below(article, "body"), 2)
    floats = below(article, "floats-group")
    text.add_heading("Figures and tables", 2)
    text.add_all(floats, 3)
    text.add_all(below(article, "back"), 2)
    return text
