"""A record of PubMed as its XML states it, field by field (WIRE 1, pubmed_250101.dtd).

Nothing is decided here: what counts as a title, a date of publication or a retraction is decided
in `workers.ingest.parsers.pubmed.records`. What is left out on purpose (`fields.LEFT_OUT`) is not
here either.
"""

from dataclasses import dataclass
from typing import NamedTuple

from workers.ingest.parsers.pubmed.dates import PartialDate


class AbstractPart(NamedTuple):
    """A paragraph of an abstract; `label` and `category` are "" where PubMed gives none."""

    label: str
    category: str
    text: str


class OtherAbstract(NamedTuple):
    """An abstract in another language, or one for another reader."""

    kind: str
    language: str
    parts: tuple[AbstractPart, ...]


class Author(NamedTuple):
    """A person, or a group (`collective`)."""

    last_name: str = ""
    fore_name: str = ""
    initials: str = ""
    suffix: str = ""
    collective: str = ""

    @property
    def name(self) -> str:
        """`Last FM`, as PubMed cites it, or the group's name."""
        if self.collective:
            return self.collective
        return " ".join(
            filter(None, (self.last_name, self.initials or self.fore_name, self.suffix))
        )


@dataclass(frozen=True, slots=True)
class Journal:
    """Where an article appeared; all "" for a book."""

    title: str = ""
    iso_abbreviation: str = ""
    medline_abbreviation: str = ""
    issn: str = ""
    issn_linking: str = ""
    nlm_id: str = ""
    volume: str = ""
    issue: str = ""


@dataclass(frozen=True, slots=True)
class Book:
    """The book that a `PubmedBookArticle` is or is a chapter of."""

    title: str
    publisher: str
    place: str
    edition: str
    volume: str
    collection: str
    isbns: tuple[str, ...]
    editors: tuple[Author, ...]
    accession: str
    sections: tuple[str, ...]


class Term(NamedTuple):
    """A heading or type of a vocabulary; `ui` is its identifier there."""

    name: str
    ui: str
    major: bool = False


class MeshHeading(NamedTuple):
    """A descriptor with its qualifiers. `descriptor.major` and each qualifier's stand apart."""

    descriptor: Term
    qualifiers: tuple[Term, ...]

    @property
    def major(self) -> bool:
        """Whether it is what the article is about, as a whole or in one of its aspects."""
        return self.descriptor.major or any(qualifier.major for qualifier in self.qualifiers)


class Chemical(NamedTuple):
    """`registry_number` is a CAS, EC or UNII number, or "0" where there is none."""

    name: str
    ui: str
    registry_number: str


class Correction(NamedTuple):
    """A link to another record (`CommentsCorrections`) other than a reference; `ref_type` says what
    that record is to this one."""

    ref_type: str
    source: str
    pmid: str


@dataclass(frozen=True, slots=True)
class Article:
    """One PubMed record. Texts are "" and lists empty where the record has none."""

    pmid: str
    version: str
    title: str
    vernacular_title: str
    abstract: tuple[AbstractPart, ...]
    copyright: str
    other_abstracts: tuple[OtherAbstract, ...]
    authors: tuple[Author, ...]
    journal: Journal
    book: Book | None
    published: PartialDate | None
    published_as: str
    electronic: PartialDate | None
    contributed: PartialDate | None
    retracted: PartialDate | None
    """When PubMed entered it as retracted."""
    pages: str
    languages: tuple[str, ...]
    publication_types: tuple[Term, ...]
    mesh: tuple[MeshHeading, ...]
    supplementary_mesh: tuple[Term, ...]
    chemicals: tuple[Chemical, ...]
    genes: tuple[str, ...]
    keywords: tuple[Term, ...]
    dois: tuple[str, ...]
    """As they are offered, the best first: valid electronic locations, then the list of ids."""
    pmcids: tuple[str, ...]
    accessions: tuple[tuple[str, str], ...]
    grant_agencies: tuple[str, ...]
    corrections: tuple[Correction, ...]
    conflicts: str
