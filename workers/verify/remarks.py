"""What stands beside an answer of the question itself: what was not read, not found, or is said
otherwise by a source. Pure.

Words: `remarks` of knowledge/trust.yaml. A remark tells; it never takes anything out of an answer.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Any

from contracts import Retrieval
from contracts.retrieval import Meant, Pico, ReadAs
from knowledge.drugs import (
    asked_about,
    classes_asked_about,
    classes_at,
    drugs,
    drugs_at,
    names_one,
)
from knowledge.loader import load
from knowledge.naming import known_trials, mentions, tests_named


def remark(code: str, **values: Any) -> dict[str, Any]:
    """A remark in the words of `knowledge/trust.yaml`, as an answer has it."""
    return {"code": code, "detail": load("trust")["remarks"][code].format(**values)}


def offered(meant: Sequence[Meant]) -> list[dict[str, Any]]:
    """What may be meant by each word that nothing held speaks of."""
    return [
        {**remark("misspelt", **vars(one), other=f" ({one.of})" if one.of else ""), **vars(one)}
        for one in meant
    ]


def read_as(words: Sequence[ReadAs]) -> list[dict[str, Any]]:
    """What each misspelt word of medicine was read as."""
    return [{**remark("read_as", **vars(one)), **vars(one)} for one in words]


def names_nothing_else(question: str, retrieval: Retrieval) -> bool:
    """Whether a question names no drug, test, trial or body but by words that are misspelt: what
    answers the rest of it is on another one."""
    words = {one.word.lower() for one in retrieval.meant}
    named = {*drugs(question), *retrieval.names, *retrieval.products}
    return all(one.lower() in words for one in named)


def unnamed(question: str, retrieval: Retrieval, shown: Iterable[str]) -> list[str]:
    """The drugs, tests, trials and sides of a comparison that a question names and no line of its
    answer, nor the title of a source, does.

    Args:
        shown: lines, headings, titles and publishers.
    """
    words = "\n".join(shown)
    found = [one for one in retrieval.names if not _stands_in(one, words)]
    found += [
        question[one.start : one.end]
        for one in drugs_at(question)
        if not names_one(words, frozenset({one.name}), or_class=False)
    ]
    classes = classes_asked_about(question)
    if classes and not names_one(words, frozenset(), classes):
        found += [question[one.start : one.end] for one in classes_at(question)]
    if retrieval.query_type == "comparison":
        found += [one for one in _sides(retrieval.pico) if not _stands_in(one, words)]
    return _distinct(found)


def unspoken(question: str, retrieval: Retrieval, missing: Sequence[str]) -> list[str]:
    """The drugs and tests that a question asks about, else the trials that are known, where all of
    them are among the `missing`: whatever its answer tells is of others."""
    asked, told = asked_about(question, else_taken=True), {one.lower() for one in missing}
    classes = classes_asked_about(question)
    named = [one for one in drugs_at(question) if one.name in asked]
    named += [one for one in classes_at(question) if one.name in classes]
    found = [question[one.start : one.end] for one in named] or [
        *tests_named(question),
        *(one for one in retrieval.names if one.lower() in known_trials()),
    ]
    return _distinct(found) if all(one.lower() in told for one in found) else []


def _stands_in(name: str, words: str) -> bool:
    return (
        mentions(words, name)
        or re.search(rf"(?<!\w){re.escape(name)}(?!\w)", words, re.IGNORECASE) is not None
    )


_CAPITAL = re.compile(r"(?<![\w-])[A-Z][\w-]+")


def _sides(pico: Pico) -> list[str]:
    """The proper names among what is compared: "Haystack" of "Haystack sensitivity"."""
    sides = (pico.intervention, pico.comparison)
    return [name for side in sides if side for name in _CAPITAL.findall(side)]


def _distinct(found: Sequence[str]) -> list[str]:
    """Each once, however it is written."""
    return list({one.lower(): one for one in reversed(found)}.values())[::-1]
