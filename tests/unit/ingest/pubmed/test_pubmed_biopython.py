"""Our reading of 618 real records agrees with Biopython's, field by field.

Biopython reads by the DTDs that it carries; ours by WIRE 1. The file of 2016 names a DTD that
Biopython lacks and is read by the one of 2015, which has the same fields.
"""

import gzip
import io
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

import pytest

from tests.grid import grid
from workers.http.errors import Malformed
from workers.ingest.parsers.pubmed.article import Article
from workers.ingest.parsers.pubmed.reader import read_article
from workers.ingest.parsers.pubmed.records import parse, record
from workers.ingest.parsers.xml import parse_xml

SHARED = Path(__file__).resolve().parents[4].parent / "shared"
FOLDER = SHARED / "data" / "pubmed_xml"
FILES = [
    "biopython/pubmed1.xml",
    "biopython/pubmed2.xml",
    "biopython/pubmed4.xml",
    "biopython/pubmed5.xml",
    "biopython/pubmed6.xml",
    "biopython/pubmed7.xml",
    "biomcp/efetch_citation_22663011.xml",
    "titipata/pubmed-29768149.xml",
    "titipata/test_current_medline.xml.gz",
    "titipata/medline16n0902.xml.gz",
]

pytestmark = pytest.mark.skipif(
    not FOLDER.is_dir(), reason="needs the shared data beside the repository"
)

_SPACE = re.compile(r"[ \t\r\n]+")
_SUP = re.compile(r"<sup>\s*([0-9+\-−,–]+)\s*</sup>")
_TAG = re.compile(r"</?(?:b|i|u|sup|sub)>")
_MATH = re.compile(r"<math.*?</math>", re.DOTALL)
_RAISED = str.maketrans("0123456789+-−", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻")
_MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]


def _bytes(name: str) -> bytes:
    data = (FOLDER / name).read_bytes()
    return gzip.decompress(data) if name.endswith(".gz") else data


@cache
def _pairs() -> list[tuple[Article, Any, Any]]:
    """Our article, and Biopython's citation and PubmedData (empty in the file of 2016)."""
    entrez = pytest.importorskip("Bio.Entrez")
    pairs = []
    for name in FILES:
        data = _bytes(name)
        theirs = entrez.read(io.BytesIO(data.replace(b"citationset_160101", b"citationset_150101")))
        if theirs.get("PubmedArticle"):
            entries = [(e["MedlineCitation"], e["PubmedData"]) for e in theirs["PubmedArticle"]]
        else:
            entries = [(entry, {}) for entry in theirs["MedlineCitation"]]
        ours = [read_article(element) for element in _entries(parse_xml(data))]
        assert len(ours) == len(entries)
        pairs += [(article, *entry) for article, entry in zip(ours, entries, strict=True)]
    return pairs


def _entries(root: Element) -> Iterator[Element]:
    return (element for element in root if element.tag in ("PubmedArticle", "MedlineCitation"))


def _plain(text: Any) -> str:
    """Biopython's text, which keeps inline tags, as ours."""
    text = _SUP.sub(lambda found: found[1].translate(_RAISED), str(text))
    return _SPACE.sub(" ", _TAG.sub("", text)).strip(" ")


def _date(parts: Any) -> str:
    month = str(parts.get("Month", ""))
    number = _MONTHS.index(month[:3]) + 1 if month[:3] in _MONTHS else int(month or 0)
    pieces = [f"{int(parts['Year']):04}"]
    pieces += [f"{number:02}"] if number else []
    pieces += [f"{int(parts['Day']):02}"] if "Day" in parts else []
    return "-".join(pieces)


def _terms(theirs: Any) -> list[tuple[str, str, bool]]:
    return [
        (_plain(t), t.attributes.get("UI", ""), t.attributes.get("MajorTopicYN") == "Y")
        for t in theirs
    ]


def _as_terms(ours: Any) -> list[tuple[str, str, bool]]:
    return [(term.name, term.ui, term.major) for term in ours]


def test_there_are_618_records() -> None:
    assert len(_pairs()) == 618


