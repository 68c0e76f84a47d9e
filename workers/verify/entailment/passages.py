"""The passages of a longer text that are read for a claim. Pure."""

import re
from collections.abc import Iterator

from clinical_text.sentences.splitting import sentence_spans
from store.core.spans import Span
from store.index.terms import term_set

WINDOW, STEP, MOST = 4, 2, 8  # sentences a window, sentences between two, windows a text
FITS = 1300  # characters that fit the reader's window beside a claim

_LINE = re.compile(r"[^\r\n\v\f\u2028\u2029]+")
_BLANK = "".join(one for one in map(chr, range(0x3001)) if one.isspace()) + "\u200b"
"""All white space, and a space without width."""


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


def parts(claim: str, evidence: str) -> Iterator[tuple[str, str]]:
    """The passages of a text that are read for a claim, and the form of each: `all` of a short one;
    else the `whole` where it fits, the `nearest` sentences, and `window`s of it."""
    said = [span.of(evidence) for span in sentences(evidence)]
    if len(said) <= WINDOW and len(evidence) < FITS:
        yield "all", evidence
        return
    if len(evidence) < FITS:
        yield "whole", evidence
    yield "nearest", nearest(claim, evidence)
    begins = range(0, max(1, len(said) - WINDOW + STEP), STEP)
    windows = [" ".join(said[begin : begin + WINDOW]) for begin in begins]
    asked = term_set(claim)
    for window in sorted(windows, key=lambda words: -len(asked & term_set(words)))[:MOST]:
        yield "window", window


def nearest(claim: str, text: str) -> str:
    """The sentences of a text that share most words with a claim, in their order: what of a passage
    is read that is longer than the reader sees."""
    said, asked = [span.of(text) for span in sentences(text)], term_set(claim)
    near = sorted(range(len(said)), key=lambda place: -len(asked & term_set(said[place])))[:WINDOW]
    return " ".join(said[place] for place in sorted(near))
