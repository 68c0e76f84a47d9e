"""Europe PMC: pages of search results in JSON, and open full texts in JATS (WIRE 4).

`parse` distinguishes the two by their first byte. The XML forms of search results are not read:
they are Malformed, as is an error instead of results. A withdrawn preprint has no flag; its notice
is inferred from how its title or abstract begins, and `facts["standing_basis"]` says so.
"""

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Any
from urllib.parse import quote

from pydantic import ValidationError

from knowledge.works.publication_types import PublicationType, most_telling, of_article_type
from store.documents.records import Notice
from workers.http.errors import Malformed
from workers.ingest.parsers import envelope
from workers.ingest.parsers.base import Doubt, Parsed, Problem
from workers.ingest.parsers.europepmc.fields import ENVELOPE, RESULT
from workers.ingest.parsers.europepmc.standing import (
    ID,
    RETRACTED,
    SOURCE,
    relations,
    stated_notices,
    unknown_ties,
)
from workers.ingest.parsers.inline_markup import paragraphs, words
from workers.ingest.parsers.jats.article import parse_jats
from workers.ingest.parsers.json_payload import (
    Json,
    Precision,
    add_record,
    at,
    filled,
    load,
    number,
    obj,
    one_line,
    rows,
    text,
    texts,
    when,
)

_PATTERNS = {
    "pmid": re.compile(r"[1-9][0-9]{0,8}"),
    "pmcid": re.compile(r"PMC[1-9][0-9]{0,11}"),
    "doi": re.compile(r"10\.[0-9]{4,9}/\S{1,900}"),
}
_REGISTRIES = frozenset({"nct", "eudract", "isrctn"})

_MONTHS = "Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec"
_STATED = re.compile(rf"(\d{{4}})(?:\s+({_MONTHS})\S*(?:\s+(\d{{1,2}})\b)?)?")


def parse(payload: bytes) -> Parsed:
    """Read a page of search results or one full text. Raises Malformed."""
    first = payload[:64].removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
    if first == b"<":
        return parse_jats(payload)
    if first != b"{":
        raise Malformed("neither JSON nor XML")
    answer = load(payload)
    if at(answer, "resultList") is None and (text(answer, "problem") or text(answer, "content")):
        return _told_by_connector(payload)
    parsed = Parsed(unmapped=ENVELOPE.unknown(answer))
    for result in results(answer):
        if isinstance(result, dict):
            parsed.unmapped.update(RESULT.unknown(result))
            _add_result(parsed, result)
        else:
            parsed.problems.append(Problem(None, "a result that is no object"))
    return parsed


def full_text(content: bytes, notices: Sequence[Json], pmcid: str = "") -> bytes:
    """Pack a full text into a payload, with the notices on its article. `pmcid` identifies the text
    if it cannot be read."""
    return envelope.wrap(content, notices=list(notices), pmcid=pmcid)


def _told_by_connector(payload: bytes) -> Parsed:
    unwrapped = envelope.unwrap(payload)
    if isinstance(unwrapped, Parsed):
        return unwrapped
    facts, content = unwrapped
    pmcid = text(facts, "pmcid")
    try:
        parsed = parse_jats(content)
    except Malformed as error:
        if not pmcid:
            raise
        # a preprint's full text has another key, and an unreadable text may be of either kind
        name = f"fulltext:{pmcid}"
        return Parsed(
            problems=[Problem(f"europepmc:{name}", str(error))], unseen=[f"preprint:{name}"]
        )
    try:
        notices = [Notice.model_validate(notice) for notice in rows(facts, "notices")]
    except ValidationError:
        raise Malformed("the notices on a full text are none") from None
    parsed.records = [
        record.model_copy(update={"notices": tuple(dict.fromkeys([*record.notices, *notices]))})
        for record in parsed.records
    ]
    return parsed


def results(answer: Any) -> list[Any]:
    """The results in a response. Raises Malformed; errors also come with status 200."""
    if at(answer, "errCode") is not None:
        raise Malformed("an error in place of results")
    items = at(answer, "resultList", "result")
    if not isinstance(items, list):
        # the response to some queries that Europe PMC cannot read
        raise Malformed("no resultList in the answer; the query may be one it cannot read")
    return items


