"""The sentences of a question, and which of them ask. Pure."""

import re
from dataclasses import dataclass
from functools import cache

from clinical_text.doc import doc
from knowledge.loader import load


@dataclass(frozen=True)
class Sentence:
    """A stretch of a text, in code points."""

    start: int
    end: int
    asks: bool

    def holds(self, at: int) -> bool:
        """Whether a position is in it."""
        return self.start <= at < self.end


@cache
def _asking() -> re.Pattern[str]:
    return re.compile(load("questions/questions")["asking"], re.IGNORECASE)


def sentences(text: str) -> tuple[Sentence, ...]:
    """The sentences of `text`, in order."""
    return tuple(
        Sentence(start, end, text[end - 1] == "?" or _asking().match(text, start) is not None)
        for start, end in doc(text).sentences
    )
