"""A passage as lines and sentences, and words as stems. Pure."""

import re
from functools import lru_cache

import Stemmer

from clinical_text.sentences import sentence_spans
from store.core.spans import Span

_LINE = re.compile(r"[^\r\n\v\f\u2028\u2029]+")
_BLANK = "".join(one for one in map(chr, range(0x3001)) if one.isspace()) + "\u200b"
"""All white space, and a space without width."""
_WORD = re.compile(r"[^\W_]+(?:[-'’./][^\W_]+)*")
_PART = re.compile(r"[^\W_]+")
_LONGEST_WORD = 60  # letters; longer runs are no words and cost the stemmer time
_stemmer = Stemmer.Stemmer("english")


def sentences(text: str) -> list[Span]:
    """The sentences of `text`: rules of the reading package within each line, no line crossed.

    Records and lists have one statement a line and often no full stop.
    """
    found = []
    for line in _LINE.finditer(text):
        start = line.start() + len(line.group()) - len(line.group().lstrip())
        end = line.start() + len(line.group().rstrip(_BLANK))
        if start < end:
            spans = sentence_spans(text, start, end, label_from=start)
            found += [Span(begin, end) for begin, end in spans]
    return found


@lru_cache(maxsize=1 << 16)
def stem(word: str) -> str:
    """The Snowball stem of one lower-case word."""
    return str(_stemmer.stemWord(word[:_LONGEST_WORD]))


def words(text: str) -> list[str]:
    """The words of `text` as printed, in order; compounds stay whole."""
    return _WORD.findall(text)


def stems(text: str) -> list[str]:
    """The stems of the words of `text` in order; compounds are taken apart."""
    return [stem(part) for part in _PART.findall(text.lower())]