def open_full_texts(answer: Any) -> list[str]:
    """The PMCIDs of the results whose full text is open access in Europe PMC."""
    return [
        pmcid
        for result in rows(answer, "resultList", "result")
        if text(result, "inEPMC") == "Y" and text(result, "isOpenAccess") == "Y"
        if _PATTERNS["pmcid"].fullmatch(pmcid := text(result, "pmcid"))
    ]


def notices_by_pmcid(answer: Any) -> dict[str, list[Json]]:
    """PMCID → notices as JSON, for the results that have both."""
    parsed = Parsed()
    for result in rows(answer, "resultList", "result"):
        if text(result, "pmcid"):
            _add_result(parsed, result)
    return {
        record.identifiers.pmcid: [notice.model_dump(mode="json") for notice in record.notices]
        for record in parsed.records
        if record.identifiers.pmcid and record.notices
    }


def _add_result(parsed: Parsed, result: Json) -> None:
    source, name = text(result, "source"), text(result, "id")
    if not SOURCE.fullmatch(source) or not ID.fullmatch(name):
        parsed.problems.append(Problem(None, "no source and id that name it"))
        return
    identifiers, bad = _identifiers(result, source, name)
    source_key, key = _key(source, name, identifiers)
    parsed.doubts += [Doubt(key, kind, one_line(value)) for kind, value in bad.items()]
    title = one_line(words(text(result, "title")))
    if not title:  # a list of ids only (resultType=idlist)
        parsed.problems.append(Problem(key, "has no title"))
        return
    body = paragraphs(text(result, "abstractText"))
    if body and not body.startswith("#"):
        body = f"## Abstract\n\n{body}"
    types = _types(result)
    kind = _kind(types, source)
    notices = stated_notices(result, types)
    if ties := unknown_ties(result):
        parsed.unmapped["commentCorrectionList.commentCorrection[].type"] += ties
    published, precision = _published(result)
    add_record(
        parsed,
        key,
        source_type="preprint" if kind and kind.name == "Preprint" else "europepmc",
        source_key=source_key,
        title=title,
        text=body or title,
        url=f"https://europepmc.org/article/{source}/{quote(name, safe='')}",
        published_at=published,
        published_precision=precision,
        identifiers=identifiers,
        authors=_authors(result),
        publisher=_publisher(result),
        publication_type=kind.name if kind else None,
        evidence_level=kind.level if kind else None,
        subjects=[one_line(text(heading, "descriptorName")) for heading in _headings(result)],
        facts=_facts(result, types),
        notices=notices,
    )


def _identifiers(result: Json, source: str, name: str) -> tuple[dict[str, str], dict[str, str]]:
    """The valid identifiers by kind, and the invalid ones."""
    stated = {kind: text(result, kind) for kind in _PATTERNS}
    if source == "MED":  # an id of MEDLINE is a PMID
        stated["pmid"] = stated["pmid"] or name
    if source == "PMC":
        stated["pmcid"] = stated["pmcid"] or name
    valid = {kind: value for kind, value in stated.items() if _PATTERNS[kind].fullmatch(value)}
    return valid, {k: value for k, value in stated.items() if value and k not in valid}


def _key(source: str, name: str, found: dict[str, str]) -> tuple[str | None, str]:
    """The source key and the document key. A record with a PMID shares PubMed's document."""
    own = f"{source.lower()}:{name}"
    if source == "PPR":
        return own, f"preprint:{own}"
    for kind in ("pmid", "pmcid"):
        if kind in found:
            return None, f"{kind}:{found[kind].lower()}"
    return own, f"europepmc:{own}"


def _types(result: Json) -> list[str]:
    """The publication types of MEDLINE and JATS as written; lite results have "a; b"."""
    names = texts(result, "pubTypeList", "pubType") or text(result, "pubType").split(";")
    return [one_line(name) for name in names if name.strip()]


def _kind(types: list[str], source: str) -> PublicationType | None:
    """The most informative type; JATS types count as their MEDLINE equivalents."""
    if source == "PPR" or "preprint" in map(str.lower, types):
        return PublicationType("Preprint", None)
    stated = [name for name in types if name.lower() != RETRACTED]
    same = (of_article_type(name) for name in stated)
    return most_telling(
        medline.name if medline else name for name, medline in zip(stated, same, strict=True)
    )


