"""A PubMed record as its XML states it, field by field (WIRE 1, pubmed_250101.dtd).

Nothing is interpreted here: `workers.ingest.parsers.pubmed.records` decides what counts as a title,
a date of publication or a retraction. Fields left out on purpose (`fields.LEFT_OUT`) are missing
here too.
"""

from dataclasses import dataclass
from typing import NamedTuple

from workers.ingest.parsers.pubmed.dates import PartialDate


class AbstractPart(NamedTuple):
    """A paragraph of an abstract; `label` and `category` are "" if PubMed gives none."""

    label: str
    category: str
    text: str


class OtherAbstract(NamedTuple):
    """An abstract in another language or for other readers."""

    kind: str
    language: str
    parts: tuple[AbstractPart, ...]


class Author(NamedTuple):
    """A person or a group (`collective`)."""

    last_name: str = ""
    fore_name: str = ""
    initials: str = ""
    suffix: str = ""
    collective: str = ""

    @property
    def name(self) -> str:
        """`Last FM`, as PubMed cites people, or the group's name."""
        if self.collective:
            return self.collective
        return " ".join(
            filter(None, (self.last_name, self.initials or self.fore_name, self.suffix))
        )


@dataclass(frozen=True, slots=True)
class Journal:
    """The journal that published an article; all fields are "" for a book."""

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
    """The book of a `PubmedBookArticle`, which is the whole book or a chapter of it."""

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
    """A term of a vocabulary; `ui` is its identifier there."""

    name: str
    ui: str
    major: bool = False


class MeshHeading(NamedTuple):
    """A descriptor with its qualifiers; each has its own `major` flag."""

    descriptor: Term
    qualifiers: tuple[Term, ...]

    @property
    def major(self) -> bool:
        """Return True if the descriptor or one of its qualifiers is a major topic."""
        return self.descriptor.major or any(qualifier.major for qualifier in self.qualifiers)


class Chemical(NamedTuple):
    """A substance; `registry_number` is a CAS, EC or UNII number, or "0" if there is none."""

    name: str
    ui: str
    registry_number: str


class Correction(NamedTuple):
    """A link to another record (`CommentsCorrections`) that is not a reference; `ref_type` is the
    relation of that record to this one."""

    ref_type: str
    source: str
    pmid: str


@dataclass(frozen=True, slots=True)
class Article:
    """One PubMed record. Missing texts are "", and missing lists are empty."""

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
    """The date on which PubMed marked the record as retracted."""
    pages: str
    languages: tuple[str, ...]
    publication_types: tuple[Term, ...]
    mesh: tuple[MeshHeading, ...]
    supplementary_mesh: tuple[Term, ...]
    chemicals: tuple[Chemical, ...]
    genes: tuple[str, ...]
    keywords: tuple[Term, ...]
    dois: tuple[str, ...]
    """The DOIs as given, the best first: valid electronic locations, then the list of ids."""
    pmcids: tuple[str, ...]
    accessions: tuple[tuple[str, str], ...]
    grant_agencies: tuple[str, ...]
    corrections: tuple[Correction, ...]
    conflicts: str
