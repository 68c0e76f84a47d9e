"""What a question may mean by words that nothing held speaks of (`knowledge.subjects.misspelt`)."""

import re
from collections.abc import Collection, Sequence
from typing import Any

from sqlmodel import Session

from knowledge.subjects.misspelt import Meant, meant
from store.index.partitions import at_each
from store.index.terms import term_set
from store.index.wire import Reader, ask

_LETTERS = re.compile(r"[^\W\d_]+")


def offers(session: Session, question: str) -> list[dict[str, Any]]:
    """What may be meant by words of `question` that stand in no chunk, as a retrieval has it."""
    return [_as_body(one) for one in not_held(session, meant(question), unsearched=False)]


def not_held(
    session: Session, found: Sequence[Meant], *, unsearched: bool = True
) -> tuple[Meant, ...]:
    """Those of `found` whose words stand in no chunk: what is held is no misspelling.

    Args:
        unsearched: whether those are among them for which the index has the terms of what they
            mean, or none.
    """
    terms = {one: term_set(_letters(one.word)) for one in found}
    same = {one for one, own in terms.items() if not own or own == term_set(_letters(one.name))}
    held = _held(session, frozenset[int]().union(*(terms[one] for one in terms.keys() - same)))
    return tuple(
        one for one, own in terms.items() if (unsearched if one in same else held.isdisjoint(own))
    )


def _held(session: Session, terms: Collection[int]) -> set[int]:
    """Those of these terms that stand in some chunk, here or in a partition of the index."""
    if not terms:
        return set()
    wanted = sorted(terms)

    def here(server: Reader) -> set[int]:
        return {term for (term,) in ask(server, _HELD, {"terms": wanted}).fetchall()}

    return here(session).union(*at_each(session, lambda _, its: here(its)).values())


_HELD = "SELECT DISTINCT term FROM lex_posting WHERE term = ANY(CAST(%(terms)s AS int[]))"


def _letters(word: str) -> str:
    """The word without the number of a trial: of IMvigor011 what may be misspelt."""
    found = _LETTERS.match(word)
    return found.group() if found else word


def _as_body(one: Meant) -> dict[str, Any]:
    return {"word": one.word, "name": one.name, "of": one.of}
