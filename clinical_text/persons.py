"""Of how many patients does a document speak, and where does each one's begin? Pure.

Names and numbers count only behind their labels. Who is named otherwise, or has another number
under the same label, is another person: two records are cut apart rather than mixed.
"""

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from knowledge.documents.persons import person_policy

_HEADER = 400
"""Characters in which the name and the number of one header stand, and its title before (ours)."""
_MOST_PERSONS = 50
"""Persons that are told apart in one document; more tell no more (ours)."""


class Said(NamedTuple):
    """A name or a number behind its label, `at` the beginning of its line."""

    at: int
    name: frozenset[str]
    number: tuple[str, str] | None
    sure: bool
    """Whether the label is of a patient's name and of nothing else."""


@dataclass
class _Person:
    name: frozenset[str]
    number: tuple[str, str] | None

    def is_same(self, other: "_Person") -> bool:
        """Whether nothing tells the two apart."""
        if self.number and other.number and self.number[0] == other.number[0]:
            return self.number[1] == other.number[1]
        if not self.name or not other.name:
            return True
        return self.name <= other.name or other.name <= self.name


@cache
def _labelled() -> re.Pattern[str]:
    words = person_policy()
    word = r"[A-Z][A-Za-z'’.\-]*"
    return re.compile(
        rf"(?<![A-Za-z])(?:(?i:(?P<sure>{_any_of(words.names)})|"
        rf"(?P<patient>{_any_of(words.unsure_names)}))[ \t*]*+[:|][ \t*]*+"
        rf"(?P<name>{word}(?:,?[ ]{word}){{0,4}})|"
        rf"(?i:{_any_of(words.places)})[ ]?\d{{1,3}}[A-Za-z]?[ ]*+[:,.–-]?[ ]*+"
        rf"(?P<placed>(?:Mr|Mrs|Ms|Miss)\b\.?(?:[ ]{word}){{1,3}})|"
        rf"(?i:(?P<label>{_any_of(words.numbers)}))(?:[ \t*]*+[:|#][ \t*#]*+|[ \t]++)"
        r"(?P<number>[A-Za-z0-9][A-Za-z0-9/\-]{0,30}))"
    )


def _any_of(words: Sequence[str]) -> str:
    ordered = sorted(words, key=len, reverse=True)
    return "|".join(re.escape(one).replace(r"\ ", r"\s+") for one in ordered)


def said(text: str) -> list[Said]:
    """Every labelled name and number, in order."""
    found = []
    at = looked = 0
    for match in _labelled().finditer(text):
        at = max(at, text.rfind("\n", looked, match.start()) + 1)
        looked = match.start()
        if match["label"]:
            number = re.sub(r"[^a-z0-9]", "", match["number"].lower())
            if any(one.isdigit() for one in number):
                label = " ".join(match["label"].lower().split())
                found.append(Said(at, frozenset(), (label, number), sure=True))
            continue
        name = _name(match["name"] or match["placed"])
        if name:
            label = " ".join((match["sure"] or match["patient"] or "").lower().split())
            if label != "patient" or len(name) > 1:
                sure = bool(match["sure"] or match["placed"])
                found.append(Said(at, name, None, sure=sure))
    return found


def _name(words: str) -> frozenset[str]:
    """The words of a name without titles, initials and the label behind it."""
    kept = []
    for one in re.findall(r"[A-Za-z'’\-]+", words):
        initial = len(one) == 1 and one.isupper()
        if one.lower() in person_policy().ends and not initial:
            break
        if len(one) > 1 and one.lower() not in person_policy().titles:
            kept.append(one.lower())
    return frozenset(kept)


def people(text: str, titles: Sequence[int]) -> list[tuple[int, int]]:
    """Where the words of each person begin, and which person it is, from 0; the first at 0.

    Args:
        titles: where titles of documents begin, in order: a person's words begin at the title
            before the name, or at the name where names stand before titles.
    """
    headers = _headers(said(text), titles)
    known: list[_Person] = []
    found = [(0, 0)]
    names_first = bool(titles and headers and headers[0][0].at < titles[0])
    for header in headers:
        one = _person(header)
        index = next((n for n, other in enumerate(known) if other.is_same(one)), None)
        if index is None:
            index = len(known)
            known.append(one)
        else:
            held = known[index]
            known[index] = _Person(held.name | one.name, held.number or one.number)
        if index == found[-1][1]:
            continue
        at = header[0].at
        behind = bisect_right(titles, at)
        title = titles[behind - 1] if behind else 0
        following = titles[behind] if behind < len(titles) else len(text) + _HEADER
        if not names_first and title > found[-1][0] and at - title < _HEADER:
            found.append((title, index))
        elif any(said.sure for said in header) or (names_first and following - at < _HEADER):
            found.append((at, index))
        if len(known) > _MOST_PERSONS:
            break  # whoever comes now is one with this one, and with none before
    return found


def number_of_people(text: str) -> int:
    """How many patients a text names by their labels; one where it names none."""
    return len({person for _, person in people(text, ())})


def _headers(every: Sequence[Said], titles: Sequence[int]) -> list[list[Said]]:
    """Names and numbers that stand together: one of each, near each other, no title between."""
    out: list[list[Said]] = []
    for one in every:
        held = out[-1] if out else []
        fits = held and one.at - held[0].at < _HEADER
        fits = fits and not any(bool(one.name) == bool(other.name) for other in held)
        if fits and bisect_right(titles, held[0].at) == bisect_right(titles, one.at):
            held.append(one)
        else:
            out.append([one])
    return out


def _person(header: Sequence[Said]) -> _Person:
    name = next((one.name for one in header if one.name), frozenset())
    return _Person(name, next((one.number for one in header if one.number), None))
