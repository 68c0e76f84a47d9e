"""Whether a candidate is on other diseases, drugs or tests than those asked about. Pure.

What a sentence does not name it has from its heading, else from its title.
"""

import re
from collections.abc import Collection
from functools import lru_cache

from knowledge.loader import load
from knowledge.subjects.breadth import accepted, meets
from knowledge.subjects.products import are_on_others, first_named, named, speak_to
from knowledge.subjects.products import products as named_in
from knowledge.subjects.tags import tags
from workers.generate.candidates import Candidate

_WORD = re.compile(r"\w+")


def is_on_others(
    candidate: Candidate, diseases: Collection[str], products: Collection[str]
) -> bool:
    """Whether a sentence is on other diseases, drugs or tests than those asked about.

    What a sentence does not name it has from its heading, else from its title.
    """
    if _named_in_short(candidate, products):
        return _is_on_other_diseases(candidate, diseases)
    if not products:
        return _is_on_other_diseases(candidate, diseases)
    if are_on_others(candidate.text, products, candidate.title):
        return True
    if not named(candidate.text, products):
        if _is_work_on_another(candidate, products) or are_on_others(candidate.section, products):
            return True
        if not named(candidate.section, products) and are_on_others(candidate.title, products):
            return not speak_to(candidate.text, products)
    return _is_on_other_diseases(candidate, diseases)


def _named_in_short(candidate: Candidate, products: Collection[str]) -> bool:
    """Whether a line calls a product that its title names by the last of its words: Reveal."""
    text = candidate.text
    return any(
        short in text and short in _WORD.findall(text) and named(candidate.title, (one,))
        for short, one in _in_short(frozenset(products))
    )


@lru_cache(maxsize=256)
def _in_short(products: frozenset[str]) -> tuple[tuple[str, str], ...]:
    return tuple((short, one) for one in products for short in one.split()[1:][-1:])


def _is_work_on_another(candidate: Candidate, products: Collection[str]) -> bool:
    """Whether a work whose title names none of the products begins with another one: that is what
    it is on, and the one asked about only what it is compared with."""
    if not products or named_in(candidate.title):
        return False
    first = first_named(candidate.whole)
    return first is not None and are_on_others(first, products)


def _is_on_other_diseases(candidate: Candidate, asked: Collection[str]) -> bool:
    """Whether a sentence, else its heading, names diseases and none of those asked about.

    In a work on one asked about, other diseases are outcomes or comorbidities, and belong to what
    it says; unless its title names them beside: then the sentence is on the other half of it. Where
    a study is asked for and no disease, those of its title are asked about.
    """
    if not asked:
        is_study = candidate.source_type in load("questions/answers")["study_sources"]
        own = tags("diseases", candidate.title) if is_study and candidate.asked_for else ()
        told = tags("diseases", candidate.text) if own else ()
        return bool(told) and not meets(told, own)
    said = set(tags("diseases", candidate.text) or tags("diseases", candidate.section))
    if not said or meets(said, asked):
        return False
    focus = set(tags("diseases", candidate.title))
    # A general title takes in the one as it does the other.
    return said <= focus or not meets(focus, asked) or accepted(focus) >= said | set(asked)


def is_on_one_of_several(candidate: Candidate, asked: Collection[str]) -> bool:
    """Whether a sentence of a document on others as well, or alone, does not name what is asked
    about, nor does its heading: what a payer covers for one disease it does not for the next."""
    focus = tags("diseases", candidate.title) if asked else ()
    if all(meets({one}, asked) for one in focus):
        return False
    return not meets(tags("diseases", f"{candidate.section}\n{candidate.text}"), asked)
