"""Which of the names of a question its answer must have: what is held of others is no answer. Pure.

A drug, a condition, a gene or a word that no dictionary has must stand in what answers, by any of
its names. A general name (cancer, diseases, receptor blockers) need not: works name what it takes
in.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache

from clinical_text.identifiers import spans_of_identifiers
from clinical_text.names import Name, names
from knowledge.drugs import asked_about, drugs_at
from knowledge.loader import load
from knowledge.names.spelling import words
from knowledge.names.tables import tables
from workers.retrieve.understanding.asked.reader import Part
from workers.retrieve.understanding.asked.words import is_english, is_ordinary

_CONDITIONS = frozenset({"disease", "tumor"})
_MARKED = frozenset({"gene", "protein", "organism"})
"""Kinds of which only what is written as a name is one: kinase and antibody are words."""
_SEVERITY = re.compile(r"(?i)^(?:mild|moderate|severe)\s")
"""How bad a condition is is no other condition."""
_OR = re.compile(r"(?i)\b(?:or|vs|versus)\b")
_RARE = 5
"""Letters of a word of no dictionary, at least: shorter ones are often cut words (ours)."""
_SHAPED = re.compile(
    r"(?=[^\WA-Z]{0,40}[A-Z][^\WA-Z\d]{0,40}[A-Z\d]|[^\W\d]{0,40}\d[^\WA-Z]{0,40}[A-Z])\w{3,80}"
)
_TYPED = re.compile(r"(?<![\w-])[a-z]{5,40}\d[a-z\d]{0,40}(?![\w-])")
"""A name with its number, typed in lower case as no table knows it: imvigor011."""


def required(question: str, asked: Sequence[Part]) -> tuple[str, ...]:
    """Those of the names that an answer must be about, as written.

    Args:
        asked: the names that the question asks about.
    """
    return tuple(dict.fromkeys(_required(question, asked)))


def either(question: str, names_required: Sequence[str], *, compares: bool) -> tuple[str, ...]:
    """The drugs to choose from, if there are several: what is held of one tells of that one."""
    found = tuple(one for one in names_required if drugs_at(one))
    return found if len(found) > 1 and (compares or _OR.search(question)) else ()


def _required(question: str, asked: Sequence[Part]) -> Iterator[str]:
    numbers, drugs = spans_of_identifiers(question), drugs_at(question)
    asked_for = asked_about(question, else_taken=True)
    taken = [(one.start, one.end) for one in drugs if one.name not in asked_for]
    found = names(question, typed=True)
    for one in found:
        written = question[one.start : one.end]
        if any(start < one.end and one.start < end for start, end in (*numbers, *taken)):
            continue
        if not any(other.start <= one.start and one.end <= other.end for other in asked):
            continue
        if question[one.start - 1 : one.start] == "(" and question[one.end : one.end + 1] == ")":
            continue  # the short form of the name before it
        if one.known:
            compound = (
                question[one.end : one.end + 1] == "-"
            )  # a disease-causing gene is no disease
            if _is_particular(written, one) and not (compound and one.kinds & _CONDITIONS):
                yield _SEVERITY.sub("", written)
        else:
            yield from (part for part in written.split("-") if _is_unknown(part))
    for typed in _TYPED.finditer(question):
        start, end = typed.span()
        if any(one.start < end and start < one.end for one in found):
            continue
        if any(first < end and start < last for first, last in (*numbers, *taken)):
            continue
        is_asked = any(one.start <= start and end <= one.end for one in asked)
        if is_asked and _is_unknown(typed.group()):
            yield typed.group()


def _is_particular(written: str, name: Name) -> bool:
    """Whether a name means one thing: no head alone or in the plural, and no class of drugs."""
    last = written.lower().split()[-1]
    if name.kinds & _CONDITIONS:
        is_head = last in _heads() or last.removesuffix("s") in _heads()
        alone = len(written.split()) == 1
        return not ((is_head and (alone or last.endswith("s"))) or (alone and is_ordinary(last)))
    if "drug" in name.kinds:
        is_class = name.preferred.endswith("s")
        return not (is_class and (last.endswith("s") or is_ordinary(written.lower())))
    return not _MARKED.isdisjoint(name.kinds) and _is_unknown(written)


def _is_unknown(written: str) -> bool:
    if _SHAPED.fullmatch(written):
        return True
    parts = [one.folded for one in words(written)]
    return (
        len(written) >= _RARE
        and not any(map(tables().is_word, parts))
        and not is_english(written.lower())
    )


@cache
def _heads() -> frozenset[str]:
    return frozenset(load("asked")["heads"])
