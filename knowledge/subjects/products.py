"""Drugs and tests that a question asks about, and whether words are on them or on others. Pure.

A question on one of them is not answered with statements on another: no figure of apixaban for
dabigatran, no coverage of one laboratory's test for that of another. No list says what a product
is: the tables of names know drugs, and a name that they lack is one where it is written or stands
as a product's (a code, a trade mark, a dose, "the X test"). The words of a decision's tag
(`vocabulary.yaml`) tell which drugs and tests are chosen among; they decide nothing else.
"""

import re
from collections.abc import Collection, Iterator
from functools import cache, lru_cache

from knowledge.guards.guard_terms import drug_terms
from knowledge.loader import load
from knowledge.matching.words import Mention
from knowledge.names.forms import forms
from knowledge.names.name import Name
from knowledge.names.reading import names, resolve
from knowledge.subjects.drugs import asked_about, drugs, drugs_at, names_one
from knowledge.subjects.tags import KINDS, mentions, tags

_CODE = re.compile(r"[A-Z]{1,5}[-‐‑ ]?\d{3,9}[A-Z]?|[A-Z]?[a-z]{4,30}\d{3,9}")
"""A compound's number at its maker, three digits or more; a laboratory's test with a number."""
_CAMEL = re.compile(r"(?:[A-Z][a-z]{2,20}){2,6}\d{0,4}")
_BEHIND = re.compile(
    r"\s?[™®]|\s\(?\d[\d.,]{0,8}\s?(?:mg|mcg|µg|μg|g|ml|mL|IU|units?)\b"
    r"|\s(?:tablets?|capsules?|injections?|infusions?|tests?|testing|assays?|panels?)\b"
)
_BEFORE = re.compile(
    r"(?i)\b(?:treated with|treatment with|therapy with|receiv(?:e|es|ed|ing)|taking"
    r"|dos(?:e|es|age|ing) of|coverage of|versus|vs\.?)\s(?:the\s)?$"
)
_INITIALS = re.compile(r"[A-Z][A-Za-z]?[A-Z/]{1,20}s?")
_MEDICAL = re.compile(
    r"(?:ing|ed|ly|tion|ity|ness|ism|sis|itis|oma|pathy|emia|tomy|plasty|scopy|graphy|metry|genic"
    r"|therapy|ical|ic|al|ous)$"
)
"""Endings by which English makes words of acts, states, conditions and qualities."""
_TRIAL = re.compile(r"(?i)\s?(?:trials?|stud(?:y|ies)|registry|cohort|investigators)\b")
_AROUND = 30
"""Characters before a name in which its place is told (ours)."""


@lru_cache(maxsize=4096)  # a title is that of many lines
def products(text: str) -> frozenset[str]:
    """The products that `text` names: drugs by their generic names, others as they are written."""
    return drugs(text) | frozenset(one.name for one in _unknown(text))


def asked_for(
    question: str, names_required: Collection[str], called: Collection[str] = ()
) -> tuple[str, ...]:
    """The products that a question is on, in order of the alphabet.

    Args:
        names_required: the names that an answer must be about, as written. Of these a name that no
            table has may be a product, whatever it is written like.
        called: the trials and bodies among them, which are none unless they are written like one.
    """
    found: dict[str, None] = {}
    for one in names_required:
        known = drugs(one)
        if known or one in products(question) or (one not in called and _is_unknown(one)):
            found.update(dict.fromkeys(known or (one,)))
        if known and known.isdisjoint({resolve(one).preferred.lower()}):
            found[one] = None  # trastuzumab deruxtecan is more than trastuzumab
    found.update(dict.fromkeys(one.name for one in _unknown(question)))
    if not found:
        found.update(
            (one.name, None)
            for one in drugs_at(question)
            if one.name in asked_about(question) and question[one.end : one.end + 1] != "-"
        )
    return tuple(sorted(found))


def _is_unknown(name: str) -> bool:
    """Whether no table has a name, and it may be a product's: no tag is called so (MRD is a
    decision, Signatera a test), and it is neither initials nor made as a word of medicine is."""
    return (
        not any(one.known for one in names(name, typed=True))
        and not _INITIALS.fullmatch(name)
        and not (name.islower() and _MEDICAL.search(name))
        and not _is_general(name)
    )


def _is_general(name: str) -> bool:
    """Whether a tag is called so, and no product that is chosen among."""
    tagged = any(tags(kind, name) for kind in KINDS)
    return tagged and _proper_names().fullmatch(name) is None


