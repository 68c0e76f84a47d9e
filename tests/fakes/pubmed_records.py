"""Made-up PubMed records in the XML of efetch and of the daily files (pubmed_250101.dtd)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from xml.sax.saxutils import escape, quoteattr

Part = tuple[str, str, str]
"""Label, NlmCategory ("" where the attribute is absent), and text that may hold markup."""


@dataclass(frozen=True)
class Citation:
    """One record of the fake. `xml` stands in for everything that would be generated."""

    pmid: int
    title: str = "A made-up article."
    abstract: Sequence[Part] = (("", "", "Nothing of this ever happened."),)
    authors: Sequence[str] = ("Invent Ada", "*Made-Up Study Group")
    """Last and fore name; a star marks a group."""
    types: Sequence[str] = ("Journal Article",)
    mesh: Sequence[str] = ()
    keywords: Sequence[str] = ()
    doi: str = ""
    pmcid: str = ""
    registries: Sequence[tuple[str, str]] = ()
    links: Sequence[tuple[str, int | None]] = ()
    """RefType and PMID of the other record; None where PubMed gives none."""
    pub_date: str = "<Year>2025</Year><Month>Nov</Month><Day>03</Day>"
    published: date = date(2025, 11, 3)
    reference_dois: Sequence[str] = ("10.5555/not.its.own",)
    status: str = "MEDLINE"
    retracted_on: date | None = None
    xml: str = ""
    edat: date = date(2025, 1, 1)
    mdat: date = date(2025, 1, 1)


def article_set(citations: Iterable[Citation], deleted: Sequence[int] = ()) -> bytes:
    """A `PubmedArticleSet`."""
    gone = "".join(f'<PMID Version="1">{pmid}</PMID>' for pmid in deleted)
    body = "\n".join(article(citation) for citation in citations)
    if gone:
        body += f"\n<DeleteCitation>{gone}</DeleteCitation>"
    return (
        '<?xml version="1.0" ?>\n<!DOCTYPE PubmedArticleSet PUBLIC "-//NLM//DTD PubMedArticle, 1st '
        'January 2025//EN" "https://dtd.nlm.nih.gov/ncbi/pubmed/out/pubmed_250101.dtd">\n'
        f"<PubmedArticleSet>\n{body}\n</PubmedArticleSet>\n"
    ).encode()


def article(citation: Citation) -> str:
    """A `PubmedArticle`."""
    c = citation
    if c.xml:
        return c.xml
    parts = [
        f'<PubmedArticle><MedlineCitation Status={quoteattr(c.status)} Owner="NLM">'
        f'<PMID Version="1">{c.pmid}</PMID>{_date("DateRevised", c.mdat)}'
        '<Article PubModel="Print-Electronic"><Journal><ISSN IssnType="Electronic">0000-0000</ISSN>'
        '<JournalIssue CitedMedium="Internet"><Volume>7</Volume><Issue>2</Issue>'
        f"<PubDate>{c.pub_date}</PubDate></JournalIssue><Title>Journal of made-up medicine</Title>"
        f"<ISOAbbreviation>J Made Up Med</ISOAbbreviation></Journal>"
        f"<ArticleTitle>{c.title}</ArticleTitle>"
        "<Pagination><StartPage>11</StartPage><EndPage>19</EndPage></Pagination>"
    ]
    if c.doi:
        parts.append(f'<ELocationID EIdType="doi" ValidYN="Y">{escape(c.doi)}</ELocationID>')
    parts += [_abstract(c.abstract), _authors(c.authors), "<Language>eng</Language>"]
    parts += [_registries(c.registries), _types(c.types), "</Article>"]
    parts.append(
        "<MedlineJournalInfo><Country>Nowhere</Country><MedlineTA>J Made Up Med</MedlineTA>"
        "<NlmUniqueID>0000001</NlmUniqueID></MedlineJournalInfo>"
    )
    parts += [_links(c.links), _mesh(c.mesh), _keywords(c.keywords), "</MedlineCitation>"]
    return "".join([*parts, _pubmed_data(c), "</PubmedArticle>"])


def _pubmed_data(c: Citation) -> str:
    retracted = _history("retracted", c.retracted_on) if c.retracted_on else ""
    ids = f'<ArticleId IdType="pubmed">{c.pmid}</ArticleId>'
    if c.pmcid:
        ids += f'<ArticleId IdType="pmc">{escape(c.pmcid)}</ArticleId>'
    if c.doi:
        ids += f'<ArticleId IdType="doi">{escape(c.doi)}</ArticleId>'
    references = "".join(
        "<Reference><Citation>Another made-up paper.</Citation><ArticleIdList>"
        f'<ArticleId IdType="doi">{escape(doi)}</ArticleId></ArticleIdList></Reference>'
        for doi in c.reference_dois
    )
    return (
        f"<PubmedData><History>{_history('pubmed', c.edat)}{retracted}</History>"
        f"<PublicationStatus>ppublish</PublicationStatus><ArticleIdList>{ids}</ArticleIdList>"
        f"<ReferenceList>{references}</ReferenceList></PubmedData>"
    )


def _date(tag: str, day: date) -> str:
    inner = f"<Year>{day.year}</Year><Month>{day.month:02}</Month><Day>{day.day:02}</Day>"
    return f"<{tag}>{inner}</{tag}>"


def _history(status: str, day: date) -> str:
    inner = f"<Year>{day.year}</Year><Month>{day.month}</Month><Day>{day.day}</Day>"
    return f'<PubMedPubDate PubStatus="{status}">{inner}</PubMedPubDate>'


def _abstract(parts: Sequence[Part]) -> str:
    texts = "".join(
        "<AbstractText"
        + (f" Label={quoteattr(label)}" if label else "")
        + (f" NlmCategory={quoteattr(category)}" if category else "")
        + f">{text}</AbstractText>"
        for label, category, text in parts
    )
    return f"<Abstract>{texts}</Abstract>" if texts else ""


def _authors(names: Sequence[str]) -> str:
    return _list("AuthorList", [_author(name) for name in names])


def _author(name: str) -> str:
    if name.startswith("*"):
        return f'<Author ValidYN="Y"><CollectiveName>{escape(name[1:])}</CollectiveName></Author>'
    last, _, fore = name.partition(" ")
    initials = "".join(part[0] for part in fore.split())
    return (
        f'<Author ValidYN="Y"><LastName>{escape(last)}</LastName>'
        f"<ForeName>{escape(fore)}</ForeName><Initials>{escape(initials)}</Initials></Author>"
    )


def _registries(numbers: Sequence[tuple[str, str]]) -> str:
    return _list(
        "DataBankList",
        [
            f"<DataBank><DataBankName>{escape(bank)}</DataBankName><AccessionNumberList>"
            f"<AccessionNumber>{escape(number)}</AccessionNumber></AccessionNumberList></DataBank>"
            for bank, number in numbers
        ],
    )


def _types(types: Sequence[str]) -> str:
    return _list(
        "PublicationTypeList",
        [f'<PublicationType UI="D000000">{escape(name)}</PublicationType>' for name in types],
    )


def _links(links: Sequence[tuple[str, int | None]]) -> str:
    return _list(
        "CommentsCorrectionsList",
        [
            f'<CommentsCorrections RefType="{kind}"><RefSource>J Made Up Med. 2026;8:1. doi: '
            "10.5555/made.up.notice.</RefSource>"
            + (f'<PMID Version="1">{pmid}</PMID>' if pmid else "")
            + "</CommentsCorrections>"
            for kind, pmid in links
        ],
    )


def _mesh(names: Sequence[str]) -> str:
    return _list(
        "MeshHeadingList",
        [
            f'<MeshHeading><DescriptorName UI="D000001" MajorTopicYN="N">{escape(name)}'
            "</DescriptorName></MeshHeading>"
            for name in names
        ],
    )


def _keywords(words: Sequence[str]) -> str:
    inner = [f'<Keyword MajorTopicYN="N">{escape(word)}</Keyword>' for word in words]
    return _list('KeywordList Owner="NOTNLM"', inner)


def _list(tag: str, items: Sequence[str]) -> str:
    return f"<{tag}>{''.join(items)}</{tag.partition(' ')[0]}>" if items else ""
