"""Clauses of a text: what stands between commas, brackets and words that open a clause.

Words in brackets are a clause of their own; behind them the clause before goes on.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from clinical_text.sentences.tokens import Token

OPENERS = frozenset(
    ["but", "although", "though", "however", "whereas", "while", "which", "because"]
)
"""Words that begin a clause without a comma."""
_GAPS = frozenset(",;:()[]\u2014")


@dataclass(frozen=True, slots=True)
class Placed:
    """A word of a text with the number of its sentence and of its clause, both from 0.

    `depth` counts the brackets around it, `breaks` the clauses begun, and not closed again, before
    it in its sentence.
    """

    token: Token
    sentence: int
    clause: int
    breaks: int
    depth: int


def placed(sentences: Iterable[Sequence[Token]]) -> Iterator[Placed]:
    """The words of each sentence; sentences without a word are not counted."""
    number, clauses = 0, -1
    for tokens in sentences:
        words, clauses = _placed(tokens, number, clauses + 1)
        yield from words
        number += bool(words)


def _placed(tokens: Sequence[Token], sentence: int, first: int) -> tuple[list[Placed], int]:
    clause = clauses = first
    breaks = 0
    outside: list[tuple[int, int, int]] = []
    words: list[Placed] = []
    for token in tokens:
        word = token.word
        if word in ")]" and outside:
            clause, breaks, _ = outside.pop()
        elif word in _GAPS or word in OPENERS:
            if word in "([":
                outside.append((clause, breaks, len(words)))
            clause = clauses = clauses + 1
            breaks += 1
        if token.is_word:
            words.append(Placed(token, sentence, clause, breaks, len(outside)))
    opened = [at for _, _, at in outside]  # what a sentence does not close stands in no bracket
    for at in range(opened[0], len(words)) if opened else ():
        words[at] = replace(words[at], depth=words[at].depth - bisect_right(opened, at))
    return words, clauses
