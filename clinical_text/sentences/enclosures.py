"""Where a text is enclosed by fake tags, in comments, or in pictures that carry words away. Pure.

Found in one pass: each opening mark looks up the first mark that closes it. Marks and their
sources: knowledge/reading/instructions.yaml.
"""

import re
from bisect import bisect_left
from functools import cache, lru_cache

from knowledge.loader import load

_FARTHEST = 20_000  # code points; a pair of marks further apart than this encloses nothing
_LONGEST_NAME = 40
"""Code points; the longest tag, a name space with twenty letters, has fewer."""
_COMMENT_ENDS = re.compile("-->")


@lru_cache(maxsize=64)  # a document is asked for each of its passages
def enclosed(text: str) -> tuple[tuple[int, int], ...]:
    """The places `[start, end)` between fake tags, in comments that may lack their end, and of
    pictures that carry words away; in order and disjoint."""
    if "<" not in text and "[" not in text:
        return ()
    places: list[tuple[int, int]] = []
    closers: _Closers | None = None
    at = 0
    while opening := _opening().search(text, at):
        start = opening.start()
        closers = closers or _Closers(text)
        end = closers.end_of(opening) or _picture_end(text, start)
        if end:
            places.append((start, end))
        at = max(end, start + 1)
    return tuple(places)


class _Closers:
    """The marks of a text that close something, by what they close."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tags: dict[str, list[tuple[int, int]]] = {}
        for match in _closing_tag().finditer(text):
            self._tags.setdefault(match["tag"].lower(), []).append(match.span())
        self._turns = [match.span() for match in _TURN_ENDS.finditer(text)]
        self._comments = [match.span() for match in _COMMENT_ENDS.finditer(text)]

    def end_of(self, opening: re.Match[str]) -> int:
        """Where what this mark opens is closed, behind the mark that does; 0 if nowhere."""
        kind, end = opening.lastgroup, opening.end()
        if kind == "tagged":
            # Of names that begin alike the shorter counts first: "system" before "system prompt".
            written = opening["name"][: _LONGEST_NAME + 1].lower()
            names = (written[:at] for at in range(1, len(written) + 1) if not _goes_on(written, at))
            ends = (_first(self._tags[name], end) for name in names if name in self._tags)
            return next(filter(None, ends), 0)
        if kind == "turn":
            return _first(self._turns, end)
        if kind == "comment":
            return self._end_of_comment(end)
        return 0

    def _end_of_comment(self, at: int) -> int:
        """Behind the comment's end, else at the end of the line, else as far as a mark may be."""
        if found := _first(self._comments, at):
            return found
        line = self._text.find("\n", at, at + _FARTHEST)
        return line if line >= 0 else min(at + _FARTHEST, len(self._text))


def _first(closing: list[tuple[int, int]], at: int) -> int:
    """Where the first of these ends that begins at `at` or behind it, near enough; 0: none does."""
    index = bisect_left(closing, (at, 0))
    if index == len(closing) or closing[index][0] > at + _FARTHEST:
        return 0
    return closing[index][1]


def _goes_on(written: str, end: int) -> bool:
    """Whether the word that ends here has more letters."""
    near = written[end - 1 : end + 1].replace("_", "a")
    return len(near) == 2 and near.isalnum()


def _picture_end(text: str, start: int) -> int:
    found = _pictures().match(text, start)
    return found.end() if found else 0


@cache
def _opening() -> re.Pattern[str]:
    tags = load("reading/instructions")["tags"]
    tagged = rf"[<\[]\s?(?P<name>{tags}\b[^<>\[\]]{{0,200}})(?P<tagged>[>\]])"
    turn = r"(?P<turn><\|[a-z_ ]{1,30}\|>)"
    pictures = "|".join(_of_pictures())
    return re.compile(f"{tagged}|(?P<comment><!--)|{turn}|(?P<picture>{pictures})", re.I)


@cache
def _closing_tag() -> re.Pattern[str]:
    tags = load("reading/instructions")["tags"]
    return re.compile(rf"[<\[]\s?/\s?(?P<tag>{tags})\s?[>\]]", re.I)


_TURN_ENDS = re.compile(r"<\|[a-z_ ]{0,30}end[a-z_ ]{0,30}\|>", re.I)


@cache
def _pictures() -> re.Pattern[str]:
    return re.compile("|".join(_of_pictures()), re.I)


def _of_pictures() -> list[str]:
    return list(load("reading/instructions")["pictures"])