def test_numbers_and_versions_agree() -> None:
    for ours, theirs, _ in _pairs():
        pmid = theirs["PMID"]
        assert (ours.pmid, ours.version) == (str(pmid), pmid.attributes["Version"])


def test_titles_agree() -> None:
    for ours, theirs, _ in _pairs():
        article = theirs["Article"]
        assert ours.title == _plain(article["ArticleTitle"])
        assert ours.vernacular_title == _plain(article.get("VernacularTitle", ""))


def test_abstracts_agree() -> None:
    compared = formulas = 0
    for ours, theirs, _ in _pairs():
        abstract = theirs["Article"].get("Abstract", {})
        parts = [
            (p.attributes.get("Label", ""), p.attributes.get("NlmCategory", ""), _plain(p))
            for p in abstract.get("AbstractText", [])
        ]
        found = [(part.label, part.category, part.text) for part in ours.abstract]
        if any("<math" in text for *_, text in parts):
            # formulas, which Biopython keeps with their tags, are compared by what is around them
            texts = [_SPACE.sub(" ", _MATH.sub("…", text)) for *_, text in parts]
            around = [piece.strip() for text in texts for piece in text.split("…")]
            assert all(piece in " ".join(text for *_, text in found) for piece in around)
            formulas += 1
        else:
            assert found == parts
        assert ours.copyright == _plain(abstract.get("CopyrightInformation", ""))
        compared += bool(parts)
    assert (compared > 530, formulas) == (True, 2)
    others = [
        (other.kind, other.language, [part.text for part in other.parts])
        for ours, _, _ in _pairs()
        for other in ours.other_abstracts
    ]
    assert others == [
        (
            other.attributes["Type"],
            other.attributes.get("Language", "eng"),
            [_plain(text) for text in other["AbstractText"]],
        )
        for _, theirs, _ in _pairs()
        for other in theirs["OtherAbstract"]
    ]


def test_authors_agree() -> None:
    for ours, theirs, _ in _pairs():
        authors = theirs["Article"].get("AuthorList", [])
        assert [
            (a.last_name, a.fore_name, a.initials, a.suffix, a.collective) for a in ours.authors
        ] == [
            (
                *(
                    _plain(a.get(name, ""))
                    for name in ("LastName", "ForeName", "Initials", "Suffix")
                ),
                _plain(a.get("CollectiveName", "")),
            )
            for a in authors
        ]


def test_journals_agree() -> None:
    for ours, theirs, _ in _pairs():
        journal, info = theirs["Article"]["Journal"], theirs["MedlineJournalInfo"]
        issue = journal["JournalIssue"]
        assert ours.journal.title == _plain(journal["Title"])
        assert ours.journal.iso_abbreviation == journal["ISOAbbreviation"]
        assert ours.journal.issn == journal["ISSN"]
        assert ours.journal.volume == _plain(issue.get("Volume", ""))
        assert ours.journal.issue == _plain(issue.get("Issue", ""))
        assert ours.journal.medline_abbreviation == info["MedlineTA"]
        assert ours.journal.nlm_id == info["NlmUniqueID"]
        assert ours.journal.issn_linking == info.get("ISSNLinking", "")
        pagination = theirs["Article"]["Pagination"]
        assert ours.pages == _plain(pagination.get("MedlinePgn", ""))
        assert list(ours.languages) == theirs["Article"]["Language"]


def test_dates_agree() -> None:
    for ours, theirs, data in _pairs():
        published = theirs["Article"]["Journal"]["JournalIssue"]["PubDate"]
        if "MedlineDate" in published:
            year, month = re.match(r"(\d{4}) ([A-Z][a-z]{2})", published["MedlineDate"]).groups()  # type: ignore[union-attr]
            expected = _date({"Year": year, "Month": month})
        else:
            season = str(published.get("Season", ""))[:3]
            months = {"Month": season} if season in _MONTHS else {}
            expected = _date({**months, **published})
        assert str(ours.published) == expected
        assert ours.published_as == " ".join(map(str, published.values()))
        electronic = theirs["Article"]["ArticleDate"]
        assert [str(ours.electronic)] == [_date(d) for d in electronic] or not electronic
        assert (ours.electronic is None) == (not electronic)
        retracted = [
            _date(day)
            for day in data.get("History", [])
            if day.attributes["PubStatus"] == "retracted"
        ]
        assert str(ours.retracted or "") == "".join(retracted)


