"""A drug is searched for by all its names: works call it by its brand or by its generic one. Pure.

What a question names counts once, by whatever name it is found: were its other names more words of
the question, a label with all of them would outdo the trials of the drug.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from knowledge.subjects.drugs import drugs_at
from store.index.bm25 import NOWHERE, Postings, Scorer
from store.index.terms import term_set

Listed = tuple[NDArray[np.uint16], NDArray[np.uint8]]
"""The ordinals of the chunks that a term is in, ascending, and how often it is in each."""


def one_by_all_names(scorer: Scorer | None, alike: Mapping[int, frozenset[int]]) -> Scorer | None:
    """The scorer, in which terms for which others are as good are found in the chunks of all these.

    Each weighs as much as the commonest of its names, and occurs as often as they do together.

    Args:
        alike: see `store.documents.content.alike`; the scorer knows all these terms.
    """
    if scorer is None or not alike:
        return scorer
    forms = {term: [term, *others] for term, others in alike.items()}
    names = frozenset[int]().union(*alike.values()) - alike.keys()
    idfs = {term: idf for term, idf in scorer.idfs.items() if term not in names}
    for term, same in forms.items():
        told = [scorer.idfs[one] for one in same if one in scorer.idfs]
        if told:
            idfs[term] = min(told)
    segments = [
        (segment, {**postings, **{term: _together(postings, forms[term]) for term in forms}})
        for segment, postings in scorer.segments
    ]
    return replace(scorer, segments=segments, idfs=idfs)


def _together(postings: Postings, terms: Iterable[int]) -> Listed:
    found = [postings[term] for term in terms if len(postings[term][0])]
    if len(found) < 2:
        return found[0] if found else NOWHERE
    ordinals, places = np.unique(np.concatenate([one for one, _ in found]), return_inverse=True)
    counts = np.bincount(places, np.concatenate([count for _, count in found]))
    return ordinals, np.minimum(counts, 255).astype(np.uint8)


def with_generic_names(question: str) -> str:
    """The question with the generic name behind each brand: an encoder knows hardly any brand."""
    told, last = [], 0
    own = term_set(question)
    for one in drugs_at(question):
        if not term_set(one.name) <= own:
            told.append(f"{question[last : one.end]} ({one.name})")
            last = one.end
    return "".join([*told, question[last:]])
