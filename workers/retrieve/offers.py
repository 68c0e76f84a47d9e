"""What a question may mean by words that nothing held speaks of (`knowledge.subjects.misspelt`)."""

import re
from typing import Any

from sqlmodel import Session

from knowledge.subjects.misspelt import Meant, meant
from store.index.partitions import at_each
from store.index.terms import term_set
from store.index.wire import ask

_LETTERS = re.compile(r"[^\W\d_]+")


def offers(session: Session, question: str) -> list[dict[str, Any]]:
    """What may be meant by words of `question` that stand in no chunk, as a retrieval has it."""
    found = {one: term_set(_letters(one.word)) for one in meant(question)}
    found = {one: own for one, own in found.items() if own and own != term_set(_letters(one.name))}
    if not found:
        return []
    wanted = sorted(frozenset[int]().union(*found.values()))

    def here(server: Session) -> set[int]:
        return {term for (term,) in ask(server, _HELD, {"terms": wanted}).fetchall()}

    held = here(session).union(*at_each(session, lambda _, its: here(its)).values())
    return [_as_body(one) for one, own in found.items() if held.isdisjoint(own)]


_HELD = "SELECT DISTINCT term FROM lex_posting WHERE term = ANY(CAST(%(terms)s AS int[]))"


def _letters(word: str) -> str:
    """The word without the number of a trial: of IMvigor011 what may be misspelt."""
    found = _LETTERS.match(word)
    return found.group() if found else word


def _as_body(one: Meant) -> dict[str, Any]:
    return {"word": one.word, "name": one.name, "of": one.of}
