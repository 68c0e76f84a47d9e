"""In which language a text is written: rules, readers and judges read English only. Pure.

py3langid tells 97 languages by their letters (BSD), and is as sure of words that are in none. So a
text of which half of the longer words are English ones (`knowledge.names`) is English whatever it
says, and a short text needs a sign of its own: a letter that English has not, or a common word of
another language. Only words in small letters count: names, abbreviations and heads of tables belong
to no language.
"""

import re
import unicodedata
from collections.abc import Sequence
from functools import cache, lru_cache

from py3langid.langid import MODEL_FILE, LanguageIdentifier

from knowledge.names.spelling import fold
from knowledge.names.tables import tables
from knowledge.reading.languages import foreign_words

READ = 4000
"""Characters of a text that are read."""
LEAST_BYTES = 40
"""Of its words, as UTF-8: fewer tell no language."""
SURE, HARDLY_ENGLISH = 0.9, 1e-4
"""Probabilities: of 2,294 English pieces none is of another language so (docs/sources.md)."""
SHORT_BYTES = 400
"""Of its words: fewer may be made up, misread or all names, which tells nothing."""
ENGLISH_SHARE = 0.5
"""Of the words of four letters or more; of 8,200 runs of ten English words three in a hundred have
less, of twenty sentences in ten other languages none has as many."""
_WORD = re.compile(r"[^\W\d_]{2,}")


def other_language(text: str) -> str | None:
    """The language of a text that surely is not in English, as ISO 639-1; None: English, or too few
    words to tell."""
    words = [one for one in _WORD.findall(text[:READ]) if one == one.lower()]
    said = " ".join(words)
    size = len(said.encode(errors="replace"))
    if size < LEAST_BYTES or _is_english(words) or (size < SHORT_BYTES and not _has_sign(said)):
        return None
    told = dict(_identifier().rank(unicodedata.normalize("NFC", said)))
    best = max(told, key=lambda name: told[name])
    is_sure = told[best] >= SURE and told["en"] <= HARDLY_ENGLISH
    return str(best) if is_sure else None


def _is_english(words: Sequence[str]) -> bool:
    """Whether enough of the longer words are; of most texts the first half of them tells."""
    longer = [one for one in words if len(one) > 3]
    missing = ENGLISH_SHARE * len(longer)
    for one in longer:
        missing -= _is_word(one)
        if missing <= 0:
            return True
    return False


@lru_cache(maxsize=8192)
def _is_word(written: str) -> bool:
    known = tables().is_word
    return known(fold(written)) or known(written)


def _has_sign(said: str) -> bool:
    return not said.isascii() or foreign_words(said) > 0


@cache
def _identifier() -> LanguageIdentifier:
    return LanguageIdentifier.from_pickled_model(MODEL_FILE, norm_probs=True)