def test_types_and_headings_agree() -> None:
    for ours, theirs, _ in _pairs():
        types = theirs["Article"]["PublicationTypeList"]
        assert _as_terms(ours.publication_types) == _terms(types)
        headings = theirs.get("MeshHeadingList", [])
        assert _as_terms(h.descriptor for h in ours.mesh) == _terms(
            h["DescriptorName"] for h in headings
        )
        assert [_as_terms(h.qualifiers) for h in ours.mesh] == [
            _terms(h["QualifierName"]) for h in headings
        ]
        assert _as_terms(ours.supplementary_mesh) == _terms(theirs.get("SupplMeshList", []))
        keywords = [word for words in theirs["KeywordList"] for word in words]
        assert _as_terms(ours.keywords) == _terms(keywords)
        assert [(c.name, c.ui, c.registry_number) for c in ours.chemicals] == [
            (c["NameOfSubstance"], c["NameOfSubstance"].attributes["UI"], c["RegistryNumber"])
            for c in theirs.get("ChemicalList", [])
        ]


def test_identifiers_agree() -> None:
    dois = pmcids = 0
    for ours, theirs, data in _pairs():
        locations = [
            str(location)
            for location in theirs["Article"]["ELocationID"]
            if location.attributes["EIdType"] == "doi" and location.attributes["ValidYN"] == "Y"
        ]
        ids = [(i.attributes["IdType"], str(i)) for i in data.get("ArticleIdList", [])]
        listed = [value for kind, value in ids if kind == "doi"]
        assert list(ours.dois) == list(dict.fromkeys([*locations, *listed]))
        assert list(ours.pmcids) == [value for kind, value in ids if kind == "pmc"]
        dois, pmcids = dois + len(ours.dois), pmcids + len(ours.pmcids)
    assert (dois > 570, pmcids) == (True, 7)


def test_registries_grants_and_links_agree() -> None:
    for ours, theirs, _ in _pairs():
        article = theirs["Article"]
        assert list(ours.accessions) == [
            (str(bank["DataBankName"]), str(number))
            for bank in article.get("DataBankList", [])
            for number in bank.get("AccessionNumberList", [])
        ]
        assert list(ours.grant_agencies) == [
            agency for g in article.get("GrantList", []) if (agency := _plain(g.get("Agency", "")))
        ]
        links = theirs.get("CommentsCorrectionsList", [])
        kinds = [link.attributes["RefType"] for link in links]
        assert [(c.ref_type, c.source, c.pmid) for c in ours.corrections] == [
            (kind, _plain(link["RefSource"]), str(link.get("PMID", "")))
            for kind, link in zip(kinds, links, strict=True)
            if kind != "Cites"
        ]
        assert ours.conflicts == _plain(theirs.get("CoiStatement", ""))


@grid("name", FILES)
def test_every_real_record_is_stored_and_no_field_of_it_is_unknown(name: str) -> None:
    parsed = parse(_bytes(name))
    assert not parsed.problems
    assert not parsed.doubts
    assert not parsed.unmapped
    assert len({found.key for found in parsed.records}) == len(parsed.records)
    assert parsed.gone == (["pmid:26432306"] if "16n0902" in name else [])


def test_records_of_articles_are_those_of_the_payload() -> None:
    found = parse(_bytes(FILES[-1])).records
    articles = [ours for ours, theirs, data in _pairs() if not data]
    assert [record(article) for article in articles] == found


def test_a_truncated_real_file_is_malformed() -> None:
    with pytest.raises(Malformed):
        parse(_bytes("biopython/einfo4.xml"))


@pytest.mark.parametrize("name", ["biopython/einfo1.xml", "biopython/epost2.xml"])
def test_real_answers_of_other_programs_are_malformed(name: str) -> None:
    with pytest.raises(Malformed):
        parse(_bytes(name))
