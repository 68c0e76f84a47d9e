"""In which language a text is written: rules, readers and judges read English only. Pure.

py3langid tells 97 languages by their letters (BSD). Only words in small letters count: names,
abbreviations and heads of tables belong to no language.
"""

import re
import unicodedata
from functools import cache

from py3langid.langid import MODEL_FILE, LanguageIdentifier

READ = 4000
"""Characters of a text that are read."""
LEAST_BYTES = 40
"""Of its words, as UTF-8: fewer tell no language."""
SURE, HARDLY_ENGLISH = 0.9, 1e-4
"""Probabilities: of 2,294 English pieces none is of another language so (docs/sources.md)."""
_WORD = re.compile(r"[^\W\d_]{2,}")


def other_language(text: str) -> str | None:
    """The language of a text that surely is not in English, as ISO 639-1; None: English, or too few
    words to tell."""
    words = " ".join(one for one in _WORD.findall(text[:READ]) if one == one.lower())
    if len(words.encode(errors="replace")) < LEAST_BYTES:
        return None
    told = dict(_identifier().rank(unicodedata.normalize("NFC", words)))
    best = max(told, key=lambda name: told[name])
    is_sure = told[best] >= SURE and told["en"] <= HARDLY_ENGLISH
    return str(best) if is_sure else None


@cache
def _identifier() -> LanguageIdentifier:
    return LanguageIdentifier.from_pickled_model(MODEL_FILE, norm_probs=True)
