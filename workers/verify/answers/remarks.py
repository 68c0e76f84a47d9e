"""What stands beside an answer of the question itself: what was not read, not found, or is said
otherwise by a source. Pure.

Words: `remarks` of knowledge/works/trust.yaml. A remark tells; it never takes anything out of an
answer.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Any

from clinical_text.names import forms, names, resolve
from contracts import Retrieval
from contracts.retrieval import Meant, ReadAs
from knowledge.loader import load
from knowledge.subjects.breadth import meets
from knowledge.subjects.drugs import classes_asked_about, classes_at, drugs, names_one
from knowledge.subjects.naming import mentions
from knowledge.subjects.products import products
from knowledge.subjects.tags import KINDS, tags

_QUALIFIES = re.compile(
    r"(?<![a-z])[a-z]++(?:(?<=ed)|(?<=ing)|(?<=ly)|(?<=ic)|(?<=al)|(?<=[ai]ble)|(?<=ous)|(?<=ive))"
)
"""A word with the ending of an adjective, an adverb or a participle."""
_TYPED_INITIALS = re.compile(r"[a-z]{3,5}")


_PARTED = re.compile(r"[\s-]+")


def remark(code: str, **values: Any) -> dict[str, Any]:
    """A remark in the words of `knowledge/works/trust.yaml`, as an answer has it."""
    return {"code": code, "detail": load("works/trust")["remarks"][code].format(**values)}


def offered(meant: Sequence[Meant]) -> list[dict[str, Any]]:
    """What may be meant by each word that nothing held speaks of."""
    return [
        {**remark("misspelt", **vars(one), other=f" ({one.of})" if one.of else ""), **vars(one)}
        for one in meant
    ]


def read_as(words: Sequence[ReadAs]) -> list[dict[str, Any]]:
    """What each misspelt word of medicine was read as."""
    return [{**remark("read_as", **vars(one)), **vars(one)} for one in words]


def searched_without(names: Sequence[str]) -> list[dict[str, Any]]:
    """Which partitions of the index were not searched."""
    told = remark("searched_without", names=", ".join(names))
    return [{**told, "names": list(names)}] if names else []


def names_nothing_else(question: str, retrieval: Retrieval) -> bool:
    """Whether a question names no drug, test, trial or body but by words that are misspelt: what
    answers the rest of it is on another one."""
    words = {one.word.lower() for one in retrieval.meant}
    named = {*drugs(question), *retrieval.names, *retrieval.products}
    return all(one.lower() in words for one in named)


def unnamed(question: str, retrieval: Retrieval, told: Sequence[str]) -> list[str]:
    """The names that a question asks about and no source of its answer has, by any name.

    Args:
        told: of each source its title, publisher and text.
    """
    asked = retrieval.asked.names if retrieval.asked else ()
    asked = tuple(part for one in asked for part in _names_in(one))
    told_of = [one for one in (*retrieval.names, *asked) if one.lower() in question.lower()]
    told_of = [one for one in told_of if one in retrieval.names or _is_particular(one)]
    called = [one for one in retrieval.names if one.lower() in question.lower()]
    told_of = [
        one
        for one in told_of
        if one in called or not any(other.lower() in one.lower() for other in called)
    ]
    misspelt = {one.word.lower() for one in retrieval.meant}
    missing = [one for one in told_of if one.lower() not in misspelt and not _is_told(one, told)]
    return [
        one
        for one in _distinct(missing)
        if not any(
            one.lower() != other.lower() and one.lower() in other.lower() for other in missing
        )
    ]


def unspoken(question: str, retrieval: Retrieval, told: Sequence[str]) -> list[str]:
    """What an answer must be about, and no source of it names: drugs, diseases and the like, and
    classes of drugs of which no source names one."""
    required = retrieval.asked.required if retrieval.asked else ()
    missing = [one for one in required if not _is_told(one, told)]
    classes = classes_asked_about(question)
    if classes and not any(names_one(one, frozenset(), classes) for one in told):
        missing += [
            question[one.start : one.end]
            for one in classes_at(question)
            if one.name in classes and not drugs(question[one.start : one.end])
        ]
    return missing


def has_another(retrieval: Retrieval, missing: Sequence[str]) -> bool:
    """Whether one of the drugs to choose from is told of: the answer is on that one alone."""
    either = retrieval.asked.either if retrieval.asked else ()
    return bool(either) and not set(either) <= set(missing)


def by_tags(name: str, told: Sequence[str]) -> bool:
    """Whether a source is on the disease or the decision that a name is a name of, under another
    one (MRD, residual disease). A drug or a product is none: another one is no answer."""
    kinds = KINDS if not (drugs(name) or products(name)) else KINDS[:1]
    asked = {kind: tags(kind, name) for kind in kinds}
    return any(
        meets(tags(kind, one), named) for kind, named in asked.items() if named for one in told
    )


def _names_in(name: str) -> list[str]:
    """The names that a name which no table has is made of, where words stand between several of
    them: "ctDNA detect recurrence" is two and a verb."""
    found = [] if resolve(name).known else names(name)
    return [name[one.start : one.end] for one in found] if len(found) > 1 else [name]


def _is_particular(name: str) -> bool:
    """Whether a name is of a thing, and no rare word that only says how one is (implicated)."""
    return not _QUALIFIES.fullmatch(name) or resolve(name).known


def _is_told(name: str, told: Iterable[str]) -> bool:
    """Whether a source has a name; one of several words that no table has, by all its words. Short
    ones may be initials without their capitals (dfs)."""
    parts = [name]
    if not resolve(name).known:  # what qualifies a name (guided) is no part of it
        parts = [one for one in _PARTED.split(name) if not _QUALIFIES.fullmatch(one)] or [name]
    each = [
        [forms(one), *([forms(one.upper())] if _TYPED_INITIALS.fullmatch(one) else [])]
        for one in parts
    ]
    return any(
        all(any(form.stand_in(one) for form in part) for part in each) or mentions(one, name)
        for one in told
    )


def _distinct(found: Sequence[str]) -> list[str]:
    """Each once, however it is written."""
    return list({one.lower(): one for one in reversed(found)}.values())[::-1]
