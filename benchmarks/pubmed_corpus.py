"""PubMed XML for load: made-up records of the usual size, or those of a file with other numbers."""

import random
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from benchmarks.corpus import WORDS
from workers.ingest.parsers.pubmed.bulk import slices

RECORDS_PER_SLICE = 250
FIRST_PMID = 100_000_000
"""Far above the numbers in use."""

_HEAD = b'<?xml version="1.0" encoding="utf-8"?>\n<PubmedArticleSet>\n'
_TAIL = b"</PubmedArticleSet>\n"
_NUMBER = b"@@PMID@@"
_DIFFERENT = 500  # templates; more would only fill the memory


def made_up(seed: int = 7) -> list[bytes]:
    """Templates of records: four labelled paragraphs, six authors, headings, references; some
    11,000 bytes each, 1,400 characters of them abstract."""
    rng = random.Random(seed)
    return [_record(rng) for _ in range(_DIFFERENT)]


def of_file(path: Path) -> list[bytes]:
    """Templates made of the records of a PubMed file (`.xml` or `.xml.gz`)."""
    with path.open("rb") as file:
        records = [found[0] for payload, _ in slices(file) for found in _RECORD.finditer(payload)]
    return [_numbered(record) for record in records]


def numbered(templates: list[bytes], count: int, first: int = FIRST_PMID) -> Iterator[bytes]:
    """`count` records with PMIDs from `first` on."""
    for number in range(count):
        yield templates[number % len(templates)].replace(_NUMBER, b"%d" % (first + number))


def sets(records: Iterable[bytes], size: int = RECORDS_PER_SLICE) -> Iterator[bytes]:
    """`PubmedArticleSet`s of so many records each, as the importer cuts them."""
    held: list[bytes] = []
    for record in records:
        held.append(record)
        if len(held) == size:
            yield _HEAD + b"\n".join(held) + _TAIL
            held = []
    if held:
        yield _HEAD + b"\n".join(held) + _TAIL


_RECORD = re.compile(rb"<(PubmedArticle|MedlineCitation)(?=[\s>]).*?</\1>", re.DOTALL)


def _numbered(record: bytes) -> bytes:
    """`record` with a place for its PMID, and DOIs and PMCIDs that follow it."""
    record = re.sub(rb"(<PMID[^>]*>)\d+", rb"\1" + _NUMBER, record, count=1)
    record = re.sub(rb'(IdType="pubmed">)\d+', rb"\1" + _NUMBER, record)
    record = re.sub(rb'(IdType="pmc">PMC)\d+', rb"\1" + _NUMBER, record)
    return re.sub(rb'((?:IdType|EIdType)="doi"[^>]*>)[^<]+', rb"\g<1>10.5555/" + _NUMBER, record)


def _sentence(rng: random.Random) -> str:
    words = " ".join(rng.choices(WORDS, k=rng.randint(10, 24))).capitalize()
    return f"{words} in {rng.randint(10, 900)} patients (p = 0.0{rng.randint(1, 9)})."


def _name(rng: random.Random) -> str:
    return f"{rng.choice(WORDS).capitalize()}{rng.choice(WORDS)}"


def _abstract(rng: random.Random) -> str:
    return "".join(
        f'<AbstractText Label="{label}" NlmCategory="{label}">'
        + " ".join(_sentence(rng) for _ in range(rng.randint(1, 3)))
        + "</AbstractText>"
        for label in ("BACKGROUND", "METHODS", "RESULTS", "CONCLUSIONS")
    )


def _authors(rng: random.Random) -> str:
    return "".join(
        f'<Author ValidYN="Y"><LastName>{_name(rng)}</LastName><ForeName>{_name(rng)} A</ForeName>'
        f"<Initials>{_name(rng)[0]}A</Initials><AffiliationInfo><Affiliation>Department of made-up "
        f"{rng.choice(WORDS)}, University of {_name(rng)}, {rng.randint(100, 999)} Nowhere."
        "</Affiliation></AffiliationInfo></Author>\n"
        for _ in range(rng.randint(3, 9))
    )


def _mesh(rng: random.Random) -> str:
    return "".join(
        f'<MeshHeading><DescriptorName UI="D{rng.randint(0, 99999):06}" MajorTopicYN="N">'
        f'{_name(rng)}</DescriptorName><QualifierName UI="Q{rng.randint(0, 999):06}" '
        f'MajorTopicYN="Y">{rng.choice(WORDS)}</QualifierName></MeshHeading>\n'
        for _ in range(rng.randint(6, 14))
    )


