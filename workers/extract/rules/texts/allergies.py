"""What a document says of allergies: under a label, and in its sentences. Pure.

What is said to be none in one place and some in another is both: nobody but a person may choose.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache

from knowledge.subjects.drugs import drugs_at
from workers.extract.fields import Found
from workers.extract.parts import Parts, behind_spaces
from workers.extract.patients import patients
from workers.extract.rubrics import alternatives, any_of
from workers.extract.rules.texts.negation import negated
from workers.extract.rules.texts.others import of_a_relative
from workers.extract.values import Words

_END = re.compile(r"[.;!?](?=\s|$)|\n")
_WORD = re.compile(r"[a-z][a-z-]{3,}")
_LONGEST = 160
"""Characters in which a sentence tells of an allergy (ours)."""
_MOST_TOLD = 60
"""Places that are kept apart (ours); with more than one the field is ambiguous, and reviewed."""


@cache
def _told() -> re.Pattern[str]:
    return any_of(patients().allergies.told)


@cache
def _kinds() -> re.Pattern[str]:
    """ "Penicillin allergy": the word before, which is a drug or one of these."""
    return re.compile(r"(?i)(?<![\w-])(?P<what>[a-z][a-z-]{2,24})\s++allerg(?:y|ies)\b(?!\s++to\b)")


@cache
def _none() -> re.Pattern[str]:
    return any_of(patients().allergies.none)


@cache
def _nothing() -> re.Pattern[str]:
    words = alternatives(patients().allergies.none)
    return re.compile(rf"(?i)\W{{0,80}}+(?:{words}|none|no|nil|denies|denied|0)\b[^,;\n]{{0,40}}$")


def told_of(parts: Parts) -> Iterator[Found]:
    """Sentences that tell of an allergy, or of none, wherever they stand, in order."""
    text = parts.text
    found = [*_some(text), *((one.start(), one.end()) for one in _none().finditer(text))]
    last = 0
    for start, end in sorted(found):
        if start < last or of_a_relative(parts, start, end):
            continue
        last = end
        yield Found(Words(text=text[start:end]), start, end)


def _some(text: str) -> Iterator[tuple[int, int]]:
    for match in _told().finditer(text):
        # what it is may stand in the next line
        begin = behind_spaces(text, match.end())
        stop = _END.search(text, begin, match.end() + _LONGEST)
        end = stop.start() if stop else min(len(text), match.end() + _LONGEST)
        if text[match.end() : end].strip() and not negated(text, match.start(), match.start()):
            yield match.start(), match.start() + len(text[match.start() : end].rstrip())
    for match in _kinds().finditer(text):
        known = drugs_at(match["what"]) or match["what"].lower() in patients().allergies.things
        if known and not negated(text, match.start(), match.end()):
            yield match.span()


def says_none(words: str) -> bool:
    """Whether words say that there is no allergy, and nothing else."""
    return _nothing().match(words.strip()) is not None


def different(found: Sequence[Found], text: str) -> list[Found]:
    """Of all places, those that say something new; what is told of an allergy before "none"."""
    kept: list[Found] = []
    told = ""
    for one in found:
        if len(kept) == _MOST_TOLD:
            break
        words = text[one.start : one.end].lower()
        if any(one.start < held.end and held.start < one.end for held in kept):
            continue
        if says_none(words):
            new = not any(says_none(text[held.start : held.end]) for held in kept)
        else:
            named = [word for word in _WORD.findall(words) if not _told().search(word)]
            new = not any(word in told for word in named) if named else not kept
        if new:
            kept.append(one)
            told += " " + words
    return sorted(kept, key=lambda one: says_none(text[one.start : one.end]))
