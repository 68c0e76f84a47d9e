"""Whether words have a finite verb, by the forms of English verbs. Pure.

A regular verb is known by its forms: what has a past in -ed and a participle in -ing among the
words of English is one where it follows a subject or has an object. Of irregular verbs
knowledge/questions/answers.yaml has the pasts; one that may be another word (wound, left, shed) is
a verb behind a subject and before an object. `verbs` lists auxiliaries and common verbs, which are
found sooner.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache

from knowledge.loader import load
from knowledge.names.spelling import fold
from knowledge.names.tables import tables

_WORD = re.compile(r"[a-z]+(?=(?P<next>[^a-z]{0,2}[^a-z\d](?:[a-z]+|\d))?)")
_NO_OBJECT = frozenset(
    ["of", "in", "and", "or", "for", "on", "with", "by", "from", "as", "at", "among", "than", "per"]
)
"""After these a form in -s is a noun: "effects of", "results in patients"."""
_SUBJECTS = frozenset(["we", "they", "i", "who", "which", "that", "it", "also", "not", "these"])
_LEAST_PAST = 4
_LEAST = 5


def has_verb(words: str) -> bool:
    """Whether `words` have a finite verb; of a participle in -ed that is taken for granted."""
    said = words.lower()
    if not _listed().isdisjoint(said.split()):  # nearly all sentences, and soon found
        return True
    before = ""
    for word, following in _each(said):
        if word in _listed() or (word.endswith("ed") and len(word) >= _LEAST_PAST):
            return True
        stems = {word, _stem(word)}
        if not stems.isdisjoint(_irregular("irregular_verbs")):
            return True
        if not stems.isdisjoint(_irregular("irregular_words")) and _has_object(before, following):
            return True
        if len(word) >= _LEAST and following and following not in _NO_OBJECT:
            if _is_third_person(word):
                return True
            subject = before in _SUBJECTS or before.endswith("s")
            if subject and _is_base(word):
                return True
        before = word
    return False


def _has_object(before: str, following: str) -> bool:
    """Whether a word stands between a subject and an object: a noun may be behind a noun as well,
    but not behind a name that is no word of English."""
    if not before or before in _NO_OBJECT or before in _openings():
        return False
    if following[:1].isdigit() or following in _openings():
        return True
    is_name = before.endswith("s") or before in _SUBJECTS or not tables().is_word(fold(before))
    return is_name and bool(following) and following not in _NO_OBJECT


def _each(said: str) -> Iterator[tuple[str, str]]:
    for match in _WORD.finditer(said):
        gap = match["next"] or ""
        yield match.group(), gap.lstrip(" (-/\"'“") if gap[:1] in {" ", ""} else ""


@cache
def _listed() -> frozenset[str]:
    return frozenset(load("questions/answers")["verbs"])


@cache
def _openings() -> frozenset[str]:
    """What an object begins with, or what belongs to a verb: no noun stands before it unparted."""
    return frozenset(load("questions/answers")["object_openings"])


@cache
def _irregular(name: str) -> Mapping[str, str]:
    """The pasts of irregular verbs with their bases."""
    pairs = [one.split() for one in load("questions/answers")[name]]
    return {past: base for base, past in pairs}


@cache
def _pasts() -> Mapping[str, str]:
    """The bases of irregular verbs with their pasts."""
    names = ("irregular_verbs", "irregular_words")
    return {base: past for name in names for past, base in _irregular(name).items()}


@cache
def _prefix() -> re.Pattern[str]:
    return re.compile(rf"(?:{'|'.join(load('questions/answers')['verb_prefixes'])})(?=[a-z]{{3}})")


@lru_cache(maxsize=16_384)
def _stem(word: str) -> str:
    """A word without what may stand before a verb: undercut, rebuilt."""
    return word[_prefix_length(word) :]


def _prefix_length(word: str) -> int:
    prefix = _prefix().match(word)
    return prefix.end() if prefix else 0


def _is_irregular_base(word: str) -> bool:
    """Whether a word is the base of an irregular verb; with a prefix if its past is a word too, for
    nobody outcame."""
    if word in _pasts():
        return True
    past = _pasts().get(_stem(word))
    return past is not None and tables().is_word(fold(f"{word[: _prefix_length(word)]}{past}"))


@lru_cache(maxsize=16_384)
def _is_third_person(word: str) -> bool:
    if not word.endswith("s") or word.endswith("ss"):
        return False
    bases = {word[:-1], word[:-2] if word.endswith("es") else word[:-1]}
    return any(map(_is_base, {f"{word[:-3]}y"} if word.endswith("ies") else bases))


@lru_cache(maxsize=16_384)
def _is_base(word: str) -> bool:
    """Whether a word has the forms of a regular verb (cause, caused, causing) or is the base of an
    irregular one."""
    if _is_irregular_base(word):
        return True
    stem = word.removesuffix("e")
    past = f"{stem}ed"
    if word.endswith("y") and word[-2:-1] not in "aeiou":
        past = f"{word[:-1]}ied"
    is_word = tables().is_word
    return is_word(fold(past)) and is_word(fold(f"{stem}ing"))