def _chemicals(rng: random.Random) -> str:
    return "".join(
        f"<Chemical><RegistryNumber>0</RegistryNumber><NameOfSubstance "
        f'UI="D{rng.randint(0, 99999):06}">{_name(rng)}</NameOfSubstance></Chemical>\n'
        for _ in range(rng.randint(0, 5))
    )


def _keywords(rng: random.Random) -> str:
    return "".join(
        f'<Keyword MajorTopicYN="N">{rng.choice(WORDS)} {rng.choice(WORDS)}</Keyword>\n'
        for _ in range(rng.randint(0, 6))
    )


def _references(rng: random.Random) -> str:
    return "".join(
        f"<Reference><Citation>{_name(rng)} A, et al. {_sentence(rng)} J Made Up Med. 2020;"
        f'{rng.randint(1, 99)}:1-9.</Citation><ArticleIdList><ArticleId IdType="pubmed">'
        f'{rng.randint(10**7, 4 * 10**7)}</ArticleId><ArticleId IdType="doi">10.5555/'
        f"{rng.randint(10**6, 10**7)}</ArticleId></ArticleIdList></Reference>\n"
        for _ in range(rng.randint(0, 20))
    )


def _record(rng: random.Random) -> bytes:
    number = _NUMBER.decode()
    return f"""<PubmedArticle>
<MedlineCitation Status="MEDLINE" Owner="NLM" IndexingMethod="Automated">
<PMID Version="1">{number}</PMID>
<DateCompleted><Year>2020</Year><Month>05</Month><Day>11</Day></DateCompleted>
<DateRevised><Year>2021</Year><Month>03</Month><Day>02</Day></DateRevised>
<Article PubModel="Print-Electronic">
<Journal><ISSN IssnType="Electronic">0000-0000</ISSN><JournalIssue CitedMedium="Internet">
<Volume>{rng.randint(1, 99)}</Volume><Issue>{rng.randint(1, 12)}</Issue>
<PubDate><Year>2020</Year><Month>Apr</Month><Day>{rng.randint(1, 28):02}</Day></PubDate>
</JournalIssue><Title>Journal of made-up medicine</Title>
<ISOAbbreviation>J Made Up Med</ISOAbbreviation></Journal>
<ArticleTitle>{" ".join(rng.choices(WORDS, k=12)).capitalize()}.</ArticleTitle>
<Pagination><StartPage>11</StartPage><EndPage>19</EndPage><MedlinePgn>11-19</MedlinePgn></Pagination>
<ELocationID EIdType="doi" ValidYN="Y">10.5555/bench.{number}</ELocationID>
<Abstract>{_abstract(rng)}<CopyrightInformation>Made up.</CopyrightInformation></Abstract>
<AuthorList CompleteYN="Y">{_authors(rng)}</AuthorList>
<Language>eng</Language>
<GrantList CompleteYN="Y"><Grant><GrantID>X{rng.randint(1, 9999)}</GrantID><Acronym>XX</Acronym>
<Agency>Agency of examples</Agency><Country>Nowhere</Country></Grant></GrantList>
<PublicationTypeList><PublicationType UI="D016428">Journal Article</PublicationType>
<PublicationType UI="D016449">Randomized Controlled Trial</PublicationType></PublicationTypeList>
<ArticleDate DateType="Electronic"><Year>2020</Year><Month>03</Month><Day>30</Day></ArticleDate>
</Article>
<MedlineJournalInfo><Country>Nowhere</Country><MedlineTA>J Made Up Med</MedlineTA>
<NlmUniqueID>0000001</NlmUniqueID><ISSNLinking>0000-0000</ISSNLinking></MedlineJournalInfo>
<ChemicalList>{_chemicals(rng)}</ChemicalList><CitationSubset>IM</CitationSubset>
<MeshHeadingList>{_mesh(rng)}</MeshHeadingList>
<KeywordList Owner="NOTNLM">{_keywords(rng)}</KeywordList>
<CoiStatement>None declared.</CoiStatement>
</MedlineCitation>
<PubmedData><History>
<PubMedPubDate PubStatus="received"><Year>2020</Year><Month>1</Month><Day>2</Day></PubMedPubDate>
<PubMedPubDate PubStatus="pubmed"><Year>2020</Year><Month>4</Month><Day>2</Day></PubMedPubDate>
<PubMedPubDate PubStatus="medline"><Year>2020</Year><Month>5</Month><Day>2</Day></PubMedPubDate>
</History><PublicationStatus>ppublish</PublicationStatus>
<ArticleIdList><ArticleId IdType="pubmed">{number}</ArticleId>
<ArticleId IdType="doi">10.5555/bench.{number}</ArticleId></ArticleIdList>
<ReferenceList>{_references(rng)}</ReferenceList></PubmedData>
</PubmedArticle>""".encode()
