"""Reads the XML of one PubMed record into an `Article`."""

from collections.abc import Iterable, Iterator
from xml.etree.ElementTree import Element

from workers.ingest.parsers.markup import words
from workers.ingest.parsers.pubmed.article import (
    AbstractPart,
    Article,
    Author,
    Book,
    Chemical,
    Correction,
    Journal,
    MeshHeading,
    OtherAbstract,
    Term,
)
from workers.ingest.parsers.pubmed.dates import PartialDate, read_date, written_date

_NONE = Element("none")
_NAMES = frozenset({"LastName", "ForeName", "Initials", "Suffix", "CollectiveName"})


def read_article(entry: Element) -> Article:
    """Read a `PubmedArticle`, or the bare `MedlineCitation` of older files."""
    bare = entry.tag == "MedlineCitation"
    citation = entry if bare else _child(entry, "MedlineCitation")
    data = _NONE if bare else _child(entry, "PubmedData")
    parts = {child.tag: child for child in citation}
    article = parts.get("Article", _NONE)
    inner = {child.tag: child for child in article}
    issue = _child(inner.get("Journal", _NONE), "JournalIssue")
    pub_date = issue.find("PubDate")
    pmid = parts.get("PMID", _NONE)
    ids = _article_ids(data)
    locations = [
        words(location)
        for location in article.findall("ELocationID")
        if location.get("EIdType") == "doi" and location.get("ValidYN", "Y") == "Y"
    ]
    abstract = inner.get("Abstract", _NONE)
    return Article(
        pmid=words(pmid),
        version=pmid.get("Version", ""),
        title=words(inner.get("ArticleTitle")),
        vernacular_title=words(inner.get("VernacularTitle")),
        abstract=_abstract(abstract),
        copyright=words(abstract.find("CopyrightInformation")),
        other_abstracts=tuple(_other_abstracts(citation)),
        authors=_authors(inner.get("AuthorList", _NONE)),
        journal=_journal(
            inner.get("Journal", _NONE), parts.get("MedlineJournalInfo", _NONE), issue
        ),
        book=None,
        published=read_date(pub_date),
        published_as=written_date(pub_date),
        electronic=read_date(inner.get("ArticleDate")),
        contributed=None,
        retracted=_retracted(data),
        pages=_pages(inner.get("Pagination", _NONE)),
        languages=_texts(article, "Language"),
        publication_types=_terms(inner.get("PublicationTypeList", _NONE)),
        mesh=tuple(_mesh(parts.get("MeshHeadingList", _NONE))),
        supplementary_mesh=_terms(parts.get("SupplMeshList", _NONE)),
        chemicals=tuple(_chemicals(parts.get("ChemicalList", _NONE))),
        genes=_texts(parts.get("GeneSymbolList", _NONE), "GeneSymbol"),
        keywords=_keywords(citation),
        dois=_unique([*locations, *ids["doi"]]),
        pmcids=_unique(ids["pmc"]),
        accessions=tuple(_accessions(inner.get("DataBankList", _NONE))),
        grant_agencies=_agencies(inner.get("GrantList", _NONE)),
        corrections=tuple(_corrections(parts.get("CommentsCorrectionsList", _NONE))),
        conflicts=words(parts.get("CoiStatement")),
    )


def read_book(entry: Element) -> Article:
    """Read a `PubmedBookArticle`: a book or a chapter of one."""
    document = _child(entry, "BookDocument")
    data = _child(entry, "PubmedBookData")
    parts = {child.tag: child for child in document}
    book = parts.get("Book", _NONE)
    pmid = parts.get("PMID", _NONE)
    abstract = parts.get("Abstract", _NONE)
    ids, more = _article_ids(document), _article_ids(data)
    locations = [
        words(location)
        for location in book.findall("ELocationID")
        if location.get("EIdType") == "doi" and location.get("ValidYN", "Y") == "Y"
    ]
    pub_date = book.find("PubDate")
    book_title = words(book.find("BookTitle"))
    chapter = words(parts.get("ArticleTitle"))
    authors = _authors(parts.get("AuthorList", _NONE))
    lists = [*document.findall("AuthorList"), *book.findall("AuthorList")]
    return Article(
        pmid=words(pmid),
        version=pmid.get("Version", ""),
        title=chapter or book_title,
        vernacular_title=words(parts.get("VernacularTitle")),
        abstract=_abstract(abstract),
        copyright=words(abstract.find("CopyrightInformation")),
        other_abstracts=(),
        authors=_by_kind(lists, editors=False) or authors,
        journal=Journal(),
        book=_book(document, book, _by_kind(lists, editors=True), [*ids["book"], *more["book"]]),
        published=read_date(pub_date),
        published_as=written_date(pub_date),
        electronic=None,
        contributed=read_date(parts.get("ContributionDate")),
        retracted=_retracted(data),
        pages=_pages(parts.get("Pagination", _NONE)),
        languages=_texts(document, "Language"),
        publication_types=_terms(document, "PublicationType"),
        mesh=(),
        supplementary_mesh=(),
        chemicals=(),
        genes=(),
        keywords=_keywords(document),
        dois=_unique([*ids["doi"], *more["doi"], *locations]),
        pmcids=_unique([*ids["pmc"], *more["pmc"]]),
        accessions=(),
        grant_agencies=_agencies(parts.get("GrantList", _NONE)),
        corrections=(),
        conflicts="",
    )


def _child(element: Element, tag: str) -> Element:
    child = element.find(tag)
    return _NONE if child is None else child


def _texts(element: Element, tag: str) -> tuple[str, ...]:
    return tuple(filter(None, map(words, element.findall(tag))))


