"""The fields of PubMed records that are read or left out, with reasons (pubmed_250101.dtd).

Names with an `@` are attributes. Elements within a text field, such as `i` or `sub`, are part of
the text, not fields.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from xml.etree.ElementTree import Element

from workers.ingest.parsers.base import LeftOut

_MACHINE = "about the handling of the record at NLM, not about the article"
_MOVES = "changes with every export, also where nothing of the article did"
_PERSON = "names of the people inside a group; the group is the author"

LEFT_OUT: LeftOut = {
    "MedlineCitation/@Status": "the state of indexing; what it brings (MeSH) is in the record",
    "MedlineCitation/@Owner": _MACHINE,
    "MedlineCitation/@IndexingMethod": _MACHINE,
    "MedlineCitation/@VersionID": _MACHINE,
    "MedlineCitation/@VersionDate": _MACHINE,
    "MedlineCitation/DateCreated/*": _MACHINE,
    "MedlineCitation/DateCompleted/*": _MACHINE,
    "MedlineCitation/DateRevised/*": _MOVES,
    "MedlineCitation/CitationSubset": _MACHINE,
    "MedlineCitation/OtherID/*": "numbers of other catalogues; PMC's stands among the article ids",
    "MedlineCitation/GeneralNote/*": "cataloguers' notes",
    "MedlineCitation/NumberOfReferences": _MOVES,
    "MedlineCitation/InvestigatorList/*": _PERSON,
    "MedlineCitation/PersonalNameSubjectList/*": "people as subjects: history, no evidence",
    "MedlineCitation/SpaceFlightMission": "no evidence",
    "MedlineCitation/MedlineJournalInfo/Country": "where the publisher sits",
    "MedlineCitation/Article/@PubModel": _MACHINE,
    "MedlineCitation/Article/Journal/ISSN/@IssnType": "the ISSN is enough to name the journal",
    "MedlineCitation/Article/Journal/JournalIssue/@CitedMedium": _MACHINE,
    "MedlineCitation/Article/AuthorList/@CompleteYN": _MACHINE,
    "MedlineCitation/Article/AuthorList/@Type": "only of books",
    "MedlineCitation/Article/AuthorList/Author/@ValidYN": _MACHINE,
    "MedlineCitation/Article/AuthorList/Author/@EqualContrib": "no evidence",
    "MedlineCitation/Article/AuthorList/Author/CollectiveName/@Investigators": _PERSON,
    "MedlineCitation/Article/AuthorList/Author/AffiliationInfo/*": "addresses of persons",
    "MedlineCitation/Article/AuthorList/Author/Identifier/*": "identifies a person",
    "MedlineCitation/Article/ELocationID/@ValidYN": "decides whether the DOI is taken",
    "MedlineCitation/Article/DataBankList/@CompleteYN": _MACHINE,
    "MedlineCitation/Article/GrantList/@CompleteYN": _MACHINE,
    "MedlineCitation/Article/GrantList/Grant/GrantID": "the agency tells who paid",
    "MedlineCitation/Article/GrantList/Grant/Acronym": "the agency tells who paid",
    "MedlineCitation/Article/GrantList/Grant/Country": "the agency tells who paid",
    "MedlineCitation/Article/ArticleDate/@DateType": "fixed: Electronic",
    "MedlineCitation/MeshHeadingList/MeshHeading/DescriptorName/@Type": "geographic or not",
    "MedlineCitation/MeshHeadingList/MeshHeading/DescriptorName/@AutoHM": _MACHINE,
    "MedlineCitation/MeshHeadingList/MeshHeading/QualifierName/@AutoHM": _MACHINE,
    "MedlineCitation/KeywordList/@Owner": _MACHINE,
    "MedlineCitation/KeywordList/Keyword/@MajorTopicYN": "always N for authors' keywords",
    "MedlineCitation/CommentsCorrectionsList/CommentsCorrections/Note": "cataloguers' notes",
    "MedlineCitation/CommentsCorrectionsList/CommentsCorrections/PMID/@Version": _MACHINE,
    "PubmedData/PublicationStatus": _MOVES,
    "PubmedData/History/*": f"{_MOVES}; the date of a retraction is in its notice",
    "PubmedData/ObjectList/*": _MACHINE,
    "PubmedData/ReferenceList/*": "other papers, whose identifiers must not be taken for its own",
    "PubmedBookData/PublicationStatus": _MOVES,
    "PubmedBookData/History/*": _MOVES,
    "PubmedBookData/ObjectList/*": _MACHINE,
    "BookDocument/DateRevised/*": _MOVES,
    "BookDocument/InvestigatorList/*": _PERSON,
    "BookDocument/ItemList/*": "lists of the book's own pages",
    "BookDocument/ReferenceList/*": "other papers",
    "BookDocument/LocationLabel/*": "the place of a chapter within its book",
    "BookDocument/AuthorList/@CompleteYN": _MACHINE,
    "BookDocument/AuthorList/Author/@ValidYN": _MACHINE,
    "BookDocument/AuthorList/Author/AffiliationInfo/*": "addresses of persons",
    "BookDocument/AuthorList/Author/Identifier/*": "identifies a person",
    "BookDocument/Sections/Section/LocationLabel/*": "the place of a section within its chapter",
    "BookDocument/KeywordList/@Owner": _MACHINE,
    "BookDocument/KeywordList/Keyword/@MajorTopicYN": "always N for authors' keywords",
    "BookDocument/GrantList/@CompleteYN": _MACHINE,
    "BookDocument/GrantList/Grant/GrantID": "the agency tells who paid",
    "BookDocument/GrantList/Grant/Acronym": "the agency tells who paid",
    "BookDocument/GrantList/Grant/Country": "the agency tells who paid",
    "BookDocument/Book/BeginningDate/*": "the run of a series",
    "BookDocument/Book/EndingDate/*": "the run of a series",
    "BookDocument/Book/Medium": _MACHINE,
    "BookDocument/Book/ReportNumber": "a number of the series",
    "BookDocument/Book/InvestigatorList/*": _PERSON,
    "BookDocument/Book/AuthorList/@CompleteYN": _MACHINE,
    "BookDocument/Book/AuthorList/Author/@ValidYN": _MACHINE,
    "BookDocument/Book/AuthorList/Author/AffiliationInfo/*": "addresses of persons",
    "BookDocument/Book/AuthorList/Author/Identifier/*": "identifies a person",
    "BookDocument/Book/ELocationID/@ValidYN": "decides whether the DOI is taken",
    **{
        f"{title}/@{name}": "a link within a book"
        for title in (
            "MedlineCitation/Article/ArticleTitle",
            "BookDocument/ArticleTitle",
            "BookDocument/Sections/Section/SectionTitle",
            "BookDocument/Book/BookTitle",
        )
        for name in ("book", "part", "sec")
    },
}
"""Path → why it is not in the record; `/*` covers everything below, attributes included."""

_DATE = "Year Month Day Season MedlineDate"
_PERSON_NAMES = "LastName ForeName Initials Suffix CollectiveName"

_MAPPED = {
    "MedlineCitation": "PMID CoiStatement",
    "MedlineCitation/PMID": "@Version",
    "MedlineCitation/Article": "ArticleTitle VernacularTitle Language ELocationID",
    "MedlineCitation/Article/ELocationID": "@EIdType",
    "MedlineCitation/Article/Journal": "ISSN Title ISOAbbreviation",
    "MedlineCitation/Article/Journal/JournalIssue": "Volume Issue",
    "MedlineCitation/Article/Journal/JournalIssue/PubDate": _DATE,
    "MedlineCitation/Article/Pagination": "StartPage EndPage MedlinePgn",
    "MedlineCitation/Article/Abstract": "AbstractText CopyrightInformation",
    "MedlineCitation/Article/Abstract/AbstractText": "@Label @NlmCategory",
    "MedlineCitation/Article/AuthorList/Author": _PERSON_NAMES,
    "MedlineCitation/Article/DataBankList/DataBank": "DataBankName",
    "MedlineCitation/Article/DataBankList/DataBank/AccessionNumberList": "AccessionNumber",
    "MedlineCitation/Article/GrantList/Grant": "Agency",
    "MedlineCitation/Article/PublicationTypeList": "PublicationType",
    "MedlineCitation/Article/PublicationTypeList/PublicationType": "@UI",
    "MedlineCitation/Article/ArticleDate": _DATE,
    "MedlineCitation/MedlineJournalInfo": "MedlineTA NlmUniqueID ISSNLinking",
    "MedlineCitation/ChemicalList/Chemical": "RegistryNumber NameOfSubstance",
    "MedlineCitation/ChemicalList/Chemical/NameOfSubstance": "@UI",
    "MedlineCitation/SupplMeshList": "SupplMeshName",
    "MedlineCitation/SupplMeshList/SupplMeshName": "@UI @Type",
    "MedlineCitation/CommentsCorrectionsList/CommentsCorrections": "@RefType RefSource PMID",
    "MedlineCitation/GeneSymbolList": "GeneSymbol",
    "MedlineCitation/MeshHeadingList/MeshHeading": "DescriptorName QualifierName",
    "MedlineCitation/MeshHeadingList/MeshHeading/DescriptorName": "@UI @MajorTopicYN",
    "MedlineCitation/MeshHeadingList/MeshHeading/QualifierName": "@UI @MajorTopicYN",
    "MedlineCitation/OtherAbstract": "@Type @Language AbstractText CopyrightInformation",
    "MedlineCitation/OtherAbstract/AbstractText": "@Label @NlmCategory",
    "MedlineCitation/KeywordList": "Keyword",
    "PubmedData/ArticleIdList": "ArticleId",
    "PubmedData/ArticleIdList/ArticleId": "@IdType",
    "PubmedBookData/ArticleIdList": "ArticleId",
    "PubmedBookData/ArticleIdList/ArticleId": "@IdType",
    "BookDocument": "PMID ArticleTitle VernacularTitle Language PublicationType",
    "BookDocument/PMID": "@Version",
    "BookDocument/PublicationType": "@UI",
    "BookDocument/ArticleIdList": "ArticleId",
    "BookDocument/ArticleIdList/ArticleId": "@IdType",
    "BookDocument/Pagination": "StartPage EndPage MedlinePgn",
    "BookDocument/AuthorList": "@Type",
    "BookDocument/AuthorList/Author": _PERSON_NAMES,
    "BookDocument/Abstract": "AbstractText CopyrightInformation",
    "BookDocument/Abstract/AbstractText": "@Label @NlmCategory",
    "BookDocument/KeywordList": "Keyword",
    "BookDocument/ContributionDate": _DATE,
    "BookDocument/GrantList/Grant": "Agency",
    "BookDocument/Sections/Section": "SectionTitle",
    "BookDocument/Book": "BookTitle Volume VolumeTitle Edition CollectionTitle Isbn ELocationID",
    "BookDocument/Book/ELocationID": "@EIdType",
    "BookDocument/Book/Publisher": "PublisherName PublisherLocation",
    "BookDocument/Book/PubDate": _DATE,
    "BookDocument/Book/AuthorList": "@Type",
    "BookDocument/Book/AuthorList/Author": _PERSON_NAMES,
}


@dataclass(slots=True)
class _Known:
    """The known content of an element. `text` means that it holds text with inline markup."""

    path: str
    children: "dict[str, _Known | None]" = field(default_factory=dict)
    """Children by tag; None means left out, with everything below."""
    attributes: set[str] = field(default_factory=set)
    text: bool = False


def _tree() -> _Known:
    root = _Known("")
    for path, names in _MAPPED.items():
        known = _at(root, path)
        for name in names.split():
            if name.startswith("@"):
                known.attributes.add(name[1:])
            else:
                _at(known, name).text = True
    for path in LEFT_OUT:
        above, _, name = path.removesuffix("/*").rpartition("/")
        if name.startswith("@"):
            _at(root, above).attributes.add(name[1:])
        else:
            _at(root, above).children[name] = None
    section = _at(root, "BookDocument/Sections/Section")
    section.children["Section"] = section
    return root


def _at(known: _Known, path: str) -> _Known:
    for step in path.split("/"):
        below = known.children.get(step)
        if below is None:
            below = known.children[step] = _Known(f"{known.path}/{step}".removeprefix("/"))
        known = below
    return known


_ROOT = _tree()


def count_unmapped(parts: Iterable[Element], counts: Counter[str]) -> None:
    """Add to `counts` the paths in a record's `parts` that are neither read nor left out."""
    _count(parts, _ROOT, counts)


def _count(element: Iterable[Element], known: _Known, counts: Counter[str]) -> None:
    children = known.children
    for child in element:
        tag = child.tag
        below = children.get(tag)
        if below is None:
            if tag not in children:
                counts[f"{known.path}/{tag}".removeprefix("/")] += 1
            continue
        names = child.keys()
        if names and not below.attributes.issuperset(names):
            for name in names:
                if name not in below.attributes:
                    counts[f"{below.path}/@{name}"] += 1
        if not below.text:
            _count(child, below, counts)
