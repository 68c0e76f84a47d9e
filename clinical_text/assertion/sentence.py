"""A sentence as scopes walk over it: words with what they do, brackets counted, triggers found.

Contractions are parted ("didn't" is "did not"), hyphens inside words left out, and a line end that
ends a statement stands as a sign of its own.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from clinical_text.assertion.lexicon import Triggers, Word, lexicon, longest
from clinical_text.assertion.marks import Assertion
from clinical_text.sentences.tokens import Token

LINE = "\n"
DASH = "\u2014"
BREAKS = frozenset({";", ":", LINE, DASH, ".", "!", "?", "|"})
"""Signs over which no scope goes."""
QUOTES = frozenset('"“”«»')
_HYPHENS = frozenset("-\u2010\u2011\u2013\u2014\u2212")
_PARTED = {"cannot": "can", "can't": "can", "won't": "will", "shan't": "shall", "ain't": "is"}
_SHORT_LINE = 60
"""Characters of a line behind which a line that begins with no small letter is a new one, not
wrapped text (ours)."""


class Trigger(NamedTuple):
    """A trigger found: the units `[first, last)` of a sentence."""

    first: int
    last: int
    group: Triggers

    @property
    def denies(self) -> bool:
        """Whether it is a denial of what stands behind it, and of more than the next word."""
        group = self.group
        return group.means is Assertion.NEGATED and group.side != "after" and group.scope != "next"


class Sentence:
    """The units of one sentence, side by side: words, places, what they do, brackets around."""

    def __init__(self, text: str, tokens: Sequence[Token]) -> None:
        self.words: list[str] = []
        self.starts: list[int] = []
        self.ends: list[int] = []
        self.depths: list[int] = []
        self.joined: set[int] = set()
        """Units that a hyphen joins to the one before."""
        self._read(text, tokens)
        classes = lexicon().word_classes
        self.classes: list[Word] = [classes.get(word, Word.NONE) for word in self.words]
        self.triggers: list[Trigger] = list(self._triggers())
        self.at: dict[int, Trigger] = {one.first: one for one in self.triggers}
        self.behind: dict[int, Trigger] = {one.last: one for one in self.triggers}
        """By the unit right behind it."""
        self.void: set[int] = set()
        """Where denials begin that another denial takes back."""

    def __len__(self) -> int:
        return len(self.words)

    def _read(self, text: str, tokens: Sequence[Token]) -> None:
        depth, end = 0, tokens[0].start if tokens else 0
        joined = False
        for index, (start, stop, word) in enumerate(tokens):
            if start > end and LINE in text[end:start] and _ends_a_statement(text, end, start):
                self._add(LINE, end, end, depth)
            glued, hyphen = start == end and index > 0, joined
            joined = False
            end = stop
            if word in _HYPHENS:
                followed = index + 1 < len(tokens) and tokens[index + 1].start == stop
                if word != DASH and (glued or followed):
                    joined = glued and followed
                    continue
                word = DASH
            if hyphen:
                self.joined.add(len(self.words))
            if word in ")]":
                depth = max(0, depth - 1)
            if word.endswith("n't") or word == "cannot":
                middle = stop - 3
                if middle > start:  # a contraction may stand alone, as in dictations
                    self._add(_PARTED.get(word, word[:-3]), start, middle, depth)
                self._add("not", middle, stop, depth)
            else:
                self._add(word, start, stop, depth)
            if word in "([":
                depth += 1

    def _add(self, word: str, start: int, end: int, depth: int) -> None:
        self.words.append(word)
        self.starts.append(start)
        self.ends.append(end)
        self.depths.append(depth)

    def _triggers(self) -> Iterator[Trigger]:
        root, at = lexicon().trigger_trie, 0
        while at < len(self.words):
            length, group = longest(root, self.words, at) if self.words[at] in root else (0, None)
            if group is not None:
                yield Trigger(at, at + length, group)
            at += max(1, length)

    def is_word(self, at: int) -> bool:
        """Whether a unit is a word or a number."""
        word = self.words[at]
        return word[0].isalnum() or len(word) > 1

    def has(self, at: int, what: Word) -> bool:
        """Whether a unit is there and does any of `what`."""
        return 0 <= at < len(self.words) and bool(self.classes[at] & what)

    def word(self, at: int) -> str:
        """The word of a unit, empty outside the sentence."""
        return self.words[at] if 0 <= at < len(self.words) else ""


def _ends_a_statement(text: str, end: int, start: int) -> bool:
    """Whether the line that ends at `end` is short and the next one begins with no small letter."""
    begin = max(text.rfind(LINE, max(0, end - _SHORT_LINE), end) + 1, end - _SHORT_LINE)
    return end - begin < _SHORT_LINE and not text[start].islower()
