"""Fields, rubrics, words and numbers of extraction (`knowledge/rubrics/*.yaml`), checked. Pure."""

import re
from collections.abc import Mapping
from functools import cache, cached_property, lru_cache
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from knowledge.loader import load

Share = Annotated[float, Field(ge=0, le=1)]
Kind = Literal[
    "words", "grade", "tnm", "stage", "marker", "margin", "measurement", "amount", "msi",
    "mutation", "lab", "nodes", "presence", "day", "medication",
]  # fmt: skip
Tier = Literal["required", "important", "optional"]
DocumentType = Literal[
    "pathology", "radiology", "genomics", "lab-report", "prescription", "clinical-notes",
    "discharge-summary", "surgical-notes", "unknown",
]  # fmt: skip
DOCUMENT_TYPES: tuple[DocumentType, ...] = DocumentType.__args__  # type: ignore[attr-defined]


class _Data(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class FieldPolicy(_Data):
    """How documents speak of a field."""

    kind: Kind
    many: bool = False
    extent: Literal["line", "list", "entry", "section", "document"] = "line"
    labels: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    cues: tuple[str, ...] = ()
    shape: str | None = None
    hint: str

    @cached_property
    def cue(self) -> re.Pattern[str] | None:
        """Finds a word by which a document speaks of the field."""
        return any_of(self.cues) if self.cues else None

    @cached_property
    def shaped(self) -> re.Pattern[str] | None:
        """Finds what each of many values looks like."""
        return re.compile(self.shape) if self.shape else None


class Rubric(_Data):
    """Which fields a document of a type should give."""

    version: int
    type: DocumentType
    required: tuple[str, ...]
    important: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()

    @property
    def fields(self) -> tuple[str, ...]:
        """All of them, required first."""
        return self.required + self.important + self.optional

    def tier(self, field: str) -> Tier:
        """How much the field matters; a field that no tier names is optional."""
        if field in self.required:
            return "required"
        return "important" if field in self.important else "optional"


class Dimensions(_Data):
    """The weights of the four dimensions."""

    completeness: Share
    accuracy: Share
    consistency: Share
    clinical_validity: Share


class Penalty(_Data):
    """What a broken rule costs, down to the floor."""

    per_issue: Share
    floor: Share

    def score(self, issues: int) -> float:
        """The score with so many issues."""
        return max(self.floor, 1.0 - issues * self.per_issue)


class Profile(_Data):
    """How good is good enough, and how often one tries."""

    threshold: Share
    iterations: Annotated[int, Field(ge=1, le=20)]
    minimum_gain: Share = 0.05
    timeout_seconds: Annotated[float, Field(gt=0)] = 30.0


class Readability(_Data):
    """The limits of a text that can be read."""

    readable_from: Share
    least_characters: int
    least_words: int
    letters_share: Share
    odd_characters_share: Share
    odd_words_share: Share
    single_letters_share: Share
    sure_scan: Share
    error: str
    not_english: str


class Bounds(_Data):
    """What a score may not pass."""

    unfit: Share
    not_found: Share
    critical: Share
    each_critical: Share
    floor: Share


class Limits(_Data):
    """How sure the learned reader must be of its words: that they are the value whatever the rules
    read (`lead_from`), or where these read nothing (`fill_from`); and of the rules' words, so that
    they are one (`dropped_below`)."""

    lead_from: Share
    fill_from: Share
    dropped_below: Share


class EntryLimits(_Data):
    """Of a list: below `kept_from` an entry that the rules read is none of now; from `added_from`
    on words that they do not read are one."""

    kept_from: Share
    added_from: Share


class TwoReaders(_Data):
    """How the learned reader of documents stands beside the rules: for fields of words, for other
    fields of one value, and for lists; of a list that is not named it says nothing."""

    words: Limits
    typed: Limits
    lists: Mapping[str, EntryLimits]


class _Profile(_Data):
    threshold: Share
    iterations: int


class Policy(_Data):
    """The numbers of the loop."""

    version: int
    dimensions: Dimensions
    tiers: Mapping[Tier, float]
    profiles: Mapping[str, _Profile]
    minimum_gain: Share
    timeout_seconds: float
    validity: Penalty
    consistency: Penalty
    review_below: Share
    remember_from: Share
    ambiguous: Share
    contradicted: Share
    bounds: Bounds
    two_readers: TwoReaders
    readability: Readability

    def profile(self, name: str) -> Profile:
        """A profile by its name.

        Raises:
            ValueError: there is none of that name.
        """
        if name not in self.profiles:
            raise ValueError(f"there is no profile {name}; there are {', '.join(self.profiles)}")
        one = self.profiles[name]
        return Profile(
            threshold=one.threshold,
            iterations=one.iterations,
            minimum_gain=self.minimum_gain,
            timeout_seconds=self.timeout_seconds,
        )


class Lab(_Data):
    """An analyte; `plausible` is the range of values by unit."""

    names: tuple[str, ...]
    rows: tuple[str, ...] = ()
    """Further names, which say enough only at the head of a row."""
    plausible: Mapping[str, tuple[float, float]]
    unitless: bool = False
    """Whether its values have no unit, so that none is missing."""
    signed: bool = False
    """Whether they may be below zero."""


class Vocabulary(_Data):
    """The words that rules know."""

    version: int
    histology_heads: tuple[str, ...]
    histology_modifiers: tuple[str, ...]
    histology_tails: tuple[str, ...]
    histology_general: frozenset[str]
    histology_benign: tuple[str, ...]
    not_tumor_grade: tuple[str, ...]
    two_level_grades: tuple[str, ...]
    markers: Mapping[str, tuple[str, ...]]
    genes: tuple[str, ...]
    labs: Mapping[str, Lab]
    institutions: tuple[str, ...]
    institutions_in_head: tuple[str, ...]
    month_first: tuple[str, ...]
    day_first: tuple[str, ...]
    examinations: tuple[str, ...]
    institution_general: frozenset[str]
    background: frozenset[str]
    conclusive: frozenset[str]


@lru_cache(maxsize=512)  # asked for again at every place of a document
def any_of(words: tuple[str, ...]) -> re.Pattern[str]:
    """Finds one of the words, longest first, in any case; spaces stand for any space."""
    return re.compile(rf"(?i)(?<![A-Za-z0-9])(?:{alternatives(words)})(?![A-Za-z0-9])")


def alternatives(words: tuple[str, ...]) -> str:
    """The words as one alternation, longest first."""
    ordered = sorted(words, key=len, reverse=True)
    return "|".join(re.escape(one).replace(r"\ ", r"\s+") for one in ordered)


@cache
def policy() -> Policy:
    """The numbers; raises ValidationError where the file was edited into something invalid."""
    return Policy.model_validate(load("rubrics/policy"))


@cache
def field_policies() -> Mapping[str, FieldPolicy]:
    """All fields by name."""
    raw = load("rubrics/fields")["fields"]
    return {name: FieldPolicy.model_validate(one) for name, one in raw.items()}


@cache
def rubric(document_type: str) -> Rubric:
    """The rubric of a type.

    Raises:
        ValueError: there is no such type, or the rubric names a field that there is not.
    """
    if document_type not in DOCUMENT_TYPES:
        raise ValueError(f"there is no document type {document_type}")
    found = Rubric.model_validate(load(f"rubrics/{document_type.replace('-', '_')}"))
    unknown = set(found.fields) - set(field_policies())
    if unknown:
        raise ValueError(f"the rubric of {document_type} names unknown fields: {sorted(unknown)}")
    return found


@cache
def vocabulary() -> Vocabulary:
    """The words that rules know."""
    return Vocabulary.model_validate(load("rubrics/words"))


def plain(name: str) -> str:
    """A field's name without case, spaces, hyphens and underscores."""
    return re.sub(r"[^a-z0-9]", "", name.lower())


@cache
def _names() -> Mapping[str, tuple[str, ...]]:
    known: dict[str, list[str]] = {}
    for field, one in field_policies().items():
        known.setdefault(plain(field), []).insert(0, field)
        for alias in one.aliases:
            known.setdefault(plain(alias), []).append(field)
    return {name: tuple(dict.fromkeys(fields)) for name, fields in known.items()}


def field_named(name: str, document_type: str) -> str | None:
    """The field that others call `name`; of several, the one that the type's rubric has first."""
    fields = _names().get(plain(name), ())
    wanted = rubric(document_type).fields
    if fields and plain(fields[0]) == plain(name):
        return fields[0]
    return min(
        fields,
        key=lambda one: wanted.index(one) if one in wanted else len(wanted),
        default=None,
    )
