"""Checks queries before openFDA does (WIRE 3): its own character set, then Lucene's syntax.

openFDA answers bad characters with 400 "Search not supported", but bad syntax with 500 "Check your
request and try again", which looks like a failure of the server; so queries are checked here first.
"""

import re

from workers.http.errors import InvalidQuery
from workers.ingest.connectors.base import plain

MAX_QUERY = 2000
"""Characters; our limit, well below the longest URL that servers take."""

_ALLOWED = re.compile(r"[&0-9A-Za-z@%/\\',._:()\"\[\]{}\-+><=* ]")
_PIECE = re.compile(r"\"(?:[^\"\\]|\\.)*+\"|[()\[\]{}]|(?:[^ \"()\[\]{}\\]|\\.)++|.", re.DOTALL)
_PLUS = re.compile(r"\+(?:AND|OR|NOT|TO)\+")
_OPERATORS = frozenset({"AND", "OR"})


def check_search(query: str, longest: int = MAX_QUERY) -> str:
    """The query with single spaces. Raises InvalidQuery, which says what to write instead."""
    spelled = plain("openfda-label", query, longest)
    foreign = sorted(set(_ALLOWED.sub("", spelled)))
    if foreign:
        raise InvalidQuery(
            f"openFDA takes no {' '.join(foreign)} in a query: write plain letters and digits."
        )
    plus = _PLUS.search(spelled)
    if plus:
        raise InvalidQuery(f"The query has {plus[0]}: write spaces, {plus[0].replace('+', ' ')}.")
    _check_pieces(_PIECE.findall(spelled))
    return spelled


def _check_pieces(pieces: list[str]) -> None:
    """Check words, phrases, brackets and operators in order, as Lucene's parser would."""
    before = "("  # the last piece; the beginning counts as (, which an operand must follow
    place = 0
    while place < len(pieces):
        piece = pieces[place]
        place += 1
        if piece == " ":
            continue
        if piece in "[{":
            place = _after_range(pieces, place)
            before = "range"
            continue
        if piece in '"\\]}':
            raise InvalidQuery(f"The query has a {piece} without its other half, or out of place.")
        if piece in _OPERATORS or piece == ")":
            _check_operand(before, piece)
        elif piece != "(" and not piece.startswith('"'):
            _check_word(piece)
        before = piece
    _check_operand(before, "the end")


def _check_operand(before: str, piece: str) -> None:
    """Raise InvalidQuery if no search term precedes an operator, a closing bracket or the end."""
    if before in _OPERATORS or before in ("(", "NOT") or _wants_value(before):
        raise InvalidQuery(f"The query has nothing to look for between {before} and {piece}.")


def _wants_value(word: str) -> bool:
    return word.endswith(":") and not word.startswith('"')


def _check_word(word: str) -> None:
    if "/" in word.replace("\\/", ""):
        raise InvalidQuery(f'The query has a / in {word}: put the words in quotation marks, "a/b".')
    if word.replace("\\:", "").count(":") > 1:
        raise InvalidQuery(f"The query has two fields in {word}: write field:value.")
    if word.startswith(":") or not word.strip("+-&:"):
        raise InvalidQuery(f"The query has a {word} that belongs to no word.")


def _after_range(pieces: list[str], place: int) -> int:
    """The index after a range, `2026 TO 2027]`."""
    words: list[str] = []
    while place < len(pieces):
        piece = pieces[place]
        place += 1
        if piece in ("]", "}"):
            if len(words) == 3 and words[1] == "TO":
                return place
            break
        if piece != " ":
            words.append(piece)
    raise InvalidQuery("The query has a range in another form than [20260101 TO 20261231].")
