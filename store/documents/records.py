"""The record of a document before it is stored, as readers and connectors produce it."""

import hashlib
import json
import re
from collections.abc import Mapping
from datetime import UTC, date, datetime
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    field_validator,
)
from pydantic_core import to_json, to_jsonable_python

SourceType = Literal[
    "pubmed",
    "europepmc",
    "preprint",
    "clinicaltrials",
    "nccn",
    "asco",
    "esmo",
    "guideline",
    "payer",
    "regulator",
    "label",
    "news",
    "document",
    "note",
]


def _storable(value: str) -> str:
    """Refuse text that PostgreSQL or UTF-8 cannot hold."""
    if "\x00" in value:
        raise ValueError("contains a NUL character; remove it")
    if value.isascii():
        return value
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ValueError("contains half of a surrogate pair; it is no valid text") from None
    return value


Words = Annotated[str, AfterValidator(_storable)]
Line = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=1000),
    AfterValidator(_storable),
]

_FIRST, _LAST = datetime(1, 1, 2, tzinfo=UTC), datetime(9999, 12, 31, tzinfo=UTC)


def _in_any_zone(value: datetime) -> datetime:
    """Refuse moments that other time zones cannot hold: once stored, they could not be read."""
    if not _FIRST <= value < _LAST:
        raise ValueError("has to be a day from 0001-01-02 to 9999-12-30 in UTC")
    return value


def _written(value: object) -> object:
    """Refuse numbers, also as strings: they would be read as seconds since 1970, and a year be
    lost."""
    if isinstance(value, datetime) or re.match(r"\d{4}-\d\d-\d\d", str(value).strip()):
        return value
    raise ValueError(
        "write it as 2026-01-31T00:00:00Z; of which only the year or the month counts where "
        "published_precision is year or month"
    )


Moment = Annotated[AwareDatetime, BeforeValidator(_written), AfterValidator(_in_any_zone)]

REGISTRY_PATTERN = r"^(ACTRN\d{14}|UMIN\d{9}|ISRCTN\d{8}|jRCT\w+|EUCTR?[\w-]+)$"

MAX_TEXT_CHARS = 1_000_000
"""Our choice: a book of some 400 pages. Reading a text on its way to questions takes 1.3 us of CPU
a character, 4.5 us on the worst input in tests/linearity: less than 5 s at this length."""


class Identifiers(BaseModel):
    """Identifiers that name one article, trial or product; the form of each is checked.

    Patterns: PMID is a number, DOI as in the DOI handbook 2.2, NCT is eight digits, other
    registries as WHO ICTRP lists them.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    pmid: Annotated[str, Field(pattern=r"^[1-9][0-9]{0,8}$")] | None = None
    pmcid: Annotated[str, Field(pattern=r"^PMC[1-9][0-9]*$")] | None = None
    doi: Annotated[str, Field(pattern=r"^10\.[0-9]{4,9}/\S+$")] | None = None
    nct_id: Annotated[str, Field(pattern=r"^NCT[0-9]{8}$")] | None = None
    registry_id: Annotated[str, Field(pattern=REGISTRY_PATTERN)] | None = None
    set_id: Line | None = None
    lcd_id: Annotated[str, Field(pattern=r"^[LA][0-9]{5}$")] | None = None


def unlike(kind: str, value: str) -> str | None:
    """How an identifier that a caller gives differs from its registrar's spelling; None if it does
    not. What only looks like a work's number is compared with none, yet read as it.

    DOIs of one work are equal but for the case of their letters (DOI handbook 2.4); of the signs
    that are not ASCII no registration agency in our sources' records makes use.
    """
    if not value.isascii() or not value.isprintable() or " " in value:
        return "has a sign that is no plain letter, digit or mark"
    if kind == "doi" and (value.startswith("10.0") or "?" in value or "#" in value):
        return "is no DOI: give it without what follows ? or #"
    if kind == "doi" and (value[-1] in ".,;:" or "//" in value):
        return "is no DOI: a mark stands at its end, or twice"
    is_uuid = re.fullmatch(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", value, re.IGNORECASE)
    if kind == "set_id" and not is_uuid and len(re.findall(r"[0-9A-Fa-f]", value)) >= 32:
        return "is no set id: write it as 0d8ef0d0-1c1f-4c6b-9c3c-1f2f3a4b5c6d"
    return None


def unlike_any(identifiers: "Identifiers") -> str | None:
    """The first identifier that is `unlike`, with how: "doi …"; None if there is none."""
    for kind, value in identifiers.model_dump(exclude_none=True).items():
        if (how := unlike(kind, value)) is not None:
            return f"identifiers.{kind} {how}"
    return None


NoticeKind = Literal[
    "retraction",
    "withdrawal",
    "removal",
    "supersession",
    "expression_of_concern",
    "correction",
    "republication",
]
NOT_ENGLISH = "not-english"
"""The label of what is in another language: held and searchable, and no evidence."""
ENDING_NOTICES = frozenset({"retraction", "withdrawal", "removal"})
"""Notices that take a work out of the evidence for all times; of the others, a `supersession` by a
newer edition leaves it to questions as of an earlier day, and the rest is shown beside it."""


class Notice(BaseModel):
    """A source's statement on the status of a work (WIRE 1, "Retraction logic"; 4; 5)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: NoticeKind
    notice_id: Line | None = Field(
        default=None, description="of the notice itself, such as pmid:123 or doi:10.1/x"
    )
    stated_on: date | None = None


