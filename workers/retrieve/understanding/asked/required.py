"""Which of the names of a question its answer must have: what is held of others is no answer. Pure.

A drug, a condition, a gene or a word that no dictionary has must stand in what answers, by any of
its names. A general name (cancer, diseases, receptor blockers) need not: works name what it takes
in.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from clinical_text.identifiers import spans_of_identifiers
from clinical_text.names import Name, names, resolve
from knowledge.names.spelling import fold, words
from knowledge.names.tables import tables
from knowledge.subjects.drugs import asked_about, drugs_at
from workers.retrieve.understanding.asked.reader import Part
from workers.retrieve.understanding.asked.words import is_english, is_ordinary

_CONDITIONS = frozenset({"disease", "tumor"})
_NAMED = _CONDITIONS | {"drug"}
"""Kinds of which every word is a name."""
_MARKED = frozenset({"gene", "protein", "organism", "chemical"})
"""Kinds of which only what is written as a name is one: kinase and antibody are words. What
combines several drugs (Entresto) is a chemical."""
_PARTS = re.compile(r"[^-]++(?:-\d++[^\W_]*+)*+")
"""Parts of a name with hyphens; a number belongs to what stands before it: TAK-721."""
_SEVERITY = re.compile(r"(?i)^(?:mild|moderate|severe)\s")
"""How bad a condition is is no other condition."""
_OR = re.compile(r"(?i)\b(?:or|vs|versus)\b")
_RARE = 5
"""Letters of a word of no dictionary, at least: shorter ones are often cut words (ours)."""
_SHAPED = re.compile(
    r"(?=[^\WA-Z]{0,40}[A-Z][^\WA-Z\d]{0,40}[A-Z\d]|[^\W\d]{0,40}\d[^\WA-Z]{0,40}[A-Z])\w{3,80}"
)
_IS, _A = (
    re.compile(r"(?i)\W{0,3}(?:is|are|was|were)\s"),
    re.compile(r"(?i)[)\],]{0,2}\san?\s(?:[\w-]{1,20}\s){0,2}"),
)
"""Is impetigo (school sores) a viral infection? What answers need not call it so."""
_CLOSED = (
    r"(?:an?|the|of|for|in|on|with|to|by|at|from|as|about|after|during|than|that|which|is|are|was"
    r"|were|has|have|had|can|could|may|should|will|do|does|did|used)\b"
)
_CALLED = re.compile(
    r"(?i)\b(?:which|what)\s$|(?<!what\s)(?<!which\s)(?<!who\s)(?<=[\w)]\s)"
    r"(?:is|are|was|were|be|been|considered|as)\san?\s"
    rf"(?:(?!{_CLOSED}|\w+ing\b)[\w-]{{1,20}},?\s){{0,5}}$"
)
_HEAD = re.compile(rf"(?i)\s?(?:[?.,;:)]|$)|\s{_CLOSED}")
"""Which biomarkers are raised? For what is it a biomarker? What ends such a phrase is what the
answer names, or what something is said to be, and names nothing; "which zelotride dose" does."""
_AROUND = 80
"""Characters before a word in which its phrase begins (ours)."""
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
    for before, one in zip((None, *found), found, strict=False):
        written = question[one.start : one.end]
        if _names_nothing(question, before, one):
            continue
        if any(start < one.end and one.start < end for start, end in (*numbers, *taken)):
            continue
        if not any(other.start <= one.start and one.end <= other.end for other in asked):
            continue
        if one.known:
            compound = (
                question[one.end : one.end + 1] == "-"
            )  # a disease-causing gene is no disease
            many = question[one.end : one.end + 3] == "(s)"
            if _is_particular(f"{written}s" if many else written, one) and not (
                compound and one.kinds & _CONDITIONS
            ):
                yield _SEVERITY.sub("", written)
        else:
            yield from (part for part in _PARTS.findall(written) if _is_unknown(part))
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
    """Whether a name means one thing: no class of drugs, no ordinary word, and no plural of an
    ordinary word or of what is a condition by itself ("lung diseases", "bone tumours")."""
    last = written.lower().split()[-1]
    if name.kinds & _CONDITIONS:
        alone = len(written.split()) == 1
        return not (_is_class(last) or (alone and is_ordinary(last)))
    if "drug" in name.kinds:
        is_class = name.preferred.endswith("s")
        return not (is_class and (last.endswith("s") or is_ordinary(written.lower())))
    return not _MARKED.isdisjoint(name.kinds) and _is_unknown(written)


def _is_unknown(written: str) -> bool:
    if _SHAPED.fullmatch(written.replace("-", "")):
        return True
    parts = [one.folded for one in words(written)]
    return (
        len(written) >= _RARE
        and not any(map(tables().is_word, parts))
        and not is_english(written.lower())
    )


def _names_nothing(question: str, before: Name | None, name: Name) -> bool:
    """Whether it is the short form in brackets of the name before it, what that is, or no name."""
    if question[name.start - 1 : name.start] == "(" and question[name.end : name.end + 1] == ")":
        return True
    if before and _IS.match(question) and _A.fullmatch(question, before.end, name.start):
        return True
    return _is_general(question, name)


def _is_general(question: str, name: Name) -> bool:
    """Whether a word that no table has, or has as a chemical or the like, is written as no name is:
    it is a participle or a verb, or it ends a phrase that asks for its kind or says what it is."""
    written = question[name.start : name.end]
    if name.kinds & _NAMED or not written.islower() or " " in written:
        return False
    if written.endswith("ed") or _is_verb(written):
        return True
    called = _CALLED.search(question[max(0, name.start - _AROUND) : name.start])
    return called is not None and _HEAD.match(question, name.end) is not None


def _is_verb(written: str) -> bool:
    """Whether it is the verb of an act that has a word: methylate, methylation."""
    base = written.removesuffix("s")
    return base.endswith("ate") and tables().is_word(fold(f"{base[:-1]}ion"))


@lru_cache(maxsize=1024)
def _is_class(head: str) -> bool:
    """Whether a head is the plural of an ordinary word or of a condition."""
    one = f"{head[:-3]}y" if head.endswith("ies") else head.removesuffix("s")
    is_plural = one != head and is_english(one)
    return is_plural and (is_ordinary(one) or not resolve(one).kinds.isdisjoint(_CONDITIONS))