def _unique(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(filter(None, values)))


def _abstract(element: Element) -> tuple[AbstractPart, ...]:
    return tuple(
        AbstractPart(part.get("Label", "").strip(), part.get("NlmCategory", ""), text)
        for part in element.findall("AbstractText")
        if (text := words(part))
    )


def _other_abstracts(citation: Element) -> Iterator[OtherAbstract]:
    for element in citation.findall("OtherAbstract"):
        yield OtherAbstract(
            element.get("Type", ""), element.get("Language", "eng"), _abstract(element)
        )


def _authors(element: Element) -> tuple[Author, ...]:
    return tuple(_author(author) for author in element if author.tag == "Author")


def _author(element: Element) -> Author:
    names = {child.tag: words(child) for child in element if child.tag in _NAMES}
    name = names.get
    return Author(
        name("LastName", ""),
        name("ForeName", ""),
        name("Initials", ""),
        name("Suffix", ""),
        name("CollectiveName", ""),
    )


def _by_kind(lists: Iterable[Element], *, editors: bool) -> tuple[Author, ...]:
    """The people in the lists of type `editors`, or those in all other lists."""
    return tuple(
        author
        for element in lists
        if (element.get("Type") == "editors") is editors
        for author in _authors(element)
    )


def _journal(journal: Element, info: Element, issue: Element) -> Journal:
    names = {child.tag: child for child in journal}
    facts = {child.tag: child for child in info}
    return Journal(
        title=words(names.get("Title")),
        iso_abbreviation=words(names.get("ISOAbbreviation")),
        medline_abbreviation=words(facts.get("MedlineTA")),
        issn=words(names.get("ISSN")),
        issn_linking=words(facts.get("ISSNLinking")),
        nlm_id=words(facts.get("NlmUniqueID")),
        volume=words(issue.find("Volume")),
        issue=words(issue.find("Issue")),
    )


def _book(
    document: Element, book: Element, editors: tuple[Author, ...], accessions: list[str]
) -> Book:
    parts = {child.tag: child for child in book}
    publisher = parts.get("Publisher", _NONE)
    return Book(
        title=words(parts.get("BookTitle")),
        publisher=words(publisher.find("PublisherName")),
        place=words(publisher.find("PublisherLocation")),
        edition=words(parts.get("Edition")),
        volume=words(parts.get("Volume")) or words(parts.get("VolumeTitle")),
        collection=words(parts.get("CollectionTitle")),
        isbns=_texts(book, "Isbn"),
        editors=editors,
        accession=accessions[0] if accessions else "",
        sections=_unique(
            words(title) for title in _child(document, "Sections").iter("SectionTitle")
        ),
    )


def _article_ids(data: Element) -> dict[str, list[str]]:
    """The ids in the list directly below `data`, without those of its references."""
    ids: dict[str, list[str]] = {"doi": [], "pmc": [], "book": []}
    for article_id in _child(data, "ArticleIdList"):
        kind = "book" if article_id.get("IdType") == "bookaccession" else article_id.get("IdType")
        if kind in ids:
            ids[kind].append(words(article_id))
    return ids


def _retracted(data: Element) -> PartialDate | None:
    for element in _child(data, "History"):
        if element.get("PubStatus") == "retracted" and (day := read_date(element)):
            return day
    return None


def _pages(element: Element) -> str:
    """The pages in `MedlinePgn`, else the first and last page."""
    written = words(element.find("MedlinePgn"))
    if written:
        return written
    return "-".join(
        filter(None, (words(element.find("StartPage")), words(element.find("EndPage"))))
    )


def _terms(element: Element, tag: str | None = None) -> tuple[Term, ...]:
    return tuple(
        Term(text, child.get("UI", ""), child.get("MajorTopicYN") == "Y")
        for child in (element if tag is None else element.findall(tag))
        if (text := words(child))
    )


def _mesh(element: Element) -> Iterator[MeshHeading]:
    for heading in element.findall("MeshHeading"):
        descriptor: Term | None = None
        qualifiers = []
        for child in heading:
            term = Term(words(child), child.get("UI", ""), child.get("MajorTopicYN") == "Y")
            if child.tag == "DescriptorName":
                descriptor = term
            elif child.tag == "QualifierName":
                qualifiers.append(term)
        if descriptor and descriptor.name:
            yield MeshHeading(descriptor, tuple(qualifiers))


def _chemicals(element: Element) -> Iterator[Chemical]:
    for chemical in element:
        name = chemical.find("NameOfSubstance")
        if name is not None:
            yield Chemical(words(name), name.get("UI", ""), words(chemical.find("RegistryNumber")))


def _keywords(element: Element) -> tuple[Term, ...]:
    return tuple(
        Term(text, "", keyword.get("MajorTopicYN") == "Y")
        for keywords in element.findall("KeywordList")
        for keyword in keywords
        if (text := words(keyword))
    )


def _accessions(element: Element) -> Iterator[tuple[str, str]]:
    for bank in element:
        name = words(bank.find("DataBankName"))
        for number in _child(bank, "AccessionNumberList"):
            value = words(number)
            if value:
                yield name, value


def _agencies(element: Element) -> tuple[str, ...]:
    return tuple(filter(None, (words(grant.find("Agency")) for grant in element.findall("Grant"))))


def _corrections(element: Element) -> Iterator[Correction]:
    for link in element:
        ref_type = link.get("RefType", "")
        if ref_type == "Cites":
            continue  # a reference, in files before 2018
        parts = {child.tag: child for child in link}
        yield Correction(ref_type, words(parts.get("RefSource")), words(parts.get("PMID")))
