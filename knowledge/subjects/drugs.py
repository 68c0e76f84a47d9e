"""Drugs by all their names: the only module that maps brands to drugs. Pure.

What is a drug say the tables of `knowledge.names`; guards/drugs.yaml adds shorter forms, stems and
classes.
Retrieval, selection and claim checks all use it, so that Eliquis is apixaban to all of them.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache

from knowledge.guards.guard_terms import drug_terms
from knowledge.matching.words import Mention, Words
from knowledge.names.reading import names as named
from knowledge.names.reading import resolve

_LETTER = r"[^\W\d_]"
_WORD = re.compile(rf"{_LETTER}+")
"""A name ends with its letters: the number of a footnote may follow."""


@cache
def names() -> Mapping[str, tuple[str, ...]]:
    """All names of each drug, by its generic name in lower case, which is the first."""
    return {name: (name, *more) for name, more in drug_terms().names.items()}


def brands(name: str) -> tuple[str, ...]:
    """The other names of a drug, without those in capitals: ASA is a class of patients, too."""
    return tuple(brand for brand in names().get(name.lower(), ())[1:] if not brand.isupper())


@lru_cache(maxsize=4096)  # many lines share a title, and several guards read a claim
def drugs_at(text: str) -> Sequence[Mention]:
    """The mentions of drugs in `text`, by generic name, in order: those of guards/drugs.yaml, those
    that the tables of names know, and names in no table with the stem of a drug."""
    found = list(_listed().mentions(text))
    taken = bytearray(len(text))
    for mention in (*found, *_classes().mentions(text)):
        _take(taken, mention)
    for mention in (*_in_tables(text), *_by_stem(text)):
        if not any(taken[mention.start : mention.end]):
            found.append(mention)
            _take(taken, mention)
    return tuple(sorted(found, key=lambda mention: mention.start))


def _take(taken: bytearray, mention: Mention) -> None:
    taken[mention.start : mention.end] = b"\1" * (mention.end - mention.start)


def drugs(text: str) -> frozenset[str]:
    """The generic names of the drugs that `text` names."""
    return frozenset(mention.name for mention in drugs_at(text))


def _in_tables(text: str) -> Iterator[Mention]:
    for name in named(text):
        if "drug" in name.kinds:
            listed = (_by_sense().get(sense) for sense in name.senses)
            drug = next(filter(None, listed), name.preferred.lower())
            yield Mention(drug, name.start, name.end)


def _by_stem(text: str) -> Iterator[Mention]:
    """Words with the stem of a drug: new ones, and those inside longer names ("penicillin
    allergy")."""
    for match in _WORD.finditer(text):
        if word := _with_stem(match.group()):
            yield Mention(word, *match.span())


@cache
def _by_sense() -> Mapping[int, str]:
    """The generic name here of an entry of the tables."""
    return {sense: name for name in names() for sense in resolve(name).senses}


@lru_cache(maxsize=16_384)  # texts share many words
def _with_stem(written: str) -> str:
    """The singular of a word with the stem of a drug; "" for other words."""
    terms, word = drug_terms(), written.lower()
    if not word.endswith(terms.stems):
        word = word.removesuffix("s")
    is_drug = (
        len(word) >= terms.shortest
        and word.endswith(terms.stems)
        and word not in terms.not_drugs
        and not word.endswith(terms.not_drug_endings)
    )
    return word if is_drug else ""


def asked_about(question: str, *, else_taken: bool = False) -> frozenset[str]:
    """The drugs that a question is about: not those that the patient takes already.

    Args:
        else_taken: if it names no others, return those taken, unless it asks for another treatment.
    """
    mentions, taken = drugs_at(question), drug_terms().asking
    asked = frozenset(
        mention.name for mention in mentions if not _is_taken(question[: mention.start])
    )
    if asked or not else_taken or taken.another.search(question):
        return asked
    return frozenset(mention.name for mention in mentions)


def _is_taken(before: str) -> bool:
    asking = drug_terms().asking
    return asking.taken.search(before) is not None and asking.to_be_taken.search(before) is None


def classes_at(text: str) -> Sequence[Mention]:
    """The mentions of drug classes in `text`, by their names in guards/drugs.yaml."""
    return _classes().mentions(text)


def classes_asked_about(question: str) -> frozenset[str]:
    """The drug classes that a question is about, by their names in guards/drugs.yaml."""
    mentions = classes_at(question)
    return frozenset(
        mention.name for mention in mentions if not _is_taken(question[: mention.start])
    )


def names_one(
    text: str,
    asked: frozenset[str],
    classes: frozenset[str] = frozenset(),
    *,
    or_class: bool = True,
) -> bool:
    """True if `text` names one of these drugs, a class of one, or a drug of these classes."""
    if not (asked or classes):
        return False
    if _any_of(asked, classes, or_class).search(text) is not None:
        return True
    return not asked <= names().keys() and not asked.isdisjoint(drugs(text))


@lru_cache(maxsize=256)
def _any_of(asked: frozenset[str], classes: frozenset[str], or_class: bool) -> re.Pattern[str]:
    """One pattern for all their names; whole texts are searched with it."""
    known = drug_terms().classes
    forms = {form for name in asked for form in (name, *names().get(name, ()))}
    forms.update(word for one in classes for word in known[one].words)
    members = {member for one in classes for member in known[one].members}
    for name, brand in names().items():
        if any(member in name for member in members):
            forms.update(brand)
    for one in known.values() if or_class else ():
        if any(member in name for member in one.members for name in asked):
            forms.update(one.words)
    written = [_form(one) for one in sorted(forms, key=lambda one: (-len(one), one))]
    written += [rf"(?i:\w*{re.escape(member)}\w*)" for member in sorted(members)]
    return re.compile(rf"(?<!{_LETTER})(?:{'|'.join(written)})(?!{_LETTER})")


def _form(name: str) -> str:
    plain = r"[\s-]+".join(map(re.escape, re.split(r"[\s-]+", name)))
    return plain if name.isupper() else f"(?i:{plain})"


@cache
def _listed() -> Words:
    return Words(names())


@cache
def _classes() -> Words:
    return Words({name: terms.words for name, terms in drug_terms().classes.items()})