def _unknown(text: str) -> Iterator[Mention]:
    tagged = [one for kind in KINDS for one in mentions(kind, text)]
    for one in names(text):
        is_of_tag = any(each.start < one.end and one.start < each.end for each in tagged)
        if not (one.known or is_of_tag) and _is_product(text, one):
            yield Mention(text[one.start : one.end], one.start, one.end)
    written = {one.lower(): one for some in chosen_among().values() for one in some}
    for match in _proper_names().finditer(text):
        yield Mention(written[match.group().lower()], *match.span())


def _is_product(text: str, name: Name) -> bool:
    """Whether a name that no table has is written as a product's is, or stands in its place."""
    written = text[name.start : name.end]
    head, _, number = written.rpartition(" ")
    if number.isdecimal() and resolve(head).known:
        return False  # PTH 140
    if _TRIAL.match(text, name.end) or _identifiers().fullmatch(written):
        return False
    return (
        _CODE.fullmatch(written) is not None
        or _CAMEL.fullmatch(written) is not None
        or _BEHIND.match(text, name.end) is not None
        or _BEFORE.search(text[max(0, name.start - _AROUND) : name.start]) is not None
    )


@cache
def _identifiers() -> re.Pattern[str]:
    return re.compile(load("questions/questions")["identifiers"], re.IGNORECASE)


def named(words: str, asked: Collection[str]) -> bool:
    """Whether `words` have one of the products `asked`, by any of its names."""
    return _named(words, frozenset(asked))


@lru_cache(maxsize=1024)  # one rule after the other asks it of a passage
def _named(words: str, asked: frozenset[str]) -> bool:
    found = any(forms(one).stand_in(words) for one in asked)
    return found or names_one(words, asked, or_class=False)


def are_on_others(words: str, asked: Collection[str], title: str = "") -> bool:
    """True if `words` name none of the products `asked`, but another one that is chosen instead of
    them: for the same decision, or beside them in the title of their work."""
    if not asked or named(words, asked):
        return False
    others = products(words)
    if not others:
        return False
    beside = products(title) if title and named(title, asked) else frozenset[str]()
    decisions = _decisions(asked)
    return not others.isdisjoint(beside) or not decisions.isdisjoint(_decisions(others))


def speak_to(words: str, asked: Collection[str]) -> bool:
    """True if `words` are about the products `asked`: they name one of them, a class of one, or its
    decision in general, and no other of its products. Always True if `asked` is empty."""
    if not asked or named(words, asked):
        return True
    in_general = not _decisions(asked).isdisjoint(tags("decisions", words)) or names_one(
        words, frozenset(asked)
    )
    return in_general and not are_on_others(words, asked)


@lru_cache(maxsize=256)  # many lines share a text
def first_named(text: str) -> str | None:
    """The product that `text` names first; None if it names none."""
    found = min((*drugs_at(text)[:1], *_unknown(text)), key=lambda one: one.start, default=None)
    return found.name if found else None


@lru_cache(maxsize=4096)
def _decision_tags(product: str) -> frozenset[str]:
    return frozenset(tags("decisions", product))


def _decisions(asked: Collection[str]) -> frozenset[str]:
    return frozenset[str]().union(*map(_decision_tags, asked))


@cache
def chosen_among() -> dict[str, tuple[str, ...]]:
    """Of each decision its products, as the vocabulary writes them: drugs, and proper names. It
    tells which drugs and tests are chosen instead of each other, not which there are."""
    listed = load("subjects/vocabulary")["decisions"].items()
    found = {
        tag: tuple(one for one in entry["words"] if _is_one(one) or _is_proper(one))
        for tag, entry in listed
    }
    return {tag: some for tag, some in found.items() if some}


def _is_one(word: str) -> bool:
    return any(one.start == 0 and one.end == len(word) for one in drugs_at(word))


def _is_proper(word: str) -> bool:
    return word.istitle() and not any(map(str.isdecimal, word))


@cache
def _proper_names() -> re.Pattern[str]:
    proper = (one for some in chosen_among().values() for one in some if not drugs(one))
    return re.compile(rf"(?i)(?<!\w)(?:{'|'.join(map(re.escape, proper))})(?!\w)")


def has_products(decision: str) -> bool:
    """True if a decision chooses among products; then its general name stands for each of them."""
    return decision in chosen_among()


@cache
def is_narrow(drug_class: str) -> bool:
    """True if a class of drugs (guards/drugs.yaml) is one of several that a decision chooses among:
    not only statins lower lipids, but nearly all drugs for infections are antibiotics."""
    members, shares = drug_terms().classes[drug_class].members, []
    for listed in chosen_among().values():
        members_listed = sum(any(member in name.lower() for member in members) for name in listed)
        shares.append(members_listed / len(listed))
    return 0 < max(shares) < float(load("questions/answers")["general_class"])