def _published(result: Json) -> tuple[datetime | None, Precision]:
    """The date of first publication, with the precision that is stated.

    `firstPublicationDate` always has a day: for a print issue, the first of the month or year. The
    journal's own date shows the precision; without it, the first of a month counts as the month,
    and the first of January as the year.
    """
    first = when(text(result, "firstPublicationDate"))
    if first is None:
        year = when(text(result, "pubYear")[:4])
        return (year[0], "year") if year else (None, "day")
    moment, precision = first
    electronic = when(text(result, "electronicPublicationDate"))
    if precision != "day" or moment.day != 1 or text(result, "source") == "PPR":
        return moment, precision
    if electronic and electronic[0] == moment:
        return moment, "day"
    stated = _STATED.match(text(result, "journalInfo", "dateOfPublication"))
    if stated and stated[1] == f"{moment.year:04}":
        return moment, "day" if stated[3] else "month" if stated[2] else "year"
    return moment, "year" if moment.month == 1 else "month"


def _authors(result: Json) -> list[str]:
    people = []
    for author in rows(result, "authorList", "author"):
        full = text(author, "fullName") or text(author, "collectiveName")
        people.append(full or f"{text(author, 'lastName')} {text(author, 'firstName')}")
    if not people:
        people = text(result, "authorString").removesuffix(".").split(", ")
    return [name for name in (one_line(words(person)) for person in people) if name]


def _publisher(result: Json) -> str | None:
    """The journal, preprint server or publisher."""
    return (
        one_line(
            words(
                text(result, "journalInfo", "journal", "title")
                or text(result, "journalTitle")
                or text(result, "bookOrReportDetails", "publisher")
            )
        )
        or None
    )


def _headings(result: Json) -> list[Json]:
    headings = rows(result, "meshHeadingList", "meshHeading")
    return [heading for heading in headings if text(heading, "descriptorName")]


def _facts(result: Json, types: list[str]) -> Json:
    """The facts, under the same names as in PubMed's parser."""
    registries = [entry.lower() for entry in texts(result, "tmAccessionTypeList", "accessionType")]
    open_access = text(result, "isOpenAccess")
    headings = _headings(result)
    return filled(
        {
            "source": text(result, "source"),
            "has_abstract": bool(text(result, "abstractText")),
            "is_open_access": open_access == "Y" if open_access else None,
            "license": text(result, "license"),
            "languages": [language] if (language := text(result, "language")) else [],
            "preprint_version": number(result, "versionNumber"),
            "publication_types": [entry for entry in types if entry.lower() != RETRACTED],
            "journal": _journal(result),
            "mesh_major": [text(entry, "descriptorName") for entry in headings if _is_major(entry)],
            "mesh_qualifiers": {
                text(entry, "descriptorName"): names
                for entry in headings
                if (names := [name for each in _qualifiers(entry) if (name := _name(each))])
            },
            "keywords": [words(entry) for entry in texts(result, "keywordList", "keyword")],
            "chemicals": [
                name
                for entry in rows(result, "chemicalList", "chemical")
                if (name := text(entry, "name"))
            ],
            "grant_agencies": sorted(
                {text(entry, "agency") for entry in rows(result, "grantsList", "grant")} - {""}
            ),
            "mentions_registries": [entry for entry in registries if entry in _REGISTRIES],
            **relations(result),
        }
    )


def _qualifiers(heading: Json) -> list[Json]:
    return rows(heading, "meshQualifierList", "meshQualifier")


def _name(qualifier: Json) -> str:
    return text(qualifier, "qualifierName")


def _is_major(heading: Json) -> bool:
    """Return True if the heading or one of its qualifiers is a major topic of the article."""
    return any(text(term, "majorTopic_YN") == "Y" for term in (heading, *_qualifiers(heading)))


def _journal(result: Json) -> Json:
    info = obj(result, "journalInfo")
    journal = obj(info, "journal")
    return filled(
        {
            "abbreviation": text(journal, "isoabbreviation")
            or text(journal, "medlineAbbreviation"),
            "volume": text(info, "volume") or text(result, "journalVolume"),
            "issue": text(info, "issue") or text(result, "issue"),
            "pages": text(result, "pageInfo"),
            "issn": text(journal, "issn") or text(result, "journalIssn").strip("; "),
            "essn": text(journal, "essn"),
            "nlm_id": text(journal, "nlmid"),
            "issue_date": text(info, "dateOfPublication"),
        }
    )