class SourceRecord(BaseModel):
    """One document as a source gives it. Texts are kept unchanged, except for line ends."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    source_type: SourceType = "document"
    title: Line
    text: Annotated[Words, Field(min_length=1, max_length=MAX_TEXT_CHARS)]
    source_key: Line | None = Field(
        default=None, description="stays the same over versions; left out, the identifiers decide"
    )
    url: Annotated[str, Field(pattern=r"^https?://\S+$", max_length=2000)] | None = None
    published_at: Moment | None = None
    published_precision: Literal["day", "month", "year"] = Field(
        default="day", description="how much of `published_at` the source states"
    )
    fetched_at: Moment | None = Field(
        default=None, description="when the facts were taken from the source; now, if left out"
    )
    identifiers: Identifiers = Identifiers()
    authors: tuple[Line, ...] = ()
    publisher: Line | None = Field(default=None, description="journal, registry, organization")
    publication_type: Line | None = None
    evidence_level: Line | None = None
    version_label: Line | None = Field(default=None, description="a guideline's own version")
    labels: tuple[Line, ...] = Field(default=(), description="for example sample-paraphrase")
    subjects: tuple[Line, ...] = Field(default=(), description="headings such as MeSH descriptors")
    facts: dict[str, Any] = Field(
        default_factory=dict,
        description="what the source states in fields, as JSON: phase, status, enrollment, …",
    )
    notices: tuple[Notice, ...] = Field(
        default=(),
        description="retractions and corrections; they are the document's, not a "
        "version's: one that appears makes no new version",
    )

    @field_validator("text")
    @classmethod
    def _has_words(cls, value: str) -> str:
        if not value.strip():
            raise ValueError("is blank")
        return value.replace("\r\n", "\n").replace("\r", "\n")

    @property
    def key(self) -> str:
        """The key of this document over all its versions: the strongest identifier it has.

        The order is from the narrowest registry to the widest. Without any identifier the title
        decides, so that the same title from the same kind of source is the same document.
        """
        if self.source_key:
            return f"{self.source_type}:{self.source_key}"
        for name, value in vars(self.identifiers).items():
            if value is not None:
                return f"{name}:{value.lower()}"
        return f"{self.source_type}:title:{' '.join(self.title.lower().split())}"

    def content(self) -> "Content":
        """The fields that make a version, in canonical JSON, with their hash; not `fetched_at`,
        `source_key` or notices.

        Fields added later count only where they are filled, so that older hashes stay valid.
        """
        held = vars(self)
        facts = _facts(self.facts)
        later = b',"facts":%s' % facts if self.facts else b""
        rest = {name: held[name] for name in (_BEHIND if self.subjects else _BEHIND_BARE)}
        named = vars(self.identifiers)
        rest["identifiers"] = {name: named[name] for name in _IDENTIFIERS}
        before = to_json({name: held[name] for name in _BEFORE})
        written = b"%s%s,%s" % (before[:-1], later, to_json(rest)[1:])
        return Content(
            hashlib.sha256(written).hexdigest(),
            to_json(self.authors),
            to_json(self.labels),
            to_json(self.subjects),
            facts,
        )

    def content_hash(self) -> str:
        """SHA-256 of the `content` as one JSON object."""
        return self.content().hash


class Content(NamedTuple):
    """What a version says: the hash of all of it, and the fields that are stored as JSON."""

    hash: str
    authors: bytes
    labels: bytes
    subjects: bytes
    facts: bytes


_NO_CONTENT = {"fetched_at", "source_key", "notices"}
_NAMES = sorted(SourceRecord.model_fields.keys() - _NO_CONTENT)
_BEFORE = tuple(name for name in _NAMES if name < "facts")
_BEHIND = tuple(name for name in _NAMES if name > "facts")
_BEHIND_BARE = tuple(name for name in _BEHIND if name != "subjects")
_IDENTIFIERS = tuple(sorted(Identifiers.model_fields))
_encode = json.JSONEncoder(sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode


def _facts(facts: Mapping[str, Any]) -> bytes:
    """The facts as JSON, with sorted keys."""
    try:
        return _encode(facts).encode()
    except TypeError:  # a value that JSON cannot hold, such as a date
        return _encode(to_jsonable_python(facts)).encode()
