"""Several questions in one text, each with what they are on. Pure.

"When will COBRA finish? How many patients?" are two questions on COBRA: searched for as one, a
passage would have to hold the words of both. Where a text also tells of a patient, it stays whole.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache

from knowledge.feeds.sources import source_policies
from knowledge.loader import load
from knowledge.subjects.drugs import drugs_at
from knowledge.subjects.products import has_products
from knowledge.subjects.tags import mentions
from workers.retrieve.understanding.sentences import sentences


def parts(question: str, names: Sequence[str]) -> list[str]:
    """The questions of a short text, in order; the text itself where it is not just several.

    Args:
        names: the trials, bodies and numbers that it names, as written in it.
    """
    found = sentences(question)
    if not all(one.asks for one in found):
        return [question]
    asked = [part for one in found for part in _joined(question[one.start : one.end])]
    if not 1 < len(asked) <= load("questions/questions")["most_parts"]:
        return [question]
    told, subject = asked[:1], list(_subject(asked[0], names))
    if not subject:  # nothing tells what the others are on
        return [question]
    for part in asked[1:]:
        own = list(_subject(part, names))
        told.append(part if own else f"{part} ({', '.join(subject)})")
        subject = own or subject
    return told


def _joined(sentence: str) -> list[str]:
    """The questions that "and" joins."""
    return [one for one in map(str.strip, _join().split(sentence)) if one]


def _subject(part: str, names: Sequence[str]) -> Iterator[str]:
    """What a part is on, in its words: trials, drugs, tests, diseases. A body that recommends is
    asked, it is not what is asked about."""
    for name in names:
        if name.lower() not in source_policies() and name in part.replace(" ", "-"):
            yield name
    found = [*drugs_at(part), *mentions("diseases", part, typed=True)]
    found += [one for one in mentions("decisions", part, typed=True) if has_products(one.name)]
    yield from dict.fromkeys(part[one.start : one.end] for one in found)


@cache
def _join() -> re.Pattern[str]:
    return re.compile(load("questions/questions")["joins"], re.IGNORECASE)
