"""Which of two works is a newer edition of the other.

Two works are of one line if one says that it replaces the other, if both are versions of one
Cochrane review, or if one body wrote both on one topic. Where that is only likely, nothing is
decided, and a finding asks an operator.
"""

import re
from collections.abc import Set
from dataclasses import dataclass
from datetime import datetime
from functools import cache, cached_property
from typing import Literal
from uuid import UUID

from clinical_text.titles import same_title, title_words
from store.core.unit_of_work import UnitOfWork
from store.documents import editions, findings
from store.documents.editions import BY_EDITIONS, Held
from store.documents.findings import NewFinding
from store.documents.successors import linked, successions
from store.index.terms import term_set

ALIKE = 0.6
"""Ours: the share of words in common from which two topics may be one."""

Relation = Literal["replaces", "perhaps"]

_YEAR = re.compile(r"(?<!\d)(?:19[5-9]|20[0-4])\d(?!\d)")
_VERSION = re.compile(
    r"\b(?:version|edition|v)\s?\.?\s?\d[\d.]{0,12}\b|\b\d{1,2}(?:st|nd|rd|th)\sedition\b", re.I
)
_VERSION_NUMBER = re.compile(
    r"\b(?:version\s|edition\s|v\.?\s?|^)(\d{1,3})\.(?:19|20)\d\d\b|\b(\d{1,2})(?:st|nd|rd|th)\sedition\b",
    re.IGNORECASE,
)
_COCHRANE = re.compile(r"10\.1002/14651858\.(?P<review>[a-z]{2}\d+)(?:\.pub(?P<n>\d+))?\Z", re.I)
# What stands behind the topic: who wrote it, with whom, for whom.
_BEHIND = re.compile(
    r"(?<=.{12})(?:[:,.–—-]?\s(?:developed|endorsed|in\scollaboration|on\sbehalf)\b"
    r"|[:.,–—-]\s(?:the\s)?task\sforce\b"
    r"|[:.,–—-]\s(?:an?\s|the\s)?(?:joint\s|executive\s|clinical\s|practice\s){0,3}"
    r"(?:reports?|summary|statements?|guidelines?|recommendations?|updates?)\s(?:of|from|by)\b).*",
    re.IGNORECASE | re.DOTALL,
)
_WRITTEN = frozenset(
    (
        *("guideline", "guidelines", "guidance", "recommendation", "recommendations", "consensus"),
        *(
            "statement",
            "update",
            "updated",
            "edition",
            "version",
            "revision",
            "revised",
            "clinical",
        ),
        *("practice", "policy", "determination", "position", "paper", "patients", "people", "new"),
    )
)
"""Words of a title that tell the form of the work and its edition, not its topic."""
_OF_A_BODY = re.compile(
    r"(?P<body>[A-Z][A-Za-z]{0,8}[A-Z]s?(?:[/–-][A-Z][A-Za-z]{0,8}[A-Z]s?){0,8})(?:\s(?:19|20)\d\d)?"
    r"(?:\s(?:[Cc]linical|[Pp]ractice|[Jj]oint|[Ee]xpert|[Ff]ocused|[Ss]cientific|[Ii]nternational)){0,3}"
    r"\s(?:[Gg]uid|[Rr]ecommend|[Cc]onsensus|[Ss]tatement|[Uu]pdate|[Pp]osition|[Pp]olicy)"
)
_ORGANIZATION = re.compile(
    r"\b(?:[A-Z][\w'’-]{1,30}\s(?:(?:of|for|the|and|on|in)\s){0,2}){1,8}"
    r"(?:[A-Z][\w'’-]{1,30})\b"
)
_COLLECTIVE = re.compile(
    r"\b(?:Society|College|Association|Academy|Institute|Network|Organi[sz]ation|Federation|Foundation"
    r"|Council|Agency|Ministry|Service|Group|Committee|Force|Collaborati\w+|Union|League|Board)\b"
)
_WORK = (
    r"(?:guidelines?|guidance|recommendations?|statement|version|edition|document|polic(?:y|ies)"
    r"|determination|update|review|consensus|protocol)"
)
_FORM = re.compile(r"\s(?:Guid|Recommend|Consensus|Statement|Update|Position|Policy|Practice)")
_REPLACES = re.compile(
    rf"(?:^|\b(?:it|(?:this|these|the|our)\s(?:[\w-]{{1,30}}\s){{0,4}}?{_WORK})\s)"
    r"(?:(?:was|has|is|are|also|fully|partially|in\spart|and|updates?|an?|intended|to)\s){0,4}"
    r"(?:(?:replac|supersed|updat)(?:es|ed|ing|e|s)?(?!\sby\b)|update\s(?:of|to))\b:?"
    r"(?P<what>[^.;\n]{3,300})",
    re.IGNORECASE | re.MULTILINE,
)
_NUMBER = re.compile(r"\b(?=[A-Za-z]{0,6}-?\d)[A-Za-z]{1,6}-?\d[\w.-]{0,30}\b")
_EARLIER = re.compile(
    r"\b(?:previous|prior|earlier|former|preceding|last|existing)\s"
    r"(?:[\w-]{1,20}\s){0,2}(?:version|edition|guid\w+|recommendations?|polic\w+|statement|review)",
    re.IGNORECASE,
)
_IN_PART = re.compile(
    r"\b(?:focused\supdate|addendum|amendment|supplement|erratum|corrigendum|in\spart|partial)\b",
    re.I,
)


