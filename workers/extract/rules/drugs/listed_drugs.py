"""Drugs that a list of medicines names without a dose. Pure.

`drugs` knows a drug by the dose behind it. Under a heading of medicines a name is enough, where it
is one of those that `knowledge.subjects.drugs` knows.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache

from knowledge.names.tables import tables
from workers.extract.fields import Found
from workers.extract.parts import Parts, Section
from workers.extract.patients import patients
from workers.extract.rubrics import field_policies
from workers.extract.rules.drugs.drug_names import drugs_named
from workers.extract.rules.drugs.drugs import CALLED, dose_of
from workers.extract.rules.drugs.drugs import told as how_taken
from workers.extract.rules.texts.negation import negated
from workers.extract.units import told
from workers.extract.values import Medication

_SOMETHING_ELSE = re.compile(
    r"(?i)\s{0,40}+(?:levels?|toxicity|test\w*|trial|sensitiv\w+|resistan\w+|allerg\w+|intoleran\w+|"
    r"monitoring|clinic|therapy|\d[\d.,]{0,20}\s?(?:mg|mcg|µg|ug|g|units?|iu|ml|%))(?![a-z])"
)
"""Behind a drug's name: a test of it, or a dose, which `drugs` reads."""
_BARE_STRENGTH = re.compile(r"[ ](\d{1,4}(?:\.\d{1,2})?)(?=\s)(?!\s?(?:-|–|x\b|/))")
"""A strength without a unit, as prescriptions in India write it."""
_OWN_WORDS = re.compile(r"[,;.\n]")
_SAID_OF_ONE = 60
"""Characters behind a drug in which it is said how it is taken (ours)."""


@cache
def _headings() -> frozenset[str]:
    return frozenset(field_policies()["medications"].labels) | patients().medicines.taken_headings


def drug_lists(parts: Parts) -> Sequence[tuple[int, int]]:
    """Where headings of medicines rule."""
    learned = {parts.sections[one.section].heading_start
               for one in told(parts, "medications") if one.section is not None}  # fmt: skip

    def heads(one: Section) -> bool:
        return one.title in _headings() or one.heading_start in learned

    return parts.stretches(heads, lambda one: not heads(one), to_blank=True)


def listed(parts: Parts, dosed: Sequence[Found]) -> Iterator[Found]:
    """Drugs that stand under a heading of medicines and have no dose anywhere."""
    text = parts.text
    named = {one for found in dosed for one in _names(text[found.start : found.end])}
    for start, end in drug_lists(parts):
        for one in drugs_named(text[start:end]):
            at, stop = start + one.start, start + one.end
            if one.name in named or _SOMETHING_ELSE.match(text, stop) or negated(text, at, stop):
                continue
            named.add(one.name)
            said = _OWN_WORDS.split(text[stop : stop + _SAID_OF_ONE])[0]
            bare = _BARE_STRENGTH.match(said)
            skipped = bare.end() if bare else 0
            frequency, route, more = how_taken(said[skipped:])
            more += skipped if frequency or route else 0
            strength = _BARE_STRENGTH.match(text, stop) if frequency else None
            dose = float(strength[1]) if strength else None
            value = Medication(name=text[at:stop], dose=dose, frequency=frequency, route=route)
            yield Found(value, at, stop + more)


def called_drug(text: str, begin: int, stop: int) -> Found | None:
    """The drug that an entry begins with, whatever its name: its form says so, or how it is taken
    behind a name that is no word of English ("Walk daily")."""
    called = CALLED.match(text, begin, stop)
    if called is None:
        return None
    frequency, route, more = how_taken(text[called.end() : min(stop, begin + _SAID_OF_ONE)])
    by_name = (frequency or route) and may_be_a_drug(called["name"].split()[0].lower())
    if not (called["form"] or by_name):
        return None
    dose = float(called["dose"]) if called["dose"] else None
    value = Medication(name=called["name"], dose=dose, frequency=frequency, route=route)
    return Found(value, called.start(), called.end() + more)


def may_be_a_drug(word: str) -> bool:
    """Whether a word may be a drug's name: the tables have it for one, or for nothing at all."""
    kinds = {kind for one in tables().senses(word) for kind in tables().kinds(one.entry)}
    return bool(kinds & {"drug", "chemical"}) if kinds else not tables().is_word(word)


_QUOTED = re.compile(
    r"(?i)(?:(?:tab|cap|inj|syp|tablets?|capsules?|rx)\b\.?\s+)?(?P<name>[a-z][a-z0-9+/-]{2,40}"
    r"(?: [a-z][a-z0-9+&/-]{1,20}){0,3})(?:[\s,:(]+(?P<dose>\d{1,6}(?:[.,]\d{1,3})?))"
)


def quoted_drug(words: str) -> Medication | None:
    """The drug that somebody quotes as one: whose name is no word of English, or is known."""
    called = _QUOTED.match(words)
    if called is None or not (
        drugs_named(words) or may_be_a_drug(called["name"].split()[0].lower())
    ):
        return None
    dose = dose_of(words[called.start("dose") :])
    number = float(called["dose"].replace(",", "."))
    frequency, route, _ = how_taken(words[called.end() :])
    return Medication(
        name=called["name"],
        dose=dose[0] if dose else number,
        unit=dose[1] if dose else None,
        frequency=frequency,
        route=route,
    )


def _names(words: str) -> set[str]:
    return {one.name for one in drugs_named(words)}