@dataclass(frozen=True)
class Edition:
    """A work with what tells which line it is in, and where."""

    held: Held

    @cached_property
    def stated_year(self) -> int | None:
        """The year that the title or the version states."""
        stated = _YEAR.findall(f"{self.held.title} {self.held.version_label or ''}")
        return max(map(int, stated), default=None)

    @cached_property
    def year(self) -> int | None:
        """The year of the edition: the stated one, else that of publication."""
        at = self.held.published_at
        return self.stated_year or (at.year if at else None)

    @cached_property
    def number(self) -> int | None:
        """The number of the version within its year: "Version 3.2024", or of the edition."""
        stated = f"{self.held.title} {self.held.version_label or ''}"
        found = _VERSION_NUMBER.search(stated)
        return int(found[1] or found[2]) if found else None

    @cached_property
    def words(self) -> list[str]:
        """The words of the title without the body, the form and the edition."""
        title = _BEHIND.sub("", _VERSION.sub(" ", _YEAR.sub(" ", self.held.title)))
        for phrase in _organizations(title):
            title = title.replace(phrase, " ")
        return [word for word in title_words(title) if word not in self.bodies | _WRITTEN]

    @cached_property
    def topic(self) -> frozenset[int]:
        """The terms of these words."""
        return term_set(" ".join(self.words))

    @cached_property
    def bodies(self) -> frozenset[str]:
        """Who wrote it: names and their initials, in lower case."""
        of_body = self.held.source_type in ("nccn", "asco", "esmo", "guideline", "payer")
        names = [self.held.publisher or ""] if of_body else []
        names += [name for name in self.held.authors if _COLLECTIVE.search(name)]
        found = {name.casefold() for name in names if name}
        for match in _OF_A_BODY.finditer(self.held.title):
            found |= {part.casefold() for part in re.split(r"[/–-]", match["body"])}
        for phrase in (
            phrase for name in (*names, self.held.title) for phrase in _organizations(name)
        ):
            initials = (word[0] for word in phrase.split() if word[0].isupper())
            found.add("".join(initials).casefold())
        return frozenset(found)

    @cached_property
    def cochrane(self) -> tuple[str, int] | None:
        """The number of a Cochrane review, and its version."""
        match = _COCHRANE.match(self.held.identifiers.get("doi", ""))
        return (match["review"].lower(), int(match["n"] or 1)) if match else None

    @cached_property
    def replaced(self) -> list[str]:
        """What it says that it replaces, as it says it."""
        return [match[0] for match in _REPLACES.finditer(f"{self.held.title}. {self.held.opening}")]


def relation(newer: Edition, older: Edition) -> Relation | None:
    """Whether `newer` is a newer edition of `older`, as far as the two tell."""
    if newer.cochrane and older.cochrane:
        (review, n), (other, before) = newer.cochrane, older.cochrane
        return "replaces" if review == other and n > before else None
    if older.year and newer.year and newer.year < older.year:
        return None
    alike = _alike(newer.topic, older.topic)
    one_body = not newer.bodies.isdisjoint(older.bodies)
    in_part = _IN_PART.search(newer.held.title)
    for words in newer.replaced:
        if _names(words, newer, older, alike, one_body=one_body):
            return "perhaps" if in_part or _IN_PART.search(words) else "replaces"
    if not _is_later(newer, older) or not newer.topic or not older.topic:
        return None
    if newer.topic == older.topic:
        return "replaces" if one_body and not in_part else _asked(newer, older, one_body=one_body)
    core, past = newer.topic - _acts(), older.topic - _acts()
    near = core == past or ((core < past or past < core) and _alike(core, past) >= ALIKE)
    return "perhaps" if one_body and core and near else None


def _asked(newer: Edition, older: Edition, *, one_body: bool) -> Relation | None:
    """One topic: a question, unless two bodies wrote on it."""
    return "perhaps" if one_body or not newer.bodies or not older.bodies else None


def _is_later(newer: Edition, older: Edition) -> bool:
    if newer.year is None or older.year is None:
        return False
    if newer.year != older.year or not (newer.number and older.number):
        return newer.year > older.year
    return newer.number > older.number


def _names(words: str, newer: Edition, older: Edition, alike: float, *, one_body: bool) -> bool:
    """Whether what a work says that it replaces is the other one."""
    known = (
        f"{older.held.title} {older.held.key} {' '.join(older.held.identifiers.values())}".lower()
    )
    numbers = {number.lower() for number in _NUMBER.findall(words)}
    if any(re.search(rf"(?<!\w){re.escape(number)}(?!\w)", known) for number in numbers):
        return True
    if same_title(words, older.held.title) and len(older.topic) > 1:
        return True
    near = alike >= ALIKE and (one_body or not newer.bodies or not older.bodies)
    if near and older.year != newer.year and str(older.year) in _YEAR.findall(words):
        return True
    return near and _is_later(newer, older) and bool(_EARLIER.search(words))


def _organizations(words: str) -> list[str]:
    """The full names of societies and other bodies in a title or a name."""
    phrases = (_FORM.split(phrase[0])[0] for phrase in _ORGANIZATION.finditer(words))
    return [phrase for phrase in phrases if _COLLECTIVE.search(phrase)]


@cache
def _acts() -> frozenset[int]:
    """Terms for what is done, which bodies change from one edition to the next."""
    return term_set("diagnosis management treatment therapy evaluation assessment care prevention")


def _alike(one: Set[int], other: Set[int]) -> float:
    union = one | other
    return len(one & other) / len(union) if union else 0.0


def restate_editions(
    unit: UnitOfWork, source: str, documents: Set[UUID], at: datetime
) -> dict[UUID, str]:
    """Take the works that one of these documents replaces, or that replace it, apart from what is
    in force, and ask an operator where it cannot be told.

    Returns what is replaced: document → key of the newer edition.

    Args:
        documents: those whose titles or texts changed; hold their locks.
    """
    mine = editions.of_documents(unit.session, documents)
    works = linked(unit.session, documents)
    editions.wait_for_others(
        unit.session, alone=bool(mine) or any(one.names_others for one in works)
    )
    stated = list(successions(unit.session, works))
    if not mine and not stated:
        return {}
    decided = editions.apart(unit.session, documents)
    replaced = {
        older.document_id: newer.key
        for older, newer in stated
        if frozenset((older.document_id, newer.document_id)) not in decided
    }
    questions: dict[tuple[UUID, str], NewFinding] = {}
    for held in mine:
        own = Edition(held)
        for other in map(Edition, editions.beside(unit.session, held, own.words)):
            if frozenset((held.document_id, other.held.document_id)) in decided:
                continue
            for newer, older in ((own, other), (other, own)):
                found = relation(newer, older)
                if found == "replaces" and (newer.held.source or not older.held.source):
                    replaced[older.held.document_id] = newer.held.key
                elif found is not None:
                    question = _question(newer.held, older.held, source)
                    questions[older.held.document_id, question.subject] = question
    editions.replace(unit, BY_EDITIONS, replaced, at)
    open_questions = [
        one for (document_id, _), one in questions.items() if document_id not in replaced
    ]
    findings.restate(
        unit, source, "edition", {held.document_id for held in mine}, open_questions, at
    )
    return replaced


def _question(newer: Held, older: Held, source: str) -> NewFinding:
    detail = {"newer": str(newer.document_id)}
    return NewFinding("edition", f"edition:{newer.key}", older.document_id, detail, source)
